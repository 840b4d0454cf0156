package plot

import (
	"io"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/model"
)

// build returns the report of rows in memory, with its plots.
func build(m manifest.Manifest, rows ledger.Rows) model.Report {
	b := newBuilder(m)
	b.AddAll(rows)
	return b.Report()
}

func newBuilder(m manifest.Manifest) *model.Builder {
	return model.NewBuilder(m, Figures)
}

// writeAll writes the files of a report.
func writeAll(dir string, r model.Report) error {
	d, err := DrawAll(r)
	if err != nil {
		return err
	}
	return d.Write(dir)
}

// writeSVG writes the file of a figure.
func writeSVG(w io.Writer, r model.Report, f model.Figure) error {
	d, err := drawSVG(r, f)
	if err != nil {
		return err
	}
	return d.write(w)
}
