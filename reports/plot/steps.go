package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

func stepsTitle(r *model.Report) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range r.Candidates {
		sum, n := 0, 0
		for _, s := range c.Steps {
			sum, n = sum+s.Value*s.N, n+s.N
		}
		if n > 0 {
			m := float64(sum) / float64(n)
			low, high = min(low, m), max(high, m)
		}
	}
	text := words.Trimmed(low, 1)
	switch {
	case low > high:
		return ""
	case text != words.Trimmed(high, 1):
		text += " to " + words.Trimmed(high, 1)
	}
	return fmt.Sprintf("Solved tasks take %s steps on average (limit %s)", text, words.Number(r.Run.Acceptance.MaxSteps))
}

func stepsAlt(r *model.Report) string {
	return alt(r, "Episodes solved in how many steps", func(c model.Candidate) string {
		var parts []string
		for _, s := range c.Steps {
			parts = append(parts, fmt.Sprintf("%d in %d", s.N, s.Value))
		}
		return strings.Join(parts, ", ")
	})
}

// steps shows how many steps solved episodes took.
func (t theme) steps(r model.Report) drawing {
	const most = 24 // longer episodes share the last bar
	limit := r.Run.Acceptance.MaxSteps
	last, longest := int(math.Ceil(limit))+1, 0
	g := rows{theme: t, marks: 22, line: math.Floor(limit) + 0.5, lineLabel: "limit " + words.Number(limit)}
	for i, c := range r.Candidates {
		g.values = append(g.values, "–")
		for _, s := range c.Steps {
			longest = max(longest, s.Value)
		}
		for _, k := range c.Criteria {
			if k.Name == "steps_per_solved" && k.Value != nil {
				g.values[i] = "mean " + k.ValueText()
			}
		}
	}
	beyond := ""
	if last = max(last, longest); last > most {
		last, beyond = most, "+"
	}
	g.x = axis{label: "steps of a solved episode", low: 0.5, high: float64(last) + 0.5}
	for v := last; v >= 1; v -= 1 + last/13 {
		g.x.ticks = append(g.x.ticks, tick{float64(v), fmt.Sprint(v) + beyond})
		beyond = ""
	}
	slices.Reverse(g.x.ticks)
	g.row = func(i int, c draw.Canvas, x scale, _ vg.Length) {
		t.bars(c, t.stepBars(r.Candidates[i].Metrics, limit, last, x), c.Min.Y, g.marks)
	}
	if float64(longest) > limit {
		g.key = []keyEntry{{"within the limit", glyph(t.accent, draw.BoxGlyph{})}, {"beyond the limit", glyph(t.fail, draw.BoxGlyph{})}}
	}
	return g.drawing(r)
}

// stepBars are the bars of one candidate.
func (t theme) stepBars(m model.Metrics, limit float64, last int, x scale) (list []bar) {
	shown := make([]int, last+1)
	for _, s := range m.Steps {
		shown[min(max(s.Value, 0), last)] += s.N
	}
	for v := 1; v <= last; v++ {
		col := t.accent
		if float64(v) > limit {
			col = t.fail
		}
		list = append(list, bar{x(float64(v) - 0.36), x(float64(v) + 0.36), shown[v], col})
	}
	return list
}
