package compare

import "github.com/cupel-eval/cupel/reports/stat"

// rule asks whether a loss of the margin can be ruled out, at one-sided level α:
// every gating metric must, so that together they need no adjustment (an
// intersection-union test: R. L. Berger, "Multiparameter Hypothesis Testing and
// Acceptance Sampling", Technometrics 24 (1982) 295–300).
//
// The bound is stat.LowerBound, since t knows nothing of the rare task that breaks.
// What a task that was not seen could do at worst is to go from always to never;
// where nothing bounds a metric, to grow by as much as the largest task has.
//
// Where both sides replay the same recordings nothing was drawn anew: if nothing
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
// share of the baseline is judged as (1 + margin)·baseline − trial, so that the
// baseline's own spread counts.
func (m *measured) claim() (list []stat.Cluster, least, target float64) {
	if m.growth == 0 {
		list, least = m.change.clusters(m.good(), 1)
		return list, least, -m.drop
	}
	grown, _ := difference(m.tasks, m.sides, 1+m.growth)
	largest := 0.0
	for _, s := range m.sides {
		largest = max(largest, s.baseline.Num/s.baseline.Den, s.trial.Num/s.trial.Den)
	}
	list, least = grown.clusters(m.good(), largest)
	return list, least, 0
}

// adjust allows for all metrics of all pairs: Holm over the gating ones, which keeps
// the chance of any false alarm at α, Benjamini–Hochberg over the rest; then it
// decides.
func (b *Builder) adjust(all []comparing) {
	var gating, rest []*measured
	for i := range all {
		for k := range all[i].measured {
			switch m := &all[i].measured[k]; {
			case m.P == nil:
			case m.Gates:
				gating = append(gating, m)
			default:
				rest = append(rest, m)
			}
		}
	}
	fill(gating, stat.Holm)
	fill(rest, stat.BenjaminiHochberg)
	for i := range all {
		for k := range all[i].measured {
			if m := &all[i].measured[k]; m.Gates {
				m.decide(b.rules.Alpha)
				m.power(b.rules.Alpha, len(gating))
			}
		}
	}
}

func fill(list []*measured, adjust func([]float64) ([]float64, bool)) {
	p := make([]float64, len(list))
	for i, m := range list {
		p[i] = *m.P
	}
	if adjusted, ok := adjust(p); ok {
		for i, m := range list {
			m.Adjusted = new(adjusted[i])
		}
	}
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
