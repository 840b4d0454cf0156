package reports

import (
	"io"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// NewReport returns a builder of the report of m's run, which also names its plots.
func NewReport(m manifest.Manifest) *Builder {
	b := NewBuilder(m)
	b.SetFigures(figuresOf)
	return b
}

// Build is the report of rows held in memory, whose three tables are in the
// ledger's order.
func Build(m manifest.Manifest, rows ledger.Rows) Report {
	b := NewReport(m)
	b.AddAll(rows)
	return b.Report()
}

// HTML writes the report as one self-contained page; see html.Page.
func HTML(w io.Writer, r Report) error { return Page(w, r, inlineSVG) }
