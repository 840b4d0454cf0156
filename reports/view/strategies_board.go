package view

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// Bounds of a win table: blocks of pairs stand under each other.
const (
	BlockPairs = 3
	maxBlocks  = 2
)

// WinTable is the result of a comparison of strategies: by metric and pair, by how much the
// second strategy differs from the first, and who wins.
type WinTable struct {
	Name  string
	Pairs []string
	Rows  []winRow
}

type winRow struct {
	Metric string
	Cells  []winCell
	Who    string
}

// winCell is an effect with its interval; Won says that one of the two wins.
type winCell struct {
	Text string
	Won  bool
}

// Plain is the cell where no other means marks a win.
func (c winCell) Plain() string {
	if c.Won {
		return c.Text + "*"
	}
	return c.Text
}

// WinLegend says how to read a win table.
const WinLegend = "second strategy minus first, with the paired 95% interval"

// leading are the metrics that strategies are compared on first.
func leading() []string { return []string{"solved", "steps", "cost", "elapsed"} }

// WinTables are the blocks of all contests shown, in order.
func WinTables(s *model.Strategies) (list []WinTable) {
	for i, c := range s.All() {
		if i == MaxContestLines {
			break
		}
		name := c.Name()
		if c != s.Pooled {
			name = Tell(s, c)
		}
		pairs := pairs(c)
		for block := range slices.Chunk(pairs[:min(len(pairs), BlockPairs*maxBlocks)], BlockPairs) {
			list = append(list, winTable(c, words.Brief(name, 24), block))
		}
	}
	return list
}

// pairs are those that there are claims about, in order.
func pairs(c *model.StrategyComparison) (pairs [][2]string) {
	for _, k := range c.Pairs {
		if p := [2]string{k.First, k.Second}; !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

func winTable(c *model.StrategyComparison, name string, pairs [][2]string) WinTable {
	m := WinTable{Name: name}
	for _, p := range pairs {
		m.Pairs = append(m.Pairs, words.Brief(model.AgentName(p[0]), 14)+" → "+words.Brief(model.AgentName(p[1]), 14))
	}
	for _, metric := range leading() {
		row := winRow{Metric: model.MetricWord(metric), Who: who(c, metric)}
		for _, p := range pairs {
			i := slices.IndexFunc(c.Pairs, func(k model.PairResult) bool { return k.Metric == metric && k.First == p[0] && k.Second == p[1] })
			k := c.Pairs[i]
			unit, one := scale(k.Unit)
			if !strings.Contains(row.Metric, ",") && unit != "" {
				row.Metric += ", " + unit
			}
			row.Cells = append(row.Cells, winCell{cell(k, one), k.Winner != ""})
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
func cell(c model.PairResult, one float64) string {
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

// winner beats every other strategy in a metric; empty without one.
func winner(c *model.StrategyComparison, metric string) string {
	beaten := map[string]int{}
	for _, k := range c.Pairs {
		if k.Metric == metric && k.Winner != "" {
			beaten[k.Winner]++
		}
	}
	for _, e := range c.Results {
		if beaten[e.Agent] == len(c.Results)-1 {
			return e.Agent
		}
	}
	return ""
}

// who wins in a metric, for a narrow column.
func who(c *model.StrategyComparison, metric string) string {
	if agent := winner(c, metric); agent != "" {
		return words.Brief(model.AgentName(agent), 14)
	}
	said := c.Wins(metric, " > ", func(names []string) string { return strings.Join(names, " and ") })
	switch {
	case c.ModelsDisagree(metric):
		return words.Join(", ", words.Brief(said, 60), model.Disagree)
	case said != "":
		return words.Brief(said, 60)
	case c.IsKnown(metric):
		return "none shown"
	}
	return "not known"
}

// Answer says in a line who wins on success, steps, cost and time.
func Answer(c *model.StrategyComparison) string {
	if len(c.Pairs) == 0 {
		return "no trial has a result of two strategies"
	}
	swept := map[string][]string{}
	var parts, rest []string
	for _, metric := range leading() {
		if agent := winner(c, metric); agent != "" {
			swept[agent] = append(swept[agent], model.MetricWord(metric))
		} else {
			rest = append(rest, metric)
		}
	}
	wins, apart, open, none := c.Standings(rest)
	for _, e := range c.Results {
		if metrics := swept[e.Agent]; metrics != nil {
			parts = append(parts, model.AgentName(e.Agent)+" wins on "+words.And(metrics))
		}
	}
	parts = append(parts, wins...)
	for _, p := range []struct {
		words   string
		metrics []string
	}{{"models disagree on ", apart}, {"no difference shown in ", open}, {"no claim about ", none}} {
		if p.metrics != nil {
			parts = append(parts, p.words+words.And(p.metrics))
		}
	}
	return strings.Join(parts, "; ")
}

// Tell is what tells a group from the others: its model, or all of its name.
func Tell(s *model.Strategies, g *model.StrategyComparison) string {
	for i := range s.Groups {
		if o := &s.Groups[i]; o != g && o.Model == g.Model {
			return g.Name()
		}
	}
	return words.Brief(g.Model, 60)
}
