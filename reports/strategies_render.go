package reports

import (
	"fmt"
	"strings"
)

// contestView is a contest as a page shows it.
type contestView struct {
	Name, Sentence, Winner string
	Entrants               []entrantView
	Claims                 []claimView
}

type entrantView struct {
	Agent, Candidates, Episodes, Front     string
	Success, SuccessInterval               string
	Cost, CostInterval, Time, TimeInterval string
}

type claimView struct {
	Metric, Pair, First, Second, Change, Relative, Interval, P, N, Test, Verdict, Note string
	// Class is win where somebody wins.
	Class string
}

// strategyViews are the contests, the one over all models first.
func strategyViews(r Report) (views []contestView) {
	if r.Strategies == nil {
		return nil
	}
	for _, c := range r.Strategies.contests() {
		v := contestView{Name: c.name(), Sentence: clip(c.Sentence, 1500), Winner: c.Winner}
		for _, e := range c.Entrants {
			v.Entrants = append(v.Entrants, e.view())
		}
		last := ""
		for _, k := range c.byMetric() {
			line := k.view()
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

func (e Entrant) view() entrantView {
	v := entrantView{
		Agent: agentName(e.Agent), Candidates: brief(strings.Join(e.Candidates, ", "), 200), Episodes: thousands(int64(e.Episodes)), Front: "no",
		Success: e.Success.share(), SuccessInterval: e.Success.shareInterval(),
		Cost: e.Cost.usd(), CostInterval: e.Cost.usdInterval(), Time: e.Time.time(), TimeInterval: e.Time.timeInterval(),
	}
	if e.WithoutResult > 0 {
		v.Episodes += fmt.Sprintf(" (%s without a result)", thousands(int64(e.WithoutResult)))
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
func (c *Contest) byMetric() (list []Claim) {
	for _, m := range c.metrics() {
		for _, k := range c.Claims {
			if k.Metric == m {
				list = append(list, k)
			}
		}
	}
	return list
}

func (c Claim) view() claimView {
	v := claimView{
		Metric: upperFirst(metricWord(c.Metric)), Pair: agentName(c.First) + " → " + agentName(c.Second), First: inUnit(c.Unit, c.FirstValue), Second: inUnit(c.Unit, c.SecondValue),
		Change: signed(c.Unit, c.Effect) + points(c.Unit, c.Effect), Interval: spanOf(c.Unit, c.Interval), P: chance(c.Adjusted),
		N: thousands(int64(c.N)) + " / " + thousands(int64(c.Tasks)), Test: c.Test, Verdict: c.words(), Note: clip(c.Note, 300),
	}
	if c.Relative != nil && c.Unit != "share" {
		v.Relative = signed("share", c.Relative) + "%"
	}
	if c.Winner != "" {
		v.Class = "win"
	}
	return v
}

// words are the verdict with a name that is fit to show.
func (c Claim) words() string {
	if c.Winner == "" {
		return c.Verdict
	}
	return agentName(c.Winner) + " wins"
}

// maxContestLines is how many contests the Markdown report and the terminal show.
const maxContestLines = 6

func (e *Estimate) share() string {
	if e == nil {
		return "–"
	}
	return percent(e.Value)
}

func (e *Estimate) shareInterval() string {
	if e == nil || e.Interval == nil {
		return "–"
	}
	return bound(e.Interval.Low, 0) + "–" + bound(e.Interval.High, 0) + "%"
}

func (e *Estimate) usd() string {
	if e == nil {
		return unknown
	}
	return usd(e.Value)
}

func (e *Estimate) usdInterval() string {
	if e == nil || e.Interval == nil {
		return "–"
	}
	return usd(e.Interval.Low) + "–" + usd(e.Interval.High)
}

func (e *Estimate) time() string {
	if e == nil {
		return "–"
	}
	return duration(e.Value)
}

func (e *Estimate) timeInterval() string {
	if e == nil || e.Interval == nil {
		return "–"
	}
	return duration(e.Interval.Low) + "–" + duration(e.Interval.High)
}
