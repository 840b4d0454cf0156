package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/words"
)

// conclude names the winner and says which is better in what.
func (c *StrategyComparison) conclude() {
	c.Winner = c.findWinner()
	var parts []string
	if c.Winner != "" {
		parts = append(parts, fmt.Sprintf("%s is best overall: no other strategy has a better estimate of %s, and it is significantly better than each other in at least one of them", AgentName(c.Winner), c.Axes()))
	}
	if line := c.frontLine(); line != "" {
		parts = append(parts, line)
	}
	parts = append(parts, c.winsByMetric()...)
	if line := c.unpaired(); line != "" {
		parts = append(parts, line)
	}
	for i := range parts {
		parts[i] = words.UpperFirst(parts[i])
	}
	c.Sentence = strings.Join(parts, ". ") + "."
}

// AgentName is a strategy in a sentence: its name is of the user's making.
func AgentName(agent string) string {
	if name := words.Brief(strings.TrimSpace(words.Visible(agent)), 40); name != "" {
		return name
	}
	return "(no name)"
}

// Axes are what the Pareto front is of.
func (c *StrategyComparison) Axes() string {
	axes := []string{"success"}
	if priced(c.Results) {
		axes = append(axes, "cost")
	}
	if timed(c.Results) {
		axes = append(axes, "time")
	}
	return words.And(axes)
}

// frontLine says which strategies are Pareto-optimal, and which dominate the others.
func (c *StrategyComparison) frontLine() string {
	if c.Results[0].Success == nil {
		return "no trial of a task has a result of every strategy, so none is Pareto-optimal"
	}
	var on, off []string
	for i := range c.Results {
		e := &c.Results[i]
		if e.Front {
			on = append(on, AgentName(e.Agent))
			continue
		}
		by := slices.IndexFunc(c.Results, func(o StrategyResult) bool { return o.Front && o.dominates(e, priced(c.Results), timed(c.Results)) })
		off = append(off, fmt.Sprintf("%s is not (%s is at least as good in all and better in one)", AgentName(e.Agent), AgentName(c.Results[by].Agent)))
	}
	verb := "are"
	if len(on) == 1 {
		verb = "alone is"
	}
	line := fmt.Sprintf("By the estimates %s %s Pareto-optimal in %s", words.And(on), verb, c.Axes())
	if len(off) > 0 {
		line += "; " + strings.Join(off, ", ")
	}
	if !priced(c.Results) {
		line += "; cost is not known of all"
	}
	if !timed(c.Results) {
		line += "; time is not known of all"
	}
	return line
}

// winsByMetric says of each metric which strategies are better than which, and of those without a win that
// none is shown.
func (c *StrategyComparison) winsByMetric() []string {
	parts, apart, open, none := c.Standings(c.Metrics())
	if len(open) > 0 {
		parts = append(parts, "no significant difference in "+words.And(open))
	}
	if len(none) > 0 {
		parts = append(parts, "no claim about "+words.And(none)+", which is not known of every episode")
	}
	if len(apart) > 0 {
		parts = append(parts, "models disagree on the best strategy in "+words.And(apart)+": look at each")
	}
	return parts
}

// Standings say of each metric which strategies are better than which, and name the metrics that models disagree
// on, those without a significant difference and those that are not known.
func (c *StrategyComparison) Standings(metrics []string) (wins, apart, open, none []string) {
	for _, metric := range metrics {
		name, won := MetricWord(metric), c.Wins(metric, " is better than ", words.And)
		if won != "" {
			wins = append(wins, name+": "+won)
		}
		switch {
		case c.ModelsDisagree(metric):
			apart = append(apart, name)
		case won == "" && c.IsKnown(metric):
			open = append(open, name)
		case won == "":
			none = append(none, name)
		}
	}
	return wins, apart, open, none
}

// Wins says which strategies are significantly better than which in a metric; empty if none is.
func (c *StrategyComparison) Wins(metric, beat string, list func([]string) string) string {
	beats := map[string][]string{}
	var winners []string
	for _, k := range c.Pairs {
		if k.Metric != metric || k.Winner == "" {
			continue
		}
		if beats[k.Winner] == nil {
			winners = append(winners, k.Winner)
		}
		beats[k.Winner] = append(beats[k.Winner], AgentName(k.loser()))
	}
	var said []string
	for _, w := range winners {
		said = append(said, AgentName(w)+beat+list(beats[w]))
	}
	return strings.Join(said, ", ")
}

// loser is the other one of a claim that was won.
func (c *PairResult) loser() string {
	if c.Winner == c.First {
		return c.Second
	}
	return c.First
}

