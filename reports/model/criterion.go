package model

import (
	"fmt"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/expr"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// Criterion is one threshold and what the evidence says about it, or a figure that is
// reported without a threshold: its Verdict is NotJudged then and Threshold is 0.
type Criterion struct {
	// Name is stable: solved, valid_json, clarifies_per_success, steps_per_solved,
	// within_steps, utility_under_attack, attack_success, harm, or that of a custom criterion.
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
	// DesignEffect of a share is how many times its variance is that of N independent
	// observations; null where all are so or none, and of a single task.
	DesignEffect *float64 `json:"design_effect"`
	Threshold    float64  `json:"threshold"`
	// WorstCase and BestCase are what the criterion comes to if all that was lost (and, of
	// a custom criterion, has no value) had been the worst and the best that it can be:
	// left out where nothing is missing, and where no threshold is. A candidate passes only
	// with WorstCase, too.
	WorstCase *Bound `json:"worst_case,omitempty"`
	BestCase  *Bound `json:"best_case,omitempty"`
	// AtLeast says that values from the threshold up are good; otherwise values
	// up to it are.
	AtLeast bool `json:"at_least"`
	// Rule says which part of the interval decides: bound (all of it), and for a custom
	// criterion also lower or upper (that end), or value where there is no interval.
	Rule string `json:"rule"`
	// OneSided says that Interval is a bound on one side, at Confidence: its lower end is
	// always 0.
	OneSided bool `json:"one_sided,omitempty"`
	// Test names the statistics used.
	Test    string       `json:"test"`
	Verdict stat.Verdict `json:"verdict"`
	Note    string       `json:"note"`
	// Explanation is the part of Note that holds for other candidates, too.
	Explanation string `json:"-"`
	// Aside is the part of Note about statistics, which short texts leave out.
	Aside string `json:"-"`
	// Expr is the text of a criterion of the user's own, empty for the others.
	// Value, Interval and Threshold are in microseconds, nano-USD or shares of 1.
	Expr string `json:"expr,omitempty"`
	// Strict says that the threshold itself is not good.
	Strict bool `json:"strict,omitempty"`
	// Raw is a share that judges decided in part, before its correction for their errors, which
	// Value, Interval and Verdict have; absent for others.
	Raw *Share `json:"raw,omitempty"`

	unit expr.Unit // of one of the user's own
}

const (
	kindShare = "share"
	kindMean  = "mean"
	ruleBound = "bound"
)

// criteria judges a pool of episodes by one strategy. Success comes first.
func (p *pool) criteria(a manifest.Acceptance, agent string) []Criterion {
	base := Criterion{Rule: ruleBound, Confidence: a.Confidence}

	solved := base
	solved.Name, solved.Title, solved.Unit = "solved", "Tasks solved", "episodes"
	solved.share(p.by.sample(solvedOf, lostPlain), max(0, float64(a.MinSolved)))
	solved.rated(p, solvedOf, func(c *counted) ratings { return c.plain }, lostPlain)
	if a.MinSolved != manifest.Off && solved.N > 0 && solved.Raw == nil && *solved.Value == 0 && !p.interim { // earlier, the interval decides
		solved.Verdict, solved.Note = stat.Fail, "No task was solved."
		if b := solved.BestCase; b != nil && *b.Value < solved.Threshold {
			b.Verdict = stat.Fail
		}
	}

	valid := base
	valid.Name, valid.Title, valid.Unit = "valid_json", ValidTitle(contractual(agent)), "turns"
	valid.share(p.by.sample(validOf, func(c *counted) float64 { return lostOf(c) * float64(p.longest) }), a.MinValid)
	valid.note(p.turnNote())
	valid.explain(validNote(agent))

	clarifies := base
	clarifies.Name, clarifies.Title, clarifies.Unit = "clarifies_per_success", "Clarifying questions per success", "solved episodes"
	clarifies.Threshold = a.MaxClarifies
	clarifies.mean(p.by.sample(clarifiesOf, lostPlain))
	if p.questions > 0 {
		clarifies.note(words.Plural(p.questions, "solved episode") + " excluded: the expected outcome is a clarifying question.")
	}
	clarifies.stopNote(p)
	clarifies.explain(clarifiesNote(agent))

	mean := base
	mean.Name, mean.Title, mean.Unit = "steps_per_solved", "Steps per solved task", "solved episodes"
	mean.Threshold = a.MaxSteps
	mean.mean(p.by.sample(stepsOf, lostPlain))
	mean.stopNote(p)
	mean.explain(stepsNote(agent, mean.Verdict))

	within := base
	within.Name, within.Title, within.Unit = "within_steps", "Solved within "+words.Number(a.MaxSteps)+" steps", "solved episodes"
	within.share(p.by.sample(withinOf, lostPlain), a.MinWithin)
	within.stopNote(p)
	list := append([]Criterion{solved, valid, clarifies, mean, within}, p.attackCriteria(base, a)...)
	if harm := base; harm.harm(p, a.MaxHarm) {
		list = append(list, harm)
	}
	return list
}

// stopNote says which solved episodes do not count here.
func (c *Criterion) stopNote(p *pool) {
	if p.stops > 0 {
		c.note(words.Plural(p.stops, "solved episode") + " excluded: the task expects a stop.")
	}
}

// mean fills in and decides a criterion about a mean, which is at least 0.
func (c *Criterion) mean(s sample) {
	c.Kind = kindMean
	seen := s.seen()
	for _, k := range seen {
		c.N += int(k.Den)
	}
	within := limits(seen, c.Threshold)
	c.Test = meanTest("mean", words.Number(within.High), c.Confidence)
	if c.N == 0 {
		c.noData()
		return
	}
	c.measureMean(seen, within)
	c.decide()
	if c.Verdict == stat.Inconclusive {
		c.moreMean(seen, within, "more solved task")
	}
	if s.lost() {
		e := extremes{worst: stat.Cluster{Num: within.High, Den: 1}, best: stat.Cluster{Num: within.Low, Den: 1}}
		c.bounds(func(c *Criterion, worst bool) {
			c.measureMean(s.fill(e.of(worst)), within)
			c.decide()
		})
	}
}

// meanTest names the interval of a mean; most is what no task is taken to be above.
func meanTest(what, most string, confidence float64) string {
	return fmt.Sprintf("interval of the %s, clustered by task, none above %s, two-sided %s", what, most, words.Level(confidence))
}

// measureMean fills in a mean and its interval.
func (c *Criterion) measureMean(clusters []stat.Cluster, within stat.Interval) {
	if m, ok := stat.ClusterRatio(clusters); ok {
		c.Value = &m.Value
	}
	if iv, ok := stat.MeanInterval(clusters, within, c.Confidence); ok {
		c.Interval = &iv
	}
}

// moreMean says how many tasks more would settle an inconclusive mean.
func (c *Criterion) moreMean(clusters []stat.Cluster, within stat.Interval, tasks string) {
	if need, ok := stat.MeanClusters(clusters, within, c.Threshold, c.Confidence); ok && c.Value != nil {
		c.note(fmt.Sprintf("If the mean stays the same, %s would make this a %s.", words.Plural(max(1, need-len(clusters)), tasks), c.heading()))
		return
	}
	if c.Value != nil && *c.Value == c.Threshold {
		c.note("The estimate equals the threshold: more tasks alone will not settle it.")
		return
	}
	c.note("The estimate is too near the threshold for any number of tasks to settle it.")
}

// decide compares the interval with the threshold: a pass has all of it on the good
// side, a fail all of it on the bad side.
func (c *Criterion) decide() {
	good, bad := false, false
	switch {
	case c.Interval == nil:
	case c.AtLeast:
		good, bad = c.Interval.Low >= c.Threshold, c.Interval.High < c.Threshold
	default:
		good, bad = c.Interval.High <= c.Threshold, c.Interval.Low > c.Threshold
	}
	c.Verdict = stat.Inconclusive
	if good {
		c.Verdict = stat.Pass
	} else if bad {
		c.Verdict = stat.Fail
	}
}

// heading is where an inconclusive estimate points.
func (c *Criterion) heading() stat.Verdict {
	if (*c.Value >= c.Threshold) == c.AtLeast {
		return stat.Pass
	}
	return stat.Fail
}

func (c *Criterion) noData() {
	c.Verdict = stat.Inconclusive
	c.note("No " + c.Unit + ": nothing to judge, which never passes.")
}

// explain adds what holds for other candidates, too: a list says it once.
func (c *Criterion) explain(sentence string) {
	c.note(sentence)
	c.Explanation = sentence
}

// aside adds a sentence about statistics.
func (c *Criterion) aside(sentence string) {
	c.note(sentence)
	c.Aside = sentence
}

// note adds a sentence.
func (c *Criterion) note(sentence string) {
	if c.Note != "" && sentence != "" {
		c.Note += " "
	}
	c.Note += sentence
}
