package reports

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/reports/html"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/plot"
	"github.com/cupel-eval/cupel/reports/text"
)

// Write writes dir/report: index.html with a page for each task below tasks/,
// report.md, junit.xml, report.json and every figure as plots/*.svg.
// details, if not nil, says what was said in an episode; see DetailOf. Each file
// replaces its predecessor atomically, so that a reader never sees half of one,
// and pages of tasks that no longer exist are removed; the same report gives the same
// bytes.
func Write(dir string, r model.Report, details html.DetailOf) error {
	root := filepath.Join(dir, "report")
	drawn, err := plot.DrawAll(r)
	if err != nil {
		return err
	}
	if err := html.WritePages(root, r, drawn.Inline, details); err != nil {
		return err
	}
	for _, out := range []struct {
		name   string
		render func(io.Writer, model.Report) error
	}{{"report.md", text.Markdown}, {"junit.xml", text.JUnit}, {"report.json", text.JSON}} {
		path := filepath.Join(root, out.name)
		if err := atomicfile.Render(path, func(w io.Writer) error { return out.render(w, r) }); err != nil {
			return fmt.Errorf("reports: write %s: %w", path, err)
		}
	}
	return drawn.Write(filepath.Join(root, "plots"))
}

// WritePNGs adds every figure as dir/report/plots/*.png to what Write wrote.
func WritePNGs(dir string, r model.Report) error {
	return plot.WritePNGs(filepath.Join(dir, "report", "plots"), r)
}
