package imports

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/otlp"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/pause"
	"github.com/cupel-eval/cupel/reports/model"
)

// headersVariable has the headers of requests to a collector, which may be credentials.
const headersVariable = "OTEL_EXPORTER_OTLP_HEADERS"

// exportTimeout bounds one request to a collector.
const exportTimeout = 30 * time.Second

// Export writes the run in dir, whose verdicts are r's, as traces to a file or a collector, and
// says so on w. It changes nothing in the run folder.
func Export(ctx context.Context, w io.Writer, dir, target string, r model.Report, env func(string) (string, bool)) error {
	if strings.Contains(target, "://") {
		headers, _ := env(headersVariable)
		to, err := otlp.NewCollector(target, headers, &http.Client{Timeout: exportTimeout}, pause.For)
		if err != nil {
			return exit.Usage(err)
		}
		return export(ctx, w, dir, target, r, to)
	}
	if ext := filepath.Ext(target); ext != ".json" && ext != ".jsonl" {
		return exit.Usage(fmt.Errorf("--otlp %.200q: must be an http or https URL, or a file that ends in .jsonl or .json", target))
	}
	return atomicfile.Write(target, func(file io.Writer) error {
		return export(ctx, w, dir, target, r, otlp.Lines{To: file})
	})
}

func export(ctx context.Context, w io.Writer, dir, target string, r model.Report, to otlp.Sink) error {
	m, episodes, err := harness.ReadRun(dir)
	if err != nil {
		return err
	}
	e := otlp.NewExporter(m, to)
	for rows, err := range episodes {
		if err == nil {
			err = e.Add(ctx, rows)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range r.Candidates {
		e.Verdict(c.Name, string(c.Verdict), c.Sentence)
	}
	if err := e.Close(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "otlp    %s and %s to %s\n", console.Count(e.Spans, "span"), console.Count(e.Records, "log record"), console.Line(target))
	return err
}
