package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// timing describes a plot of the distribution of times of every candidate that
// has any: of whole turns, or to their first tokens.
type timing struct {
	subject, label string
	of             func(*model.Metrics) (*model.Spread, []model.LogBin)
}

func turnDurations() timing {
	return timing{"Median turn: ", "duration of a turn", func(m *model.Metrics) (*model.Spread, []model.LogBin) { return m.Latency, m.LatencyBins }}
}

func firstTokens() timing {
	return timing{"Median first token: ", "time to the first token", func(m *model.Metrics) (*model.Spread, []model.LogBin) { return m.TTFT, m.TTFTBins }}
}

func (d timing) title(r *model.Report) string {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range r.Candidates {
		if s, _ := d.of(&r.Candidates[i].Metrics); s != nil {
			low, high = min(low, s.P50), max(high, s.P50)
		}
	}
	switch {
	case low > high:
		return ""
	case words.Duration(low) == words.Duration(high):
		return d.subject + words.Duration(low)
	}
	return fmt.Sprintf("%s%s to %s", d.subject, words.Duration(low), words.Duration(high))
}

func (d timing) alt(r *model.Report) string {
	return alt(r, words.UpperFirst(d.label)+", median and from 5th to 95th percentile", func(c model.Candidate) string {
		s, _ := d.of(&c.Metrics)
		if s == nil {
			return ""
		}
		return fmt.Sprintf("%s and %s to %s", words.Duration(s.P50), words.Duration(s.P5), words.Duration(s.P95))
	})
}

// draw shows a histogram for each candidate that has times on one logarithmic axis.
func (d timing) draw(t theme, r model.Report) drawing {
	r.Candidates = slices.DeleteFunc(slices.Clone(r.Candidates), func(c model.Candidate) bool {
		s, _ := d.of(&c.Metrics)
		return s == nil
	})
	low, high := math.Inf(1), math.Inf(-1)
	g := rows{theme: t, marks: 22, line: math.NaN()}
	for i := range r.Candidates {
		s, bins := d.of(&r.Candidates[i].Metrics)
		g.values = append(g.values, view.Median(s))
		for _, b := range bins {
			low, high = min(low, b.From), max(high, b.To)
		}
	}
	g.x = logarithmic(d.label, max(low, 1)/1.1, high*1.1, durations) // a logarithm needs something
	g.row = func(i int, c draw.Canvas, x scale, _ vg.Length) {
		s, bins := d.of(&r.Candidates[i].Metrics)
		base := c.Min.Y + 4
		t.bars(c, t.logBars(bins, x), base, c.Max.Y-base)
		c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 1.5}, x(s.P5), base-3, x(s.P95), base-3)
		c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 2}, x(s.P50), base-5, x(s.P50), c.Max.Y)
	}
	g.key = []keyEntry{
		{"number of turns", func(c draw.Canvas, at vg.Point) {
			c.Min.X, c.Max.X = at.X-6, at.X+6
			var sample []bar
			for i, n := range []int{3, 6, 4, 1} {
				left := c.Min.X + 3*vg.Length(i)
				sample = append(sample, bar{left, left + 3.2, n, t.accent})
			}
			t.bars(c, sample, at.Y-4, 9)
		}},
		{"median", stroke(draw.LineStyle{Color: t.ink, Width: 2}, 0, 5)},
		{"5th to 95th percentile", stroke(draw.LineStyle{Color: t.ink, Width: 1.5}, 5, 0)},
	}
	return g.drawing(r)
}

func (t theme) logBars(bins []model.LogBin, x scale) (list []bar) {
	for _, b := range bins {
		list = append(list, bar{x(b.From), x(b.To) + 0.2, b.N, t.accent}) // without a seam
	}
	return list
}
