package reports

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/expr"
	"github.com/cupel-eval/cupel/reports/stat"
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
	ledger.OwnCriterion
	expr *expr.Criterion
	err  error
}

// ownCriteria parses those of a manifest, which may be of another cupel.
func ownCriteria(list []ledger.OwnCriterion) []ownCriterion {
	var out []ownCriterion
	for _, c := range list {
		own := ownCriterion{OwnCriterion: c}
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

// findShared says which accounts are judged together with others: criteria of a
// model leave them to their group.
func (b *Builder) findShared() {
	count := map[modelKey]int{}
	for _, a := range b.order {
		count[keyOf(&a.ManifestCandidate)]++
	}
	for _, a := range b.order {
		a.shared = count[keyOf(&a.ManifestCandidate)] > 1
	}
}

// judgeOwn judges the criteria that are about one candidate, or about a group.
func judgeOwn(own []ownCriterion, tallies []*expr.Tally, a ledger.Acceptance, skip func(per string) bool) []Criterion {
	var out []Criterion
	for i, o := range own {
		if !skip(o.Per) {
			out = append(out, o.judge(tallies[i], a))
		}
	}
	return out
}

// own judges those about the account's candidate.
func (acc *account) own(a ledger.Acceptance) []Criterion {
	return judgeOwn(acc.criteria, acc.tallies, a, func(per string) bool { return per == perModel && acc.shared })
}

// ownOfGroup judges those about the members of a group together.
func ownOfGroup(members []*account, a ledger.Acceptance) []Criterion {
	own := members[0].criteria
	all := tallies(own)
	for _, m := range members {
		for i, t := range m.tallies {
			if t != nil {
				all[i].Merge(t)
			}
		}
	}
	return judgeOwn(own, all, a, func(per string) bool { return per != perModel })
}

// judge fills in a criterion.
func (o *ownCriterion) judge(t *expr.Tally, a ledger.Acceptance) Criterion {
	c := Criterion{Name: o.Name, Title: o.Name, Expr: o.Expr, Rule: o.Rule, Confidence: a.Confidence, Verdict: Inconclusive, Unit: "episodes"}
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
	c.measure(o.expr, &e)
	switch {
	case e.Inexact:
		c.note("A number is not finite, or beyond 2^53: nothing was computed.")
	case !e.OK || e.Episodes == 0:
		c.noData()
	default:
		c.Value = &e.Value
		c.decideOwn(o.expr, &e)
		if c.Kind == kindShare {
			c.shareNotes(e.Clusters)
		}
		c.absent(&e, o.expr.Form, a.MaxInfra)
	}
	return c
}

// measure names the statistics and finds the interval.
func (c *Criterion) measure(x *expr.Criterion, e *expr.Evidence) {
	level := percent(c.Confidence)
	switch x.Form {
	case expr.Share:
		c.measureShare(e.Clusters)
	case expr.Ratio:
		c.Kind, c.Test = kindMean, fmt.Sprintf("t interval of the %s, clustered by task, two-sided %s", x.Name, level)
		if x.Name == "rate" {
			c.Test = fmt.Sprintf("t interval of the rate per episode, clustered by task, two-sided %s", level)
		}
		c.clusters(e)
	case expr.Percentile:
		c.Kind, c.Test = kindPercentile, fmt.Sprintf("order-statistic interval of the %s, clustered by task, two-sided %s", x.Name, level)
		if iv, ok := stat.QuantileInterval(e.Values, x.Rank, c.Confidence); ok {
			c.Interval = &iv
		} else if e.OK {
			c.note("Too few tasks, or too few " + c.Unit + " beyond this percentile, for an interval.")
		}
	default:
		c.Kind, c.Test = kindBare, "none: a "+x.Name+" is a fact about these rows"
		c.Rule = ruleValue
		c.note("A " + x.Name + " has no interval: decided by its value.")
	}
}

// clusters is the interval of a ratio of sums by task.
func (c *Criterion) clusters(e *expr.Evidence) {
	m, ok := stat.ClusterRatio(e.Clusters)
	if !ok {
		return
	}
	switch iv, has := m.Interval(c.Confidence); {
	case !has:
		c.note("All from one task: the spread between tasks is unknown.")
	case m.SE == 0 && m.Clusters < minClusters:
		c.note(fmt.Sprintf("Only %d tasks, all equal: no spread to estimate from. At least %d tasks are needed.", m.Clusters, minClusters))
	default:
		c.Interval = &iv
	}
}

// decideOwn applies the rule.
func (c *Criterion) decideOwn(x *expr.Criterion, e *expr.Evidence) {
	good := func(v float64) bool {
		sign := x.Compare(v)
		if x.AtLeast {
			sign = -sign
		}
		return sign < 0 || sign == 0 && !x.Strict
	}
	pass := func(ok bool) Verdict {
		if ok {
			return Pass
		}
		return Fail
	}
	switch {
	case c.Rule == ruleValue:
		c.Verdict = pass(good(e.Value))
	case c.Interval == nil:
	case c.Rule == ruleLower:
		c.Verdict = pass(good(c.Interval.Low))
	case c.Rule == ruleUpper:
		c.Verdict = pass(good(c.Interval.High))
	case good(c.Interval.Low) && good(c.Interval.High):
		c.Verdict = Pass
	case !good(c.Interval.Low) && !good(c.Interval.High):
		c.Verdict = Fail
	}
}

// absent lets nothing pass for which too much has no value: a sum, minimum or
// maximum is unknown with a single one missing, the rest beyond the share of
// episodes that may be lost.
func (c *Criterion) absent(e *expr.Evidence, form expr.Form, most float64) {
	if e.Missing == 0 {
		return
	}
	all := e.Known + e.Missing
	c.note(fmt.Sprintf("%d of %d rows have no value and are left out.", e.Missing, all))
	if c.Verdict == Pass && (form == expr.Bare || stat.CompareRatio(int64(e.Missing), int64(all), most) > 0) {
		c.Verdict = Inconclusive
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
