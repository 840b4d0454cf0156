package plot

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

func ratesTitle(r *model.Report) string {
	thrash, stall, any := 0.0, 0.0, false
	for _, c := range r.Candidates {
		if c.Thrash.Value != nil {
			thrash, stall, any = max(thrash, *c.Thrash.Value), max(stall, *c.Stall.Value), true
		}
	}
	if !any {
		return ""
	}
	most := func(v float64) string {
		if v == 0 {
			return "none"
		}
		return words.Percent(v)
	}
	title := "Repeated calls (thrash): " + most(thrash)
	if thrash > 0 && len(r.Candidates) > 1 {
		title = "Repeated calls (thrash): up to " + most(thrash) + " of episodes"
	}
	return title + "; stall: " + most(stall)
}

func ratesAlt(r *model.Report) string {
	return alt(r, "Episodes with thrash and with a stall", func(c model.Candidate) string {
		if c.Thrash.Value == nil {
			return ""
		}
		return c.Thrash.Rate() + " and " + c.Stall.Rate()
	})
}

// rates shows the shares of episodes that thrash and, if any does, of those that stall.
func (t theme) rates(r model.Report) drawing {
	stalls := slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return c.Stall.K > 0 })
	g, high := rows{theme: t, marks: 12, line: math.NaN()}, 0.0
	if stalls {
		g.marks = 22
	}
	for _, c := range r.Candidates {
		value := "–"
		if c.Thrash.Interval != nil {
			high, value = max(high, c.Thrash.Interval.High), c.Thrash.Rate()
			if stalls {
				high, value = max(high, c.Stall.Interval.High), value+" · "+c.Stall.Rate()
			}
		}
		g.values = append(g.values, value)
	}
	high = min(1, math.Ceil((high+0.001)*20)/20)
	g.x = axis{label: "share of episodes", high: high, ticks: roundTicks(0, high, 5, shares)}
	g.key = []keyEntry{{"thrash: repeats an action", glyph(t.accent, draw.CircleGlyph{})}}
	if stalls {
		g.key = append(g.key, keyEntry{"stall: only asks questions", glyph(t.second, draw.BoxGlyph{})})
	}
	g.row = func(i int, c draw.Canvas, x scale, y vg.Length) {
		m := r.Candidates[i].Metrics
		if iv := m.Stall.Interval; iv != nil && stalls {
			t.band(c, t.second, draw.BoxGlyph{}, x(iv.Low), x(*m.Stall.Value), x(iv.High), y-5.5)
			y += 5.5
		}
		if iv := m.Thrash.Interval; iv != nil {
			t.band(c, t.accent, draw.CircleGlyph{}, x(iv.Low), x(*m.Thrash.Value), x(iv.High), y)
		}
	}
	return g.drawing(r)
}
