package compare

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
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
		list, least = m.change.clusters(m.good(), m.reach())
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

// weight is a metric's in Holm's adjustment: success has nine times as much of α as each
// of the others, which spread less and so show the same loss at a smaller level.
func (m *measured) weight() float64 {
	if m.Name == "solved" {
		return 9
	}
	return 1
}

// decide allows for all gating metrics of all pairs by Holm, which keeps the chance of
// any false alarm at α, and decides.
func decide(all []comparing, rules Rules) error {
	family := gather(all, func(p *comparing) []measured { return p.gating })
	weights, sum := make([]float64, len(family)), 0.0
	for i, m := range family {
		weights[i] = m.weight()
		sum += weights[i]
	}
	// holm adjusts the p-values of the metrics, as they are or with the lost pairs filled in.
	holm := func(of func(*measured) *measured) error {
		return adjust(family, of, func(p []float64) ([]float64, error) { return multiple.WeightedHolm(p, weights) })
	}
	err := errors.Join(
		holm(func(m *measured) *measured { return m }),
		holm(func(m *measured) *measured { return cmp.Or(m.worst, m) }),
		holm(func(m *measured) *measured { return cmp.Or(m.best, m) }),
	)
	if err != nil {
		return err
	}
	for i, m := range family {
		m.level = m.look.Level(rules.Alpha * weights[i] / sum)
		m.decide(rules)
	}
	return improved(family, weights, rules.Alpha)
}

// improved marks the metrics that are significantly better, also in the worst case of the
// lost pairs: by the two-sided p, adjusted as those for the worse are, and by the interval.
func improved(family []*measured, weights []float64, alpha float64) error {
	p := make([]float64, len(family))
	for i, m := range family {
		one := cmp.Or(m.worst, m).better
		if m.look.At > 0 {
			one = m.look.P(one)
		}
		p[i] = min(1, 2*one)
	}
	adjusted, err := multiple.WeightedHolm(p, weights)
	if err != nil {
		return fmt.Errorf("compare improvements: %w", err)
	}
	for i, m := range family {
		m.ImprovedP = &adjusted[i]
		iv := cmp.Or(m.worst, m).Interval
		m.Improved = multiple.Rejects(adjusted[i], alpha) && iv != nil && (iv.Low > 0 && m.HigherIsBetter || iv.High < 0 && !m.HigherIsBetter)
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

// adjust sets the adjusted p-values of a family: of each metric, or of the one that of returns for
// it.
func adjust(family []*measured, of func(*measured) *measured, method func([]float64) ([]float64, error)) error {
	p := make([]float64, len(family))
	for i, m := range family {
		if p[i] = *of(m).P; m.look.At > 0 {
			p[i] = m.look.P(p[i])
		}
	}
	adjusted, err := method(p)
	if err != nil {
		return fmt.Errorf("compare metrics: %w", err)
	}
	for i, m := range family {
		of(m).Adjusted = new(adjusted[i])
	}
	return nil
}

// decide: Pass where a loss of the margin is ruled out, even if something is lost; Fail
// where a change to the worse is established and that is not; NoRegression where
// neither is so and a loss of Detectable would have been detected; else Inconclusive.
// Pass and NoRegression must hold in the worst case of the lost pairs as well.
func (m *measured) decide(rules Rules) {
	m.Verdict = m.verdict(rules)
	if m.Verdict == stat.Pass && multiple.Rejects(*m.Adjusted, rules.Alpha) {
		m.note("Worse, but by less than the margin.")
	}
	if m.worst != nil && m.Verdict != stat.Fail {
		m.worst.level = m.level
		worst := m.worst.Metric
		worst.Interval = nil
		m.note("Worst case of the lost pairs: " + worst.change() + ".")
		v := stat.Worst([]stat.Verdict{m.Verdict, m.worst.verdict(rules)})
		if v == stat.Fail {
			v = stat.Inconclusive
		}
		m.hidden = v != m.Verdict && v == stat.Inconclusive
		m.Verdict = v
	}
}

// verdict is that of the pairs that there are.
func (m *measured) verdict(rules Rules) stat.Verdict {
	switch {
	case m.notWorse:
		return stat.Pass
	case multiple.Rejects(*m.Adjusted, rules.Alpha):
		return stat.Fail
	case m.finder().shows()(m.limit(rules)):
		return stat.NoRegression
	}
	return stat.Inconclusive
}

// limit is the loss that must have been detectable for NoRegression.
func (m *measured) limit(rules Rules) float64 {
	if m.growth > 0 {
		return *m.Margin
	}
	return rules.Detectable
}

// surely says that a regression is one in the best case of the lost pairs, too.
func (m *measured) surely(alpha float64) bool {
	return m.best == nil || multiple.Rejects(*m.best.Adjusted, alpha)
}
