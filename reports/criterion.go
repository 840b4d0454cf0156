package reports

import (
	"fmt"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/expr"
	"github.com/cupel-eval/cupel/reports/stat"
)

// Criterion is one threshold and what the evidence says about it.
type Criterion struct {
	// Name is stable: valid_json, clarifies_per_success, steps_per_solved,
	// within_steps, or that of a criterion of the user's own.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Kind is share (Value in 0…1) or mean; of the user's own also percentile, or
	// bare: a sum, count, minimum or maximum.
	Kind string `json:"kind"`
	// Value is the estimate, null without data.
	Value *float64 `json:"value"`
	// N counts observations; Unit says of what.
	N    int    `json:"n"`
	Unit string `json:"unit"`
	// Interval is at Confidence, null when it cannot be had.
	Interval   *stat.Interval `json:"interval"`
	Confidence float64        `json:"confidence"`
	Threshold  float64        `json:"threshold"`
	// AtLeast says that values from the threshold up are good; otherwise values
	// up to it are.
	AtLeast bool `json:"at_least"`
	// Rule is bound or point, see ledger.Acceptance; of the user's own also lower
	// or upper.
	Rule string `json:"rule"`
	// Test names the statistics used.
	Test    string  `json:"test"`
	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note"`
	// explanation is the part of Note that holds for other candidates, too.
	explanation string
	// Expr is the text of a criterion of the user's own, empty for the others.
	// Value, Interval and Threshold are in microseconds, nano-USD or shares of 1.
	Expr string `json:"expr,omitempty"`
	// Strict says that the threshold itself is not good.
	Strict bool `json:"strict,omitempty"`

	unit expr.Unit // of one of the user's own
}

const (
	kindShare = "share"
	kindMean  = "mean"
	ruleBound = "bound"
	rulePoint = "point"
)

// minClusters is the fewest tasks from which a mean without any spread counts as
// established: the t interval has no width then, however little was seen.
const minClusters = 5

// criteria judges a pool of episodes by one strategy.
func (p *pool) criteria(a ledger.Acceptance, agent string) []Criterion {
	steps := number(a.MaxSteps)
	valid := Criterion{
		Name: "valid_json", Title: validTitle(contractual(agent)), Unit: "turns",
		Threshold: a.MinValid, AtLeast: true, Rule: a.Rule, Confidence: a.Confidence,
	}
	valid.share(p.valid, p.judged)
	valid.note(p.turnNote())
	valid.explain(validNote(agent))

	clarifies := Criterion{
		Name: "clarifies_per_success", Title: "Clarifying questions per success", Unit: "solved episodes",
		Threshold: a.MaxClarifies, Rule: a.Rule, Confidence: a.Confidence,
	}
	clarifies.mean(p.clarifies, p.clarifySum)
	if p.clarifyGoals > 0 {
		clarifies.note(plural(p.clarifyGoals, "solved episode") + " whose right outcome is a question left out.")
	}
	clarifies.explain(clarifiesNote(agent))

	mean := Criterion{
		Name: "steps_per_solved", Title: "Steps per solved task", Unit: "solved episodes",
		Threshold: a.MaxSteps, Rule: a.Rule, Confidence: a.Confidence,
	}
	mean.mean(p.steps, p.stepSum)
	mean.explain(stepsNote(agent, mean.Verdict))

	within := Criterion{
		Name: "within_steps", Title: "Solved within " + steps + " steps", Unit: "solved episodes",
		Threshold: a.MinWithin, AtLeast: true, Rule: rulePoint, Confidence: a.Confidence,
	}
	within.share(p.within, len(p.steps))
	if need, ok := stat.WilsonSize(1, a.MinWithin, a.Confidence); ok && a.Rule != rulePoint && within.N > 0 {
		within.explain(fmt.Sprintf("Decided by the estimate: fewer than %d solved episodes could never establish %s.", need, percent(a.MinWithin)))
	}
	return []Criterion{valid, clarifies, mean, within}
}