// Disagree is the verdict of a pooled claim where one model shows one winner, and
// another model the other: what all models show together is then no answer.
const Disagree = "models disagree"

// compareModels takes the winner from pooled claims that models disagree on.
func (s *Strategies) compareModels() {
	for i := range s.Pooled.Pairs {
		p := &s.Pooled.Pairs[i]
		with := map[string]string{} // the first model to show a winner
		for g := range s.Groups {
			for _, k := range s.Groups[g].Pairs {
				same := k.First == p.First && k.Second == p.Second || k.First == p.Second && k.Second == p.First
				if k.Metric == p.Metric && same && k.Winner != "" && with[k.Winner] == "" {
					with[k.Winner] = s.Groups[g].Name()
				}
			}
		}
		if len(with) == 2 {
			p.Winner, p.Verdict = "", Disagree
			p.Note = words.Join(" ", p.Note, fmt.Sprintf("%s is better with %s, %s with %s.", AgentName(p.First), with[p.First], AgentName(p.Second), with[p.Second]))
		}
	}
}

// Metrics are those that there are claims about, in order.
func (c *StrategyComparison) Metrics() (names []string) {
	for _, k := range c.Pairs {
		if !slices.Contains(names, k.Metric) {
			names = append(names, k.Metric)
		}
	}
	return names
}

// MetricWord is a metric in a sentence.
func MetricWord(metric string) string {
	switch metric {
	case "solved":
		return "success"
	case "elapsed":
		return "time"
	case "tool_calls":
		return "tool calls"
	case "contract_valid":
		return "valid outputs"
	}
	return metric
}

// unpaired names the pairs without a common task.
func (c *StrategyComparison) unpaired() string {
	var pairs []string
	for i, first := range c.Results {
		for _, second := range c.Results[i+1:] {
			if !slices.ContainsFunc(c.Pairs, func(k PairResult) bool { return k.First == first.Agent && k.Second == second.Agent }) {
				pairs = append(pairs, AgentName(first.Agent)+" and "+AgentName(second.Agent))
			}
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return "No trial of a task has results of both " + strings.Join(pairs, ", nor of ")
}

// Name is a contest in a table or a line.
func (c *StrategyComparison) Name() string {
	if c.Provider == "" && c.Model == "" {
		return "all models"
	}
	return words.Brief(c.Provider, 40) + "/" + words.Brief(c.Model, 60)
}

// note says what a reader of the claims must know.
func (s *Strategies) note(more int, sessions bool) {
	say := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }
	say("Strategies are compared over the same trials of the same tasks, with the same model; pairs without a result on either side are left out. "+
		"One is better where p, adjusted for all claims about the metric (Holm), is at most %s and the 95%% interval lies on its side of 0; "+
		"the interval itself is not widened for their number, so it may exclude 0 without being significant.", words.Trimmed(s.Alpha, 4))
	say("A step is a model turn, so a plan that fans out takes many; steps are compared where both solved the task, everything else over all pairs.")
	if slices.ContainsFunc(s.Groups, func(c StrategyComparison) bool {
		return slices.ContainsFunc(c.Results, func(e StrategyResult) bool { return len(e.Candidates) > 1 })
	}) {
		say("Where a strategy has several candidates of one model, each is paired with each of the other strategy's.")
	}
	if s.Pooled != nil && slices.ContainsFunc(s.Groups, func(c StrategyComparison) bool { return len(c.Results) < len(s.Pooled.Results) }) {
		say("Not every strategy was run with every model: what is said of two over all models is of those that both were run with.")
	}
	if sessions {
		say("The tasks of a session are one conversation: they count as one task.")
	}
	lost := 0
	for _, g := range s.Groups {
		for _, e := range g.Results {
			lost += e.WithoutResult
		}
	}
	if lost > 0 {
		say("%s of these strategies have no result and are left out.", words.Plural(lost, "episode"))
	}
	if more > 0 {
		say("%d more strategies or models are left out for their number.", more)
	}
}

// IsKnown says that there is a claim about a metric; apart that models disagree on one.
func (c *StrategyComparison) IsKnown(metric string) bool {
	return slices.ContainsFunc(c.Pairs, func(k PairResult) bool { return k.Metric == metric && k.P != nil })
}

// ModelsDisagree says that one model shows one winner in a metric, and another model
// another.
func (c *StrategyComparison) ModelsDisagree(metric string) bool {
	return slices.ContainsFunc(c.Pairs, func(k PairResult) bool { return k.Metric == metric && k.Verdict == Disagree })
}
