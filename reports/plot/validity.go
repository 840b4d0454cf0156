package plot

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

func validityTitle(r *model.Report) string {
	clear, judged, threshold := 0, 0, words.Setting(r.Run.Acceptance.MinValid)
	for _, c := range r.Candidates {
		for _, k := range c.Criteria {
			if k.Name == "valid_json" {
				judged++
				if k.Verdict == stat.Pass {
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
	g := rows{theme: t, height: 26, line: r.Run.Acceptance.MinValid}
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
	g.x = shareAxis(words.LowerFirst(model.ValidTitle(r.AllContractual())), low)
	g.lineLabel = "needs " + words.Setting(g.line)
	g.row = func(i int, c draw.Canvas, x scale, y vg.Length) {
		if k := found[i]; k.Interval != nil {
			col, shape := t.look(k.Verdict)
			t.band(c, col, shape, x(k.Interval.Low), x(*k.Value), x(k.Interval.High), y)
		}
	}
	for _, v := range []stat.Verdict{stat.Pass, stat.Inconclusive, stat.Fail} {
		col, shape := t.look(v)
		g.key = append(g.key, keyEntry{words.Word(v), glyph(col, shape)})
	}
	g.key = append(g.key, keyEntry{r.Intervals() + " interval", stroke(draw.LineStyle{Color: t.muted, Width: 2}, 5, 0)})
	return g.drawing(r)
}