// share fills in and decides a criterion about k of n.
func (c *Criterion) share(k, n int) {
	c.Kind, c.N = kindShare, n
	c.Test = fmt.Sprintf("Wilson score interval, two-sided %s", percent(c.Confidence))
	if n == 0 {
		c.noData()
		return
	}
	v := float64(k) / float64(n)
	c.Value = &v
	if iv, ok := stat.Wilson(k, n, c.Confidence); ok {
		c.Interval = &iv
	}
	c.decide(stat.CompareRatio(int64(k), int64(n), c.Threshold))
	if c.Verdict != Inconclusive {
		return
	}
	need, ok := stat.WilsonSize(v, c.Threshold, c.Confidence)
	switch {
	case ok && need > n:
		c.note(fmt.Sprintf("At this estimate %s more %s would settle it as a %s.", thousands(int64(need-n)), c.Unit, c.heading()))
	case c.Threshold >= 1 || c.Threshold <= 0:
		c.note("No number of " + c.Unit + " can establish this threshold by an interval; the point rule can.")
	default:
		c.note("The estimate sits on the threshold: more " + c.Unit + " alone will not settle it.")
	}
}

// mean fills in and decides a criterion about a mean of whole values that add up
// to sum, clustered by task.
func (c *Criterion) mean(obs []stat.Observation, sum int64) {
	c.Kind, c.N = kindMean, len(obs)
	c.Test = fmt.Sprintf("t interval of the mean, clustered by task, two-sided %s", percent(c.Confidence))
	m, ok := stat.ClusterMean(obs)
	if !ok {
		c.noData()
		return
	}
	c.Value = &m.Value
	if iv, ok := m.Interval(c.Confidence); ok {
		iv.Low = max(0, iv.Low) // nothing is counted below zero
		c.Interval = &iv
	}
	flat := m.SE == 0 && m.Clusters < minClusters
	c.decide(stat.CompareRatio(sum, int64(len(obs)), c.Threshold))
	if c.Rule == ruleBound && flat && c.Interval != nil {
		c.Verdict = Inconclusive
	}
	if c.Verdict != Inconclusive {
		if m.SE == 0 && c.Rule == ruleBound {
			c.note(fmt.Sprintf("All %d tasks agree, so the interval has no width.", m.Clusters))
		}
		return
	}
	need, ok := m.ClustersNeeded(c.Threshold, c.Confidence)
	switch {
	case m.Clusters < 2:
		c.note("All from one task: the spread between tasks is unknown.")
	case flat:
		c.note(fmt.Sprintf("Only %d tasks, all alike: no spread to estimate from. At least %d tasks are needed.", m.Clusters, minClusters))
	case ok && need > m.Clusters:
		c.note(fmt.Sprintf("At this estimate solving %s would settle it as a %s.", plural(need-m.Clusters, "more such task"), c.heading()))
	default:
		c.note("The estimate sits on the threshold: more tasks alone will not settle it.")
	}
}

// decide applies the rule; point is the exact comparison of the estimate with
// the threshold.
func (c *Criterion) decide(point int) {
	good, bad := false, false
	switch {
	case c.Rule == rulePoint && c.AtLeast:
		good, bad = point >= 0, point < 0
	case c.Rule == rulePoint:
		good, bad = point <= 0, point > 0
	case c.Interval == nil:
	case c.AtLeast:
		good, bad = c.Interval.Low >= c.Threshold, c.Interval.High < c.Threshold
	default:
		good, bad = c.Interval.High <= c.Threshold, c.Interval.Low > c.Threshold
	}
	c.Verdict = Inconclusive
	if good {
		c.Verdict = Pass
	} else if bad {
		c.Verdict = Fail
	}
}

// heading is where an inconclusive estimate points.
func (c *Criterion) heading() Verdict {
	if (*c.Value >= c.Threshold) == c.AtLeast {
		return Pass
	}
	return Fail
}

func (c *Criterion) noData() {
	c.Verdict = Inconclusive
	c.note("No " + c.Unit + ": nothing to judge, which is never a pass.")
}

// explain adds what holds for other candidates, too: a list says it once.
func (c *Criterion) explain(sentence string) {
	c.note(sentence)
	c.explanation = sentence
}

// note adds a sentence.
func (c *Criterion) note(sentence string) {
	if c.Note != "" && sentence != "" {
		c.Note += " "
	}
	c.Note += sentence
}
