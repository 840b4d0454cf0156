package model

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/expr"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

const (
	kindPercentile = "percentile"
	kindBare       = "bare"
	ruleLower      = "lower"
	ruleUpper      = "upper"
	ruleValue      = "value"
	perModel       = "provider_model"
)

// ownCriterion is a criterion of the user's own; err says why it cannot be read.
type ownCriterion struct {
	manifest.Criterion
	expr *expr.Criterion
	err  error
}

// ownCriteria parses those of a manifest, which may be of another cupel.
func ownCriteria(list []manifest.Criterion) []ownCriterion {
	var out []ownCriterion
	for _, c := range list {
		own := ownCriterion{Criterion: c}
		own.expr, own.err = expr.ParseCriterion(c.Expr)
		out = append(out, own)
	}
	return out
}

// tallies are empty ones, one for each criterion; nil for those without an
// expression.
func tallies(own []ownCriterion) []*expr.Tally {
	out := make([]*expr.Tally, len(own))
	for i := range own {
		if own[i].err == nil {
			out[i] = own[i].expr.NewTally()
		}
	}
	return out
}

// addOwn counts a scored episode of a cluster.
func (acc *account) addOwn(cluster string, rows *ledger.EpisodeRows) {
	for _, t := range acc.tallies {
		if t != nil {
			t.Add(rows, cluster)
		}
	}
}

// loseOwn counts an episode of a cluster that was lost.
func (acc *account) loseOwn(cluster string) {
	for _, t := range acc.tallies {
		if t != nil {
			t.Lose(cluster)
		}
	}
}

// findShared says which accounts are judged together with others: criteria of a
// model leave them to their group.
func (b *Builder) findShared() {
	count := map[modelKey]int{}
	for _, a := range b.order {
		count[keyOf(&a.Candidate)]++
	}
	for _, a := range b.order {
		a.shared = count[keyOf(&a.Candidate)] > 1
	}
}

// judgeOwn judges the criteria that are about one candidate, or about a group.
func judgeOwn(own []ownCriterion, tallies []*expr.Tally, a manifest.Acceptance, batched bool, skip func(per string) bool) []Criterion {
	var out []Criterion
	for i, o := range own {
		if !skip(o.Per) {
			c := o.judge(tallies[i], a)
			if batched && o.err == nil && o.expr.Unit == expr.Duration && c.N == 0 {
				c.Verdict, c.Note = stat.NotJudged, ""
				c.note("Expression: " + o.Expr + ". Not judged: batched turns and their episodes have no times.")
			}
			out = append(out, c)
		}
	}
	return out
}

// own judges those about the account's candidate.
func (acc *account) own(a manifest.Acceptance) []Criterion {
	return judgeOwn(acc.criteria, acc.tallies, a, acc.meter.batched > 0, func(per string) bool { return per == perModel && acc.shared })
}

// ownOfGroup judges those about the members of a group together.
func ownOfGroup(members []*account, a manifest.Acceptance) []Criterion {
	own := members[0].criteria
	all, batched := tallies(own), false
	for _, m := range members {
		batched = batched || m.meter.batched > 0
		for i, t := range m.tallies {
			if t != nil {
				all[i].Merge(t)
			}
		}
	}
	return judgeOwn(own, all, a, batched, func(per string) bool { return per != perModel })
}

