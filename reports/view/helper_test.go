package view

import (
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/model"
)

// build returns the report of rows in memory.
func build(m manifest.Manifest, rows ledger.Rows) model.Report {
	b := model.NewBuilder(m, nil)
	b.AddAll(rows)
	return b.Report()
}
