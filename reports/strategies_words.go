package reports

import (
	"fmt"
	"slices"
	"strings"
)

// conclude names the winner and says who wins what.
func (c *Contest) conclude() {
	c.Winner = c.findWinner()
	var parts []string
	if c.Winner != "" {
		parts = append(parts, fmt.Sprintf("%s wins overall: by the estimates it is second to none in %s, and it is shown to be better than each other in one of them at least", agentName(c.Winner), c.axes()))
	}
	if line := c.frontLine(); line != "" {
		parts = append(parts, line)
	}
	parts = append(parts, c.winsByMetric()...)
	if line := c.strangers(); line != "" {
		parts = append(parts, line)
	}
	for i := range parts {
		parts[i] = upperFirst(parts[i])
	}
	c.Sentence = strings.Join(parts, ". ") + "."
}

// agentName is a strategy in a sentence: its name is of the user's making.
func agentName(agent string) string {
	if name := brief(strings.TrimSpace(visible(agent)), 40); name != "" {
		return name
	}
	return "(no name)"
}

// axes are what the front is of.
func (c *Contest) axes() string {
	if priced(c.Entrants) {
		return "success, cost and time"
	}
	return "success and time"
}

// frontLine says who is on the front, and who is not for whose sake.
func (c *Contest) frontLine() string {
	if c.Entrants[0].Success == nil {
		return "no trial of a task has a result of every strategy, so there is no front"
	}
	var on, off []string
	for i := range c.Entrants {
		e := &c.Entrants[i]
		if e.Front {
			on = append(on, agentName(e.Agent))
			continue
		}
		by := slices.IndexFunc(c.Entrants, func(o Entrant) bool { return o.Front && o.dominates(e, priced(c.Entrants)) })
		off = append(off, fmt.Sprintf("%s is not (%s is no worse in any and better in one)", agentName(e.Agent), agentName(c.Entrants[by].Agent)))
	}
	verb := "are"
	if len(on) == 1 {
		verb = "is alone"
	}
	line := fmt.Sprintf("By the estimates %s %s on the front of %s", and(on), verb, c.axes())
	if len(off) > 0 {
		line += "; " + strings.Join(off, ", ")
	}
	if !priced(c.Entrants) {
		line += "; cost is not known of all"
	}
	return line
}

// winsByMetric says of each metric who beats whom, and of those without a win that
// none is shown.
func (c *Contest) winsByMetric() (parts []string) {
	var apart, open, none []string
	for _, metric := range c.metrics() {
		wins := c.wins(metric, " beats ", and)
		if wins != "" {
			parts = append(parts, metricWord(metric)+": "+wins)
		}
		switch {
		case c.apart(metric):
			apart = append(apart, metricWord(metric))
		case wins == "" && c.known(metric):
			open = append(open, metricWord(metric))
		case wins == "":
			none = append(none, metricWord(metric))
		}
	}
	if len(open) > 0 {
		parts = append(parts, "no difference shown in "+and(open))
	}
	if len(none) > 0 {
		parts = append(parts, "no claim about "+and(none)+", which is not known of every episode")
	}
	if len(apart) > 0 {
		parts = append(parts, "models disagree on who wins in "+and(apart)+": look at each")
	}
	return parts
}

// wins says who beats whom in a metric; empty where nobody is shown to.
func (c *Contest) wins(metric, beat string, list func([]string) string) string {
	beats := map[string][]string{}
	var winners []string
	for _, k := range c.Claims {
		if k.Metric != metric || k.Winner == "" {
			continue
		}
		if beats[k.Winner] == nil {
			winners = append(winners, k.Winner)
		}
		beats[k.Winner] = append(beats[k.Winner], agentName(k.loser()))
	}
	var said []string
	for _, w := range winners {
		said = append(said, agentName(w)+beat+list(beats[w]))
	}
	return strings.Join(said, ", ")
}

// loser is the other one of a claim that was won.
func (c *Claim) loser() string {
	if c.Winner == c.First {
		return c.Second
	}
	return c.First
}

