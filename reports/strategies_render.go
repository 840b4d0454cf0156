package reports

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/reports/stat"
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

func spanOf(unit string, iv *stat.Interval) string {
	if iv == nil {
		return "–"
	}
	return signed(unit, &iv.Low) + " to " + signed(unit, &iv.High)
}

// strategies writes the section of the Markdown report.
func (b *budget) strategies(r Report) {
	if r.Strategies == nil {
		return
	}
	contests := r.Strategies.contests()
	b.line("**Strategies**, %s: **%s**", md(contests[0].name()), md(contests[0].answer()))
	b.line("")
	b.boards(r.Strategies)
	more := ""
	if n := len(contests) - maxContestLines; n > 0 {
		more = "; " + plural(n, "model") + " more in the HTML report"
	}
	b.line("%s%s.", upperFirst(boardLegend)+"; a win is bold", more)
	b.line("")
	b.fold("Strategies, pair by pair", func() {
		for i, v := range strategyViews(r) {
			if i == maxContestLines {
				break
			}
			b.contest(v)
		}
		for _, n := range r.Strategies.Notes {
			b.line("> %s  ", md(clip(n, 600)))
		}
		b.line("")
	})
}

// maxContestLines is how many contests the Markdown report and the terminal show.
const maxContestLines = 6

func (b *budget) contest(v contestView) {
	b.line("**%s**: %s", md(v.Name), md(clip(v.Sentence, 1200)))
	b.line("")
	b.line("| Strategy | Episodes | Solved | Cost | Time | Front |")
	b.line("|:--|--:|--:|--:|--:|:--|")
	for _, e := range v.Entrants {
		b.line("| %s | %s | **%s** (%s) | %s (%s) | %s (%s) | %s |", md(e.Agent), e.Episodes, e.Success, e.SuccessInterval, md(e.Cost), md(e.CostInterval), e.Time, e.TimeInterval, e.Front)
	}
	b.line("")
	b.line("| Metric | Strategies | First | Second | Difference | Interval | p | pairs / tasks | Verdict |")
	b.line("|:--|:--|--:|--:|--:|--:|--:|--:|:--|")
	for _, k := range v.Claims {
		verdict := md(k.Verdict)
		if k.Class != "" {
			verdict = "**" + verdict + "**"
		}
		b.line("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", md(k.Metric), md(k.Pair), md(k.First), md(k.Second),
			md(join(", ", k.Change, k.Relative)), md(k.Interval), md(k.P), k.N, verdict)
	}
	b.line("")
}
