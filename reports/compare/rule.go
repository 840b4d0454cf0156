package compare

import (
	"fmt"

	"github.com/cupel-eval/cupel/reports/stat"
)

// rule asks whether a loss of the margin can be ruled out, at one-sided level α:
// every gating metric must, so that together they need no adjustment (an
// intersection-union test: R. L. Berger, "Multiparameter Hypothesis Testing and
// Acceptance Sampling", Technometrics 24 (1982) 295–300).
//
// The bound is stat.LowerBound, since t knows nothing of the rare task that breaks.
// What a task that was not seen could do at worst is to go from always to never;
// where nothing bounds a metric, to grow by as much as the largest task has.
//
// If both sides replay the same recordings, there is no new sample: if nothing
// differs either, nothing is lost.
func (m *measured) rule(alpha float64, replay bool) {
	list, least, target := m.claim()
	if m.growth > 0 {
		m.Margin = new(m.growth * m.change.baseline)
	} else {
		m.Margin = new(m.drop)
	}
	if m.replay = replay && m.differ == 0; m.replay {
		m.notWorse = true
		m.Test = "none: the same recordings on both sides, and nothing differs"
		return
	}
	if m.growth > 0 && *m.Baseline == 0 && *m.New == 0 {
		m.notWorse = true // free, on both sides
		return
	}
	bound, ok := stat.LowerBound(list, least, 1, alpha)
	if !ok {
		return
	}
	m.notWorse = bound > target
	if m.growth == 0 {
		m.RuledOut = new(max(0, -bound))
	}
	m.Test += "; margin by Gaffke's bound"
}

// claim is what has to lie above target for a loss of the margin to be ruled out:
// the contributions of tasks, and the least of one not seen. A margin that is a
// share of the baseline is judged as (1 + margin)·baseline − new, so that the
// baseline's own spread counts.
func (m *measured) claim() (list []stat.Cluster, least, target float64) {
	if m.growth == 0 {
		list, least = m.change.clusters(m.good(), 1)
		return list, least, -m.drop
	}
	grown, _ := difference(m.tasks, m.sides, 1+m.growth)
	largest := 0.0
	for _, s := range m.sides {
		largest = max(largest, s.baseline.Num/s.baseline.Den, s.new.Num/s.new.Den)
	}
	list, least = grown.clusters(m.good(), largest)
	return list, least, 0
}

// decide allows for all gating metrics of all pairs by Holm, which keeps the chance of
// any false alarm at α, and decides.
func decide(all []comparing, alpha float64) error {
	if err := adjust(gather(all, func(p *comparing) []measured { return p.gating }), stat.Holm); err != nil {
		return err
	}
	for i := range all {
		for k := range all[i].gating {
			all[i].gating[k].decide(alpha)
		}
	}
	return nil
}

// gather lists metrics of all pairs that have data: a family of tests.
func gather(all []comparing, of func(*comparing) []measured) (family []*measured) {
	for i := range all {
		list := of(&all[i])
		for k := range list {
			if list[k].P != nil {
				family = append(family, &list[k])
			}
		}
	}
	return family
}

// adjust fills in the adjusted p-values of a family.
func adjust(family []*measured, method func([]float64) ([]float64, error)) error {
	p := make([]float64, len(family))
	for i, m := range family {
		p[i] = *m.P
	}
	adjusted, err := method(p)
	if err != nil {
		return fmt.Errorf("compare metrics: %w", err)
	}
	for i, m := range family {
		m.Adjusted = new(adjusted[i])
	}
	return nil
}

// decide: Pass where the margin is ruled out, even if something is lost; Fail where
// a change to the worse is established and that is not; else Inconclusive, as is
// no data.
func (m *measured) decide(alpha float64) {
	m.Verdict = stat.Inconclusive
	switch {
	case m.P == nil || m.Adjusted == nil:
	case m.notWorse:
		m.Verdict = stat.Pass
		if stat.Rejects(*m.Adjusted, alpha) {
			m.note("Worse, but by less than the margin.")
		}
	case stat.Rejects(*m.Adjusted, alpha):
		m.Verdict = stat.Fail
	}
}
