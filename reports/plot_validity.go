package reports

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (r *Report) validityTitle() string {
	clear, judged, threshold := 0, 0, percent(r.Run.Acceptance.MinValid)
	for _, c := range r.Candidates {
		for _, k := range c.Criteria {
			if k.Name == "valid_json" {
				judged++
				if k.Verdict == Pass {
					clear++
				}
			}
		}
	}
	the := r.protocols()
	switch {
	case judged == 0:
		return "Nobody's validity was judged"
	case clear == 0:
		return fmt.Sprintf("No candidate is shown to keep %s in %s of turns", the, threshold)
	}
	return upperFirst(of(clear, judged, "keeps", "keep")) + fmt.Sprintf(" %s in %s of turns", the, threshold)
}

func (r *Report) validityAlt() string {
	return r.alt(validTitle(r.allContractual()), func(c Candidate) string {
		for _, k := range c.Criteria {
			if k.Name == "valid_json" && k.Value != nil {
				return fmt.Sprintf("%s (%s)", k.value(), k.interval())
			}
		}
		return ""
	})
}

// validity shows the share of contract-valid first outputs with its interval.
func (t theme) validity(r Report) drawing {
	found, low := make([]Criterion, len(r.Candidates)), r.Run.Acceptance.MinValid
	any := false
	g := rows{theme: t, height: 26, high: 1, label: lowerFirst(validTitle(r.allContractual())), line: r.Run.Acceptance.MinValid}
	for i, c := range r.Candidates {
		g.values = append(g.values, "–")
		for _, k := range c.Criteria {
			if k.Name == "valid_json" && k.Interval != nil {
				found[i], any, low = k, true, min(low, k.Interval.Low)
				g.values[i] = k.value()
			}
		}
	}
	if !any {
		return drawing{}
	}
	g.low = max(0, math.Floor((low-0.005)*20)/20)
	g.ticks = shareTicks(g.low, g.high)
	g.lineLabel = "needs " + percent(g.line)
	g.row = func(i int, c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
		if k := found[i]; k.Interval != nil {
			col, shape := t.look(k.Verdict)
			t.band(c, col, shape, x(k.Interval.Low), x(*k.Value), x(k.Interval.High), y)
		}
	}
	for _, v := range []Verdict{Pass, Inconclusive, Fail} {
		col, shape := t.look(v)
		g.key = append(g.key, keyEntry{word(v), glyph(col, shape)})
	}
	g.key = append(g.key, keyEntry{r.intervals() + " interval", func(c draw.Canvas, at vg.Point) {
		c.StrokeLine2(draw.LineStyle{Color: t.muted, Width: 2}, at.X-5, at.Y, at.X+5, at.Y)
	}})
	return g.drawing(r)
}
