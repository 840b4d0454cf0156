package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of a board: blocks of pairs stand under each other.
const (
	blockPairs = 3
	maxBlocks  = 2
)

// board is the answer of a contest at a glance: by metric and pair, by how much the
// second strategy differs from the first, and who wins.
type board struct {
	Name  string
	Pairs []string
	Rows  []boardRow
}

type boardRow struct {
	Metric string
	Cells  []boardCell
	Who    string
}

// boardCell is an effect with its interval; Won says that one of the two wins.
type boardCell struct {
	Text string
	Won  bool
}

// text is the cell where no other means marks a win.
func (c boardCell) text() string {
	if c.Won {
		return c.Text + "*"
	}
	return c.Text
}

// boardLegend says how to read a board.
const boardLegend = "second strategy minus first, with the paired 95% interval"

// leading are the metrics that strategies are compared on first.
func leading() []string { return []string{"solved", "steps", "cost", "elapsed"} }

// boards are the blocks of all contests shown, in order.
func (s *Strategies) boards() (list []board) {
	for i, c := range s.contests() {
		if i == maxContestLines {
			break
		}
		name := c.name()
		if c != s.Pooled {
			name = s.tell(c)
		}
		pairs := c.pairs()
		for block := range slices.Chunk(pairs[:min(len(pairs), blockPairs*maxBlocks)], blockPairs) {
			list = append(list, c.board(brief(name, 24), block))
		}
	}
	return list
}

// pairs are those that there are claims about, in order.
func (c *Contest) pairs() (pairs [][2]string) {
	for _, k := range c.Claims {
		if p := [2]string{k.First, k.Second}; !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

func (c *Contest) board(name string, pairs [][2]string) board {
	m := board{Name: name}
	for _, p := range pairs {
		m.Pairs = append(m.Pairs, brief(agentName(p[0]), 14)+" → "+brief(agentName(p[1]), 14))
	}
	for _, metric := range leading() {
		row := boardRow{Metric: metricWord(metric), Who: c.who(metric)}
		for _, p := range pairs {
			i := slices.IndexFunc(c.Claims, func(k Claim) bool { return k.Metric == metric && k.First == p[0] && k.Second == p[1] })
			k := c.Claims[i]
			unit, one := scale(k.Unit)
			if !strings.Contains(row.Metric, ",") && unit != "" {
				row.Metric += ", " + unit
			}
			row.Cells = append(row.Cells, boardCell{k.cell(one), k.Winner != ""})
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// scale is the unit of a row that keeps its cells short, in that of claims.
func scale(unit string) (name string, one float64) {
	switch unit {
	case "share":
		return "pts", 0.01
	case "nano-USD":
		return "cents", 1e7
	case "us":
		return "s", 1e6
	}
	return "", 1
}

// cell is the effect and its interval to three digits of the largest.
func (c Claim) cell(one float64) string {
	if c.Effect == nil {
		return "–"
	}
	most := math.Abs(*c.Effect)
	if c.Interval != nil {
		most = max(most, math.Abs(c.Interval.Low), math.Abs(c.Interval.High))
	}
	decimals := 1
	if most > 0 {
		decimals = min(max(0, 2-int(math.Floor(math.Log10(most/one)))), 6)
	}
	show := func(v float64) string {
		s := strconv.FormatFloat(v/one, 'f', decimals, 64)
		switch {
		case !strings.ContainsAny(s, "123456789"):
			return "0"
		case v > 0:
			return "+" + s
		}
		return s
	}
	if c.Interval == nil {
		return show(*c.Effect)
	}
	return fmt.Sprintf("%s (%s…%s)", show(*c.Effect), show(c.Interval.Low), show(c.Interval.High))
}

// sweeper beats every other strategy in a metric; empty without one.
func (c *Contest) sweeper(metric string) string {
	beaten := map[string]int{}
	for _, k := range c.Claims {
		if k.Metric == metric && k.Winner != "" {
			beaten[k.Winner]++
		}
	}
	for _, e := range c.Entrants {
		if beaten[e.Agent] == len(c.Entrants)-1 {
			return e.Agent
		}
	}
	return ""
}

// who wins in a metric, for a narrow column.
func (c *Contest) who(metric string) string {
	if agent := c.sweeper(metric); agent != "" {
		return brief(agentName(agent), 14)
	}
	said := c.wins(metric, " > ", func(names []string) string { return strings.Join(names, " and ") })
	switch {
	case c.apart(metric):
		return join(", ", brief(said, 60), disagree)
	case said != "":
		return brief(said, 60)
	case c.known(metric):
		return "none shown"
	}
	return "not known"
}

// answer says in a line who wins on success, steps, cost and time.
func (c *Contest) answer() string {
	if len(c.Claims) == 0 {
		return "no trial has a result of two strategies"
	}
	swept := map[string][]string{}
	var parts, some, apart, open, none []string
	for _, metric := range leading() {
		agent, said := c.sweeper(metric), c.wins(metric, " beats ", and)
		if agent != "" {
			swept[agent] = append(swept[agent], metricWord(metric))
			continue
		}
		if said != "" {
			some = append(some, metricWord(metric)+": "+said)
		}
		switch {
		case c.apart(metric):
			apart = append(apart, metricWord(metric))
		case said == "" && c.known(metric):
			open = append(open, metricWord(metric))
		case said == "":
			none = append(none, metricWord(metric))
		}
	}
	for _, e := range c.Entrants {
		if metrics := swept[e.Agent]; metrics != nil {
			parts = append(parts, agentName(e.Agent)+" wins on "+and(metrics))
		}
	}
	parts = append(parts, some...)
	for _, p := range []struct {
		words   string
		metrics []string
	}{{"models disagree on ", apart}, {"no difference shown in ", open}, {"no claim about ", none}} {
		if p.metrics != nil {
			parts = append(parts, p.words+and(p.metrics))
		}
	}
	return strings.Join(parts, "; ")
}

// tell is what tells a group from the others: its model, or all of its name.
func (s *Strategies) tell(g *Contest) string {
	for i := range s.Groups {
		if o := &s.Groups[i]; o != g && o.Model == g.Model {
			return g.name()
		}
	}
	return brief(g.Model, 60)
}