// judge fills in a criterion.
func (o *ownCriterion) judge(t *expr.Tally, a manifest.Acceptance) Criterion {
	c := Criterion{Name: o.Name, Title: o.Name, Expr: o.Expr, Rule: o.Rule, Confidence: a.Confidence, Verdict: stat.Inconclusive, Unit: "episodes"}
	if o.err != nil {
		c.Kind = kindBare
		line, _, _ := strings.Cut(o.err.Error(), "\n")
		c.note("The expression cannot be read, so nothing was judged: " + line + ".")
		return c
	}
	c.note("Expression: " + o.Expr + ".")
	c.Threshold, c.AtLeast, c.Strict, c.unit = o.expr.Threshold, o.expr.AtLeast, o.expr.Strict, o.expr.Unit
	if c.Rule != o.expr.PessimisticEnd() {
		c.Rule = ruleBound
	}
	c.Unit = map[string]string{"episodes": "episodes", "turns": "turns", "tool_calls": "tool calls"}[o.expr.Table()]
	e := t.Evidence()
	c.N = e.Known
	seen := ownSample(&e, 0, 0).seen()
	within := limits(seen, c.Threshold)
	c.measure(o.expr, seen, e.Values, within)
	switch {
	case e.Inexact:
		c.Value, c.Interval, c.DesignEffect = nil, nil, nil
		c.note("A number is not finite, or beyond 2^53: nothing was computed.")
		return c
	case !e.OK || e.Episodes == 0:
		c.Value, c.Interval, c.DesignEffect = nil, nil, nil
		c.noData()
		return c
	}
	c.Value = &e.Value
	c.decideOwn(o.expr)
	switch {
	case c.Kind == kindShare:
		c.shareNotes(seen)
	case c.Kind == kindMean && c.Verdict == stat.Inconclusive && c.Interval != nil:
		c.moreMean(seen, within, "more task")
	}
	c.absent(o.expr, &e, within)
	if e.Missing+e.Lost > 0 {
		c.bounds(func(c *Criterion, worst bool) { c.extreme(o.expr, &e, within, e.Size, worst) })
	}
	return c
}

// ownSample is the evidence by cluster, with what is missing at most: rows that have no
// value, each one observation, and of lost episodes each size of them.
func ownSample(e *expr.Evidence, row, size float64) (s sample) {
	for _, c := range e.Clusters {
		s.clusters = append(s.clusters, c.Cluster)
		s.missing = append(s.missing, row*float64(c.Missing)+size*float64(c.Lost))
	}
	return s
}

// extremesOf returns the observations that are worst and best for a criterion. The two sums of a
// ratio may lack values of different rows, so that of the numerator is treated separately.
func extremesOf(x *expr.Criterion, within stat.Interval) extremes {
	low, high := stat.Cluster{Den: 1}, stat.Cluster{Num: 1, Den: 1}
	switch {
	case x.Form == expr.Ratio && x.Name == "mean":
		low.Num, high.Num = within.Low, within.High
	case x.Form == expr.Ratio:
		low.Num, high = within.Low, stat.Cluster{Num: within.High}
	}
	if x.AtLeast {
		return extremes{worst: low, best: high}
	}
	return extremes{worst: high, best: low}
}

// extreme is the criterion with the rows that have no value, and size of each lost
// episode, at their worst or best. Of a percentile they lie beyond all others; a sum,
// count, minimum or maximum has no such case and is left open.
func (c *Criterion) extreme(x *expr.Criterion, e *expr.Evidence, within stat.Interval, size float64, worst bool) {
	row := 1.0
	if x.Form == expr.Ratio && x.Name != "mean" {
		row = e.Size // of a quotient's sums, one row may be all of an episode
	}
	s := ownSample(e, row, size)
	filled, values := s.fill(extremesOf(x, within).of(worst)), e.Values
	switch x.Form {
	case expr.Bare:
		return
	case expr.Percentile:
		var ok bool
		if values, ok = beyondValues(e, s.missing, x, worst != x.AtLeast); !ok {
			return
		}
		c.Value = new(quantileOf(values, x.Rank))
	}
	c.measure(x, filled, values, limits(filled, c.Threshold))
	c.decideOwn(x)
}

// beyondValues are the values of a percentile, and those that are missing of each cluster
// above all others, or below them. ok is false where more are missing than known.
func beyondValues(e *expr.Evidence, missing []float64, x *expr.Criterion, above bool) (values []stat.Observation, ok bool) {
	far, n := math.Abs(x.Threshold), 0.0
	for _, o := range e.Values {
		far = max(far, math.Abs(o.Value))
	}
	for _, m := range missing {
		n += m
	}
	if n > float64(len(e.Values)) {
		return nil, false
	}
	if far = 2*far + 1; !above {
		far = -far
	}
	values = slices.Clone(e.Values)
	for i, m := range missing {
		for range int(m) {
			values = append(values, stat.Observation{Cluster: e.Clusters[i].Name, Value: far})
		}
	}
	return values, true
}

