package model

import (
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/words"
)

// addOutcomes adds up how the episodes of all candidates ended.
func (r *Report) addOutcomes() {
	o := &r.Outcomes
	for _, c := range r.Candidates {
		o.Solved += c.Success.K
		o.Failed += c.Success.N - c.Success.K
		if a := c.Attacks; a != nil {
			o.Solved += a.UnderAttack.K
			o.Failed += a.UnderAttack.N - a.UnderAttack.K
		}
		o.InfraErrors += c.InfraErrors
		o.HarnessErrors += c.HarnessErrors
		o.BudgetStops += c.BudgetStops
		o.Unfinished += c.Interrupted + c.Unfinished
		o.NotScored += c.NotScored
	}
}

// WithoutResult names the kinds of episodes that have none, the empty ones left
// out: "2 infrastructure errors, 1 unfinished".
func WithoutResult(o manifest.Outcomes) string {
	var parts []string
	for _, k := range []struct {
		n    int
		noun string
	}{{o.InfraErrors, ledger.LostToInfra}, {o.HarnessErrors, ledger.LostToHarness}, {o.BudgetStops, ledger.LostToCap}} {
		if k.n > 0 {
			parts = append(parts, words.Plural(k.n, k.noun))
		}
	}
	if o.Unfinished > 0 {
		parts = append(parts, words.Thousands(int64(o.Unfinished))+" unfinished")
	}
	if o.NotScored > 0 {
		parts = append(parts, words.Thousands(int64(o.NotScored))+" "+manifest.NotScored)
	}
	return strings.Join(parts, ", ")
}

// planned is how many episodes the outcomes add up to.
func planned(o manifest.Outcomes) int { return o.Solved + o.Failed + o.WithoutResult() }

// lostOutcomes are the outcomes that a verdict tolerates some of; cutOutcomes
// those that leave it open.
func lostOutcomes(o manifest.Outcomes) manifest.Outcomes {
	return manifest.Outcomes{InfraErrors: o.InfraErrors, HarnessErrors: o.HarnessErrors}
}

func cutOutcomes(o manifest.Outcomes) manifest.Outcomes {
	return manifest.Outcomes{BudgetStops: o.BudgetStops, Unfinished: o.Unfinished, NotScored: o.NotScored}
}

// cutShort says how a run ended before its plan did; empty when it did not.
func cutShort(m manifest.Manifest) string {
	m.Outcomes.NotScored = 0 // which is not an end before the plan's
	switch o := cutOutcomes(m.Outcomes); {
	case m.Stopped != "":
		return m.Stopped
	case o.WithoutResult() > 0:
		return WithoutResult(o)
	case m.Status == "running" || m.Status == "failed":
		return "its status is " + m.Status
	}
	return ""
}
