// Package reports turns a run into a verdict people can act on: package model computes a
// report, package view decides what each section says, and packages html, text and plot
// write it as pages, Markdown, JUnit, JSON, annotations, a terminal table and plots. This
// package joins them.
//
// Renderers take a writer and a report, are safe to call concurrently on one report, and
// write the same bytes for the same report. Text that came from a model, a tool or a file
// name is escaped, bounded and stripped of the power to reorder a line.
package reports

import (
	"io"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/html"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/plot"
)

// NewBuilder returns a builder of the report of m's run, which also names its plots.
func NewBuilder(m manifest.Manifest) *model.Builder {
	return model.NewBuilder(m, plot.Figures)
}

// Build is the report of rows held in memory, whose three tables are in the
// ledger's order.
func Build(m manifest.Manifest, rows ledger.Rows) model.Report {
	b := NewBuilder(m)
	b.AddAll(rows)
	return b.Report()
}

// HTML writes the report as one self-contained page; see html.Page.
func HTML(w io.Writer, r model.Report) error { return html.Page(w, r, plot.Inline) }
