package plot

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// frontier returns the Pareto-optimal candidates, cheapest first: those for which no
// other candidate solves as large a share for less, or a larger one for as little.
// Figures with the same text are equal. A candidate without a known cost is not
// compared.
func frontier(r *model.Report) (front []int) {
	all := priced(r)
	text := func(i int) string {
		return words.Dollars(r.Candidates[i].CostPerSolved) + " " + r.Candidates[i].Success.Rate()
	}
	for _, i := range all {
		a := r.Candidates[i]
		if !slices.ContainsFunc(all, func(k int) bool {
			b := r.Candidates[k]
			return *b.CostPerSolved <= *a.CostPerSolved && *b.Success.Value >= *a.Success.Value && text(i) != text(k)
		}) {
			front = append(front, i)
		}
	}
	return front
}

// priced are the candidates whose cost is known, cheapest first.
func priced(r *model.Report) (all []int) {
	for i, c := range r.Candidates {
		if c.CostPerSolved != nil {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(*r.Candidates[a].CostPerSolved, *r.Candidates[b].CostPerSolved), cmp.Compare(*r.Candidates[b].Success.Value, *r.Candidates[a].Success.Value))
	})
	return all
}

func costTitle(r *model.Report) string {
	known, names := priced(r), labels(*r, 24)
	switch {
	case len(known) == 0:
		return ""
	case len(r.Candidates) == 1:
		return fmt.Sprintf("A solved task costs %s", words.Dollars(r.Candidates[0].CostPerSolved))
	case len(known) == 1:
		return fmt.Sprintf("The cost of %s alone is known", names[known[0]])
	}
	return "Pareto-optimal in cost and success: " + listed(names, frontier(r), 3)
}

// listed lists at most n of the names.
func listed(names []string, of []int, n int) string {
	var parts []string
	for _, i := range of {
		parts = append(parts, names[i])
	}
	return clip.Names(parts, n)
}

func costAlt(r *model.Report) string {
	text := alt(r, "Cost per solved task and share solved", func(c model.Candidate) string {
		if c.Success.Value == nil {
			return ""
		}
		return words.Dollars(c.CostPerSolved) + " and " + c.Success.Rate()
	})
	return text + " Pareto-optimal, cheapest first: " + listed(altNames(r), frontier(r), 12) + "."
}

// costs plots the share solved against the cost of a solved task, with a dashed line
// through the Pareto-optimal candidates.
func (t theme) costs(r model.Report) drawing {
	front, floor, names := frontier(&r), 1.0, t.labels(r, 16)
	g := scatter{label: "cost per solved task", format: dollars}
	for _, i := range priced(&r) {
		col, shape := t.shape(i)
		k := r.Candidates[i]
		g.dots = append(g.dots, dot{name: names[i], color: col, shape: shape, x: *k.CostPerSolved, y: *k.Success.Value, ys: k.Success.Interval, onFront: slices.Contains(front, i)})
		floor = min(floor, k.Success.Interval.Low)
	}
	var key []keyEntry
	if len(front) > 1 {
		key = append(key, keyEntry{"Pareto-optimal", stroke(t.frontLine(), 8, 0)})
	}
	if unknown := len(names) - len(g.dots); unknown > 0 {
		key = append(key, keyEntry{words.Plural(unknown, "candidate") + " without a known cost", nil})
	}
	return t.scatters([]scatter{g}, floor, key)
}
