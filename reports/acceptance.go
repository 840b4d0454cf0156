package reports

import "github.com/cupel-eval/cupel/harness/ledger"

func resolved(a ledger.Acceptance) ledger.Acceptance {
	def := func(v *float64, d float64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&a.MinValid, .95)
	def(&a.MaxClarifies, 1)
	def(&a.MaxSteps, 5)
	def(&a.MinWithin, .95)
	def(&a.Confidence, .95)
	if a.Rule == "" {
		a.Rule = "bound"
	}
	return a
}
