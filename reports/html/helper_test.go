package html

import (
	"io"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/plot"
)

// build returns the report of rows in memory, with its plots.
func build(m manifest.Manifest, rows ledger.Rows) model.Report {
	b := newBuilder(m)
	b.AddAll(rows)
	return b.Report()
}

func newBuilder(m manifest.Manifest) *model.Builder {
	return model.NewBuilder(m, plot.Figures)
}

func page(w io.Writer, r model.Report) error { return Page(w, r, plot.Inline) }
