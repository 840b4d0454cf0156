package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// frontier are the candidates, cheapest first, of which no other solves as large a
// share for less, or a larger one for as little: the rest are never the best
// choice. Those without a known cost have no place.
func frontier(r *model.Report) []int {
	var all []int
	for i, c := range r.Candidates {
		if c.CostPerSolved != nil {
			all = append(all, i)
		}
	}
	cost := func(i int) float64 { return *r.Candidates[i].CostPerSolved }
	solved := func(i int) float64 { return *r.Candidates[i].Success.Value }
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Or(cmp.Compare(cost(a), cost(b)), cmp.Compare(solved(b), solved(a))) })
	var front []int
	for _, i := range all {
		last := len(front) - 1
		if last < 0 || solved(i) > solved(front[last]) || solved(i) == solved(front[last]) && cost(i) == cost(front[last]) {
			front = append(front, i)
		}
	}
	return front
}

func costTitle(r *model.Report) string {
	priced := 0
	for _, c := range r.Candidates {
		if c.CostPerSolved != nil {
			priced++
		}
	}
	front, names := frontier(r), labels(*r, 24)
	switch {
	case priced == 0:
		return "No cost per solved task is known"
	case len(r.Candidates) == 1:
		return fmt.Sprintf("A solved task costs %s", words.DollarsOf(r.Candidates[0].CostPerSolved))
	case priced == 1:
		return fmt.Sprintf("Only the cost of %s is known", names[front[0]])
	case len(front) == 1:
		return names[front[0]] + " solves most and is cheapest"
	case len(front) == priced:
		return fmt.Sprintf("All %d on the efficient frontier: more success costs more", priced)
	}
	return "On the efficient frontier: " + listed(names, front, 3)
}

// listed lists at most n of the names.
func listed(names []string, of []int, n int) string {
	var parts []string
	for _, i := range of[:min(n, len(of))] {
		parts = append(parts, names[i])
	}
	s := strings.Join(parts, ", ")
	if more := len(of) - n; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

func costAlt(r *model.Report) string {
	text := alt(r, "Cost per solved task and share solved", func(c model.Candidate) string {
		if c.Success.Value == nil {
			return ""
		}
		return words.DollarsOf(c.CostPerSolved) + " and " + c.Success.Rate()
	})
	if front := frontier(r); len(front) > 0 {
		text += " On the frontier, cheapest first: " + listed(altNames(r), front, 12) + "."
	}
	return text
}

// costs sets the cost of a solved task against the share solved, with the
// frontier as a dashed line.
func (t theme) costs(r model.Report) drawing {
	front, floor := frontier(&r), 1.0
	g := scatter{label: "cost per solved task", format: axisUSD}
	below := table{columns: []column{{"per solved task", 238, nil}, {"solved", 292, nil}, {"frontier", 326, stroke(t.frontLine(), 8, 0)}}}
	for i, name := range t.labels(r, 24) {
		k := r.Candidates[i]
		line := tableLine{name: name, cells: []string{words.DollarsOf(k.CostPerSolved), k.Success.Rate()}}
		if slices.Contains(front, i) {
			line.cells = append(line.cells, "yes")
		}
		if k.CostPerSolved != nil {
			col, shape := t.shape(i)
			line.mark = glyph(col, shape)
			g.dots = append(g.dots, dot{col, shape, *k.CostPerSolved, *k.Success.Value, nil, k.Success.Interval, slices.Contains(front, i)})
			floor = min(floor, k.Success.Interval.Low)
		}
		below.lines = append(below.lines, line)
	}
	slices.SortStableFunc(g.dots, func(a, b dot) int { return cmp.Compare(a.x, b.x) })
	return t.scatters([]scatter{g}, floor, below)
}

// axisUSD formats a round number of nano-USD.
func axisUSD(nano float64) string {
	if nano >= 1e12 {
		return "$" + scaled(nano/1e9)
	}
	return words.USD(nano)
}
