package plot

import (
	"fmt"
	"math"

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
	switch {
	case !any:
		return "No episode was scored"
	case thrash == 0 && stall == 0:
		return "No episode thrashed or stalled"
	}
	return fmt.Sprintf("At worst %s of episodes thrash and %s stall", words.Percent(thrash), words.Percent(stall))
}

func ratesAlt(r *model.Report) string {
	return alt(r, "Episodes with thrash and with a stall", func(c model.Candidate) string {
		if c.Thrash.Value == nil {
			return ""
		}
		return c.Thrash.Rate() + " and " + c.Stall.Rate()
	})
}

// rates shows the shares of episodes that thrash and that stall.
func (t theme) rates(r model.Report) drawing {
	g := rows{theme: t, height: 32, line: math.NaN()}
	any, high := false, 0.0
	for _, c := range r.Candidates {
		if c.Thrash.Interval == nil {
			g.values = append(g.values, "–")
			continue
		}
		any, high = true, max(high, c.Thrash.Interval.High, c.Stall.Interval.High)
		g.values = append(g.values, c.Thrash.Rate()+" · "+c.Stall.Rate())
	}
	if !any {
		return drawing{}
	}
	high = min(1, math.Ceil((high+0.001)*20)/20)
	g.x = axis{label: "share of episodes", high: high, ticks: roundTicks(0, high, 6, words.Setting)}
	g.row = func(i int, c draw.Canvas, x scale, y vg.Length) {
		m := r.Candidates[i].Metrics
		if iv := m.Thrash.Interval; iv != nil {
			t.band(c, t.accent, draw.CircleGlyph{}, x(iv.Low), x(*m.Thrash.Value), x(iv.High), y+5.5)
		}
		if iv := m.Stall.Interval; iv != nil {
			t.band(c, t.second, draw.BoxGlyph{}, x(iv.Low), x(*m.Stall.Value), x(iv.High), y-5.5)
		}
	}
	g.key = []keyEntry{
		{"thrash: repeats an action", glyph(t.accent, draw.CircleGlyph{})},
		{"stall: asks again and again", glyph(t.second, draw.BoxGlyph{})},
	}
	return g.drawing(r)
}
