package model

import (
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// build returns the report of rows that are in memory.
func build(m manifest.Manifest, rows ledger.Rows) Report {
	b := NewBuilder(m, nil)
	b.AddAll(rows)
	return b.Report()
}