func quantileOf(values []stat.Observation, rank float64) float64 {
	sorted := make([]float64, len(values))
	for i, o := range values {
		sorted[i] = o.Value
	}
	slices.Sort(sorted)
	q, _ := stat.Quantile(sorted, rank)
	return q
}

// measure names the statistics and finds the interval, and of a share or a mean the value.
func (c *Criterion) measure(x *expr.Criterion, clusters []stat.Cluster, values []stat.Observation, within stat.Interval) {
	level := words.Level(c.Confidence)
	switch x.Form {
	case expr.Share:
		c.measureShare(clusters)
	case expr.Ratio:
		what := x.Name
		if what == "rate" {
			what = "rate per episode"
		}
		c.Kind, c.Test = kindMean, meanTest(what, c.ownNumber(within.High), c.Confidence)
		c.measureMean(clusters, within)
		if c.Value != nil && within.Low == within.High {
			c.note("All values are 0 and so is the threshold: no interval of a mean can establish that; use count() <= 0.")
		}
	case expr.Percentile:
		c.Kind, c.Test = kindPercentile, fmt.Sprintf("order-statistic interval of the %s, clustered by task, two-sided %s", x.Name, level)
		if iv, ok := stat.QuantileInterval(values, x.Rank, c.Confidence); ok {
			c.Interval = &iv
		} else if len(values) > 0 {
			c.note("Too few tasks, or too few " + c.Unit + " beyond this percentile, for an interval.")
		}
	default:
		c.Kind, c.Test = kindBare, "none: a "+x.Name+" is a fact about these rows"
		c.Rule = ruleValue
		c.note("A " + x.Name + " has no interval: decided by its value.")
	}
}

// decideOwn applies the rule.
func (c *Criterion) decideOwn(x *expr.Criterion) {
	good := func(v float64) bool {
		sign := x.Compare(v)
		if x.AtLeast {
			sign = -sign
		}
		return sign < 0 || sign == 0 && !x.Strict
	}
	pass := func(ok bool) stat.Verdict {
		if ok {
			return stat.Pass
		}
		return stat.Fail
	}
	switch {
	case c.Rule == ruleValue:
		c.Verdict = pass(good(*c.Value))
	case c.Interval == nil:
	case c.Rule == ruleLower:
		c.Verdict = pass(good(c.Interval.Low))
	case c.Rule == ruleUpper:
		c.Verdict = pass(good(c.Interval.High))
	case good(c.Interval.Low) && good(c.Interval.High):
		c.Verdict = stat.Pass
	case !good(c.Interval.Low) && !good(c.Interval.High):
		c.Verdict = stat.Fail
	}
}

// absent lets nothing pass that would not if all rows without a value were at their
// worst.
func (c *Criterion) absent(x *expr.Criterion, e *expr.Evidence, within stat.Interval) {
	if e.Missing == 0 {
		return
	}
	c.note(fmt.Sprintf("%d of %d rows have no value and are left out.", e.Missing, e.Known+e.Missing))
	worst := *c
	worst.Interval, worst.Verdict = nil, stat.Inconclusive
	worst.extreme(x, e, within, 0, true)
	if c.Verdict == stat.Pass && worst.Verdict != stat.Pass {
		c.Verdict = stat.Inconclusive
		c.note("That is too many to pass.")
	}
}

// ownNumber is a value of a criterion of the user's own, in its unit.
func (c Criterion) ownNumber(v float64) string { return c.unit.Format(v) }

// ownNeeds is its threshold with its direction.
func (c Criterion) ownNeeds() string {
	if c.Test == "" { // it cannot be read
		return "–"
	}
	sign := map[[2]bool]string{{false, false}: "≤ ", {false, true}: "< ", {true, false}: "≥ ", {true, true}: "> "}[[2]bool{c.AtLeast, c.Strict}]
	return sign + c.unit.Format(c.Threshold)
}
