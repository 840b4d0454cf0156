package view

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// StrategyView is a contest as a page shows it.
type StrategyView struct {
	Name, Sentence, Winner string
	Entrants               []resultView
	Claims                 []pairView
}

type resultView struct {
	Agent, Candidates, Episodes, Front     string
	Success, SuccessInterval               string
	Cost, CostInterval, Time, TimeInterval string
}

type pairView struct {
	Metric, Pair, First, Second, Change, Relative, Interval, P, N, Test, Verdict, Note string
	// Class is win where somebody wins.
	Class string
}

// StrategyViews are the contests, the one over all models first.
func StrategyViews(r model.Report) (views []StrategyView) {
	if r.Strategies == nil {
		return nil
	}
	for _, c := range r.Strategies.All() {
		v := StrategyView{Name: c.Name(), Sentence: words.Clip(c.Sentence, 1500), Winner: c.Winner}
		for _, e := range c.Results {
			v.Entrants = append(v.Entrants, entrantViewOf(e))
		}
		last := ""
		for _, k := range byMetric(c) {
			line := claimViewOf(k)
			if line.Metric == last {
				line.Metric = ""
			} else {
				last = line.Metric
			}
			v.Claims = append(v.Claims, line)
		}
		views = append(views, v)
	}
	return views
}

func entrantViewOf(e model.StrategyResult) resultView {
	v := resultView{
		Agent: model.AgentName(e.Agent), Candidates: words.Brief(strings.Join(e.Candidates, ", "), 200), Episodes: words.Thousands(int64(e.Episodes)), Front: "no",
	}
	v.Success, v.SuccessInterval = Estimate("share", e.Success)
	v.Cost, v.CostInterval = Estimate("nano-USD", e.Cost)
	v.Time, v.TimeInterval = Estimate("us", e.Time)
	if e.WithoutResult > 0 {
		v.Episodes += fmt.Sprintf(" (%s without a result)", words.Thousands(int64(e.WithoutResult)))
	}
	switch {
	case e.Success == nil:
		v.Front = "–"
	case e.Front:
		v.Front = "yes"
	}
	return v
}

// byMetric are the claims sorted by metric, and by pair within one.
func byMetric(c *model.StrategyComparison) (list []model.PairResult) {
	for _, m := range c.Metrics() {
		for _, k := range c.Pairs {
			if k.Metric == m {
				list = append(list, k)
			}
		}
	}
	return list
}

func claimViewOf(c model.PairResult) pairView {
	v := pairView{
		Metric: words.UpperFirst(model.MetricWord(c.Metric)), Pair: model.AgentName(c.First) + " → " + model.AgentName(c.Second), First: words.InUnit(c.Unit, c.FirstValue), Second: words.InUnit(c.Unit, c.SecondValue),
		Change: words.Signed(c.Unit, c.Effect) + words.Points(c.Unit, c.Effect), Interval: words.SpanOf(c.Unit, c.Interval), P: words.Chance(c.Adjusted),
		N: words.Thousands(int64(c.N)) + " / " + words.Thousands(int64(c.Tasks)), Test: c.Test, Verdict: verdictOf(c), Note: words.Clip(c.Note, 300),
	}
	if c.Relative != nil && c.Unit != "share" {
		v.Relative = words.Signed("share", c.Relative) + "%"
	}
	if c.Winner != "" {
		v.Class = "win"
	}
	return v
}

// verdictOf is the verdict with a name that is fit to show.
func verdictOf(c model.PairResult) string {
	if c.Winner == "" {
		return c.Verdict
	}
	return model.AgentName(c.Winner) + " wins"
}

// MaxContestLines is how many contests the Markdown report and the terminal show.
const MaxContestLines = 6

// Estimate is the value and the interval of e in the words of its unit; a dash without
// one, and unknown for a cost.
func Estimate(unit string, e *model.Estimate) (value, interval string) {
	switch {
	case e == nil && unit == "nano-USD":
		return words.Unknown, "–"
	case e == nil:
		return "–", "–"
	case e.Interval == nil:
		return words.InUnit(unit, &e.Value), "–"
	case unit == "share":
		return words.Percent(e.Value), model.Share{Interval: e.Interval}.IntervalText()
	}
	return words.InUnit(unit, &e.Value), words.InUnit(unit, &e.Interval.Low) + "–" + words.InUnit(unit, &e.Interval.High)
}
