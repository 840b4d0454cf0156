package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

func validityTitle(r *model.Report) string {
	clear, judged, threshold := 0, 0, words.Percent(r.Run.Acceptance.MinValid)
	for _, c := range r.Candidates {
		for _, k := range c.Criteria {
			if k.Name == "valid_json" {
				judged++
				if k.Verdict == model.Pass {
					clear++
				}
			}
		}
	}
	the := r.Protocols()
	switch {
	case judged == 0:
		return "Nobody's validity was judged"
	case clear == 0:
		return fmt.Sprintf("No candidate is shown to keep %s in %s of turns", the, threshold)
	}
	return words.UpperFirst(model.Of(clear, judged, "keeps", "keep")) + fmt.Sprintf(" %s in %s of turns", the, threshold)
}

func validityAlt(r *model.Report) string {
	return alt(r, model.ValidTitle(r.AllContractual()), func(c model.Candidate) string {
		for _, k := range c.Criteria {
			if k.Name == "valid_json" && k.Value != nil {
				return fmt.Sprintf("%s (%s)", k.ValueText(), k.IntervalText())
			}
		}
		return ""
	})
}

// validity shows the share of contract-valid first outputs with its interval.
func (t theme) validity(r model.Report) drawing {
	found, low := make([]model.Criterion, len(r.Candidates)), r.Run.Acceptance.MinValid
	any := false
	g := rows{theme: t, height: 26, high: 1, label: words.LowerFirst(model.ValidTitle(r.AllContractual())), line: r.Run.Acceptance.MinValid}
	for i, c := range r.Candidates {
		g.values = append(g.values, "–")
		for _, k := range c.Criteria {
			if k.Name == "valid_json" && k.Interval != nil {
				found[i], any, low = k, true, min(low, k.Interval.Low)
				g.values[i] = k.ValueText()
			}
		}
	}
	if !any {
		return drawing{}
	}
	g.low = max(0, math.Floor((low-0.005)*20)/20)
	g.ticks = shareTicks(g.low, g.high)
	g.lineLabel = "needs " + words.Percent(g.line)
	g.row = func(i int, c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
		if k := found[i]; k.Interval != nil {
			col, shape := t.look(k.Verdict)
			t.band(c, col, shape, x(k.Interval.Low), x(*k.Value), x(k.Interval.High), y)
		}
	}
	for _, v := range []model.Verdict{model.Pass, model.Inconclusive, model.Fail} {
		col, shape := t.look(v)
		g.key = append(g.key, keyEntry{words.Word(v), glyph(col, shape)})
	}
	g.key = append(g.key, keyEntry{r.Intervals() + " interval", func(c draw.Canvas, at vg.Point) {
		c.StrokeLine2(draw.LineStyle{Color: t.muted, Width: 2}, at.X-5, at.Y, at.X+5, at.Y)
	}})
	return g.drawing(r)
}
