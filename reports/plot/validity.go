package plot

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

func validityTitle(r *model.Report) string {
	var judged []model.Criterion
	pass, low, high := 0, 1.0, 0.0
	for _, c := range r.Candidates {
		for _, k := range c.Criteria {
			if k.Name != "valid_json" || k.Value == nil {
				continue
			}
			if low, high = min(low, *k.Value), max(high, *k.Value); k.Verdict != stat.NotJudged {
				judged = append(judged, k)
			}
			if k.Verdict == stat.Pass {
				pass++
			}
		}
	}
	kind, _, _ := strings.Cut(model.ValidTitle(r.AllContractual()), " ")
	needs := words.Setting(r.Run.Acceptance.MinValid)
	switch {
	case low > high:
		return ""
	case len(judged) == 0 && low == high:
		return fmt.Sprintf("%s turns: %s", kind, words.Percent(low))
	case len(judged) == 0:
		return fmt.Sprintf("%s turns: %s to %s", kind, words.Percent(low), words.Percent(high))
	case len(r.Candidates) == 1:
		return fmt.Sprintf("%s in ≥ %s of turns: %s", kind, needs, words.Word(judged[0].Verdict))
	}
	return fmt.Sprintf("%s in ≥ %s of turns: %d of %s", kind, needs, pass, words.Plural(len(r.Candidates), "candidate"))
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
	found, low, seen := make([]model.Criterion, len(r.Candidates)), 1.0, map[stat.Verdict]bool{}
	g := rows{theme: t, marks: 12, line: math.NaN()}
	for i, c := range r.Candidates {
		g.values = append(g.values, "–")
		for _, k := range c.Criteria {
			if k.Name != "valid_json" || k.Interval == nil {
				continue
			}
			found[i], low, seen[k.Verdict], g.values[i] = k, min(low, k.Interval.Low), true, k.ValueText()
			if k.Verdict != stat.NotJudged {
				g.line, g.lineLabel, low = k.Threshold, k.NeedsText(), min(low, k.Threshold)
			}
		}
	}
	g.x = shareAxis(words.LowerFirst(model.ValidTitle(r.AllContractual())), low)
	g.row = func(i int, c draw.Canvas, x scale, y vg.Length) {
		if k := found[i]; k.Interval != nil {
			col, shape := t.look(k.Verdict)
			t.band(c, col, shape, x(k.Interval.Low), x(*k.Value), x(k.Interval.High), y)
		}
	}
	for _, v := range []stat.Verdict{stat.Pass, stat.Inconclusive, stat.Fail, stat.NotJudged} {
		if col, shape := t.look(v); seen[v] {
			g.key = append(g.key, keyEntry{words.Word(v), glyph(col, shape)})
		}
	}
	g.key = append(g.key, keyEntry{r.Intervals() + " interval", stroke(draw.LineStyle{Color: t.muted, Width: 2}, 5, 0)})
	return g.drawing(r)
}