// disagree is the verdict of a pooled claim where one model shows one winner, and
// another model the other: what all models show together is then no answer.
const disagree = "models disagree"

// compareModels takes the winner from pooled claims that models disagree on.
func (s *Strategies) compareModels() {
	for i := range s.Pooled.Claims {
		p := &s.Pooled.Claims[i]
		with := map[string]string{} // the first model to show a winner
		for g := range s.Groups {
			for _, k := range s.Groups[g].Claims {
				same := k.First == p.First && k.Second == p.Second || k.First == p.Second && k.Second == p.First
				if k.Metric == p.Metric && same && k.Winner != "" && with[k.Winner] == "" {
					with[k.Winner] = s.Groups[g].name()
				}
			}
		}
		if len(with) == 2 {
			p.Winner, p.Verdict = "", disagree
			p.Note = join(" ", p.Note, fmt.Sprintf("%s wins with %s, %s with %s.", agentName(p.First), with[p.First], agentName(p.Second), with[p.Second]))
		}
	}
}

// metrics are those that there are claims about, in order.
func (c *Contest) metrics() (names []string) {
	for _, k := range c.Claims {
		if !slices.Contains(names, k.Metric) {
			names = append(names, k.Metric)
		}
	}
	return names
}

// metricWord is a metric in a sentence.
func metricWord(metric string) string {
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

// strangers names the pairs without a common task.
func (c *Contest) strangers() string {
	var pairs []string
	for i, first := range c.Entrants {
		for _, second := range c.Entrants[i+1:] {
			if !slices.ContainsFunc(c.Claims, func(k Claim) bool { return k.First == first.Agent && k.Second == second.Agent }) {
				pairs = append(pairs, agentName(first.Agent)+" and "+agentName(second.Agent))
			}
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	return "No trial of a task has results of both " + strings.Join(pairs, ", nor of ")
}

// name is a contest in a table or a line.
func (c *Contest) name() string {
	if c.Provider == "" && c.Model == "" {
		return "all models"
	}
	return brief(c.Provider, 40) + "/" + brief(c.Model, 60)
}

// note says what a reader of the claims must know.
func (s *Strategies) note(more int, sessions bool) {
	say := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }
	say("Strategies are compared over the same trials of the same tasks, with the same model; pairs without a result on either side are left out. "+
		"One wins where p, adjusted for all claims about the metric (Holm), is at most %s and the 95%% interval lies on its side of 0; "+
		"the interval itself is not widened for their number, so it may miss 0 without a win.", trimmed(s.Alpha, 4))
	say("A step is a model turn, so a plan that fans out takes many; steps are compared where both solved the task, everything else over all pairs.")
	if slices.ContainsFunc(s.Groups, func(c Contest) bool {
		return slices.ContainsFunc(c.Entrants, func(e Entrant) bool { return len(e.Candidates) > 1 })
	}) {
		say("Where a strategy has several candidates of one model, each is paired with each of the other strategy's.")
	}
	if s.Pooled != nil && slices.ContainsFunc(s.Groups, func(c Contest) bool { return len(c.Entrants) < len(s.Pooled.Entrants) }) {
		say("Not every strategy was run with every model: what is said of two over all models is of those that both were run with.")
	}
	if sessions {
		say("The tasks of a session are one conversation: they count as one task.")
	}
	lost := 0
	for _, g := range s.Groups {
		for _, e := range g.Entrants {
			lost += e.WithoutResult
		}
	}
	if lost > 0 {
		say("%s of these strategies have no result and are left out.", plural(lost, "episode"))
	}
	if more > 0 {
		say("%d more strategies or models are left out for their number.", more)
	}
}

// known says that there is a claim about a metric; apart that models disagree on one.
func (c *Contest) known(metric string) bool {
	return slices.ContainsFunc(c.Claims, func(k Claim) bool { return k.Metric == metric && k.P != nil })
}

func (c *Contest) apart(metric string) bool {
	return slices.ContainsFunc(c.Claims, func(k Claim) bool { return k.Metric == metric && k.Verdict == disagree })
}
