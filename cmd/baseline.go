package cmd

import (
	"fmt"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
)

// gateAgainst prints the verdict of a run by its criteria, and its comparison with a
// baseline. Its exit code is that of the worse verdict.
func (p *process) gateAgainst(r reports.Report, c compare.Comparison) error {
	worst := stat.Worst([]stat.Verdict{r.Verdict, c.Rules.Gate(c.Verdict)})
	note := ""
	if r.Run.Acceptance.MinSolved == manifest.Off {
		note = " (" + reports.SuccessNotJudged + ")"
	}
	if _, err := fmt.Fprintf(p.stdout, "%s: acceptance %s%s, %s\n\nacceptance: ", gateWord(worst), r.Verdict, note, regressionWord(c)); err != nil {
		return err
	}
	if err := reports.Summary(p.stdout, r, console.Width(p.stdout)); err != nil {
		return err
	}
	if _, err := fmt.Fprint(p.stdout, "\nregression: "); err != nil {
		return err
	}
	if err := reports.CompareSummary(p.stdout, c, console.Width(p.stdout)); err != nil {
		return err
	}
	if p.onActions() {
		if err := reports.GateAnnotations(p.commands, r, c); err != nil {
			return err
		}
	}
	return gateOutcome(worst)
}

// regressionWord is the verdict of a comparison in the first line of a gate.
func regressionWord(c compare.Comparison) string {
	switch {
	case c.Verdict != stat.NoRegression:
		return "regression " + string(c.Verdict)
	case c.Rules.Gate(c.Verdict) == stat.Inconclusive:
		return "no significant regression (not accepted: on_unclear is fail)"
	}
	return "no significant regression"
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
