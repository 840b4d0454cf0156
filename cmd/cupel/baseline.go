package main

import (
	"fmt"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
)

// gateAgainst prints the verdict of a run by its criteria, and its comparison with a
// baseline. Its exit code is the worst of both.
func (p *process) gateAgainst(r reports.Report, c compare.Comparison) error {
	worst := stat.Worst([]stat.Verdict{r.Verdict, c.Verdict})
	out := p.prose(p.stdout)
	note := ""
	if r.Run.Acceptance.MinSolved == ledger.Off {
		note = " (" + reports.SuccessNotJudged + ")"
	}
	if _, err := fmt.Fprintf(out, "%s: acceptance %s%s, regression %s\n\nacceptance: ", gateWord(worst), r.Verdict, note, c.Verdict); err != nil {
		return err
	}
	if err := reports.Summary(out, r, p.width()); err != nil {
		return err
	}
	if _, err := fmt.Fprint(out, "\nregression: "); err != nil {
		return err
	}
	if err := reports.CompareSummary(out, c, p.width()); err != nil {
		return err
	}
	if p.onActions() {
		if err := reports.GateAnnotations(p.stdout, r, c); err != nil {
			return err
		}
	}
	return gateOutcome(worst)
}

func gateWord(v stat.Verdict) string {
	switch v {
	case stat.Pass:
		return "Accepted"
	case stat.Fail:
		return "Rejected"
	}
	return "Inconclusive"
}
