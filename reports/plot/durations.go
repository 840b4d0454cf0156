package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// durations describes a plot of the distribution of times of every candidate that
// has any: of whole turns, or to their first tokens.
type durations struct {
	subject string
	// none is the title if no candidate has any; empty leaves the plot out.
	none, label string
	of          func(*model.Metrics) (*model.Spread, []model.LogBin)
}

func turnDurations() durations {
	return durations{"The median turn takes", "No turn was timed", "duration of a turn", func(m *model.Metrics) (*model.Spread, []model.LogBin) { return m.Latency, m.LatencyBins }}
}

func firstTokens() durations {
	return durations{"The median first token comes after", "", "time to the first token", func(m *model.Metrics) (*model.Spread, []model.LogBin) { return m.TTFT, m.TTFTBins }}
}

func latencyTitle(r *model.Report) string { return turnDurations().title(r) }
func ttftTitle(r *model.Report) string    { return firstTokens().title(r) }
func latencyAlt(r *model.Report) string   { return turnDurations().alt(r) }
func ttftAlt(r *model.Report) string      { return firstTokens().alt(r) }

func (t theme) latency(r model.Report) drawing { return turnDurations().draw(t, r) }
func (t theme) ttft(r model.Report) drawing    { return firstTokens().draw(t, r) }

func (d durations) title(r *model.Report) string {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range r.Candidates {
		if s, _ := d.of(&r.Candidates[i].Metrics); s != nil {
			low, high = min(low, s.P50), max(high, s.P50)
		}
	}
	switch {
	case low > high:
		return d.none
	case words.Duration(low) == words.Duration(high):
		return d.subject + " " + words.Duration(low)
	}
	return fmt.Sprintf("%s %s to %s", d.subject, words.Duration(low), words.Duration(high))
}

func (d durations) alt(r *model.Report) string {
	return alt(r, words.UpperFirst(d.label)+", median and from 5th to 95th percentile", func(c model.Candidate) string {
		s, _ := d.of(&c.Metrics)
		if s == nil {
			return ""
		}
		return fmt.Sprintf("%s and %s to %s", words.Duration(s.P50), words.Duration(s.P5), words.Duration(s.P95))
	})
}

// draw shows a histogram for each candidate that has times on one logarithmic axis.
func (d durations) draw(t theme, r model.Report) drawing {
	r.Candidates = slices.DeleteFunc(slices.Clone(r.Candidates), func(c model.Candidate) bool {
		s, _ := d.of(&c.Metrics)
		return s == nil
	})
	const least = 1 // a microsecond: a logarithm needs something
	low, high := math.Inf(1), math.Inf(-1)
	g := rows{theme: t, height: 36, label: d.label + ", logarithmic", line: math.NaN(), scale: plot.LogScale{}}
	for i := range r.Candidates {
		s, bins := d.of(&r.Candidates[i].Metrics)
		g.values = append(g.values, view.Median(s))
		for _, b := range bins {
			low, high = min(low, b.From), max(high, b.To)
		}
	}
	if low > high {
		return drawing{}
	}
	g.low, g.high = low/1.1, high*1.1
	g.ticks = logTicks(&g.low, &g.high, axisDuration)
	g.row = func(i int, c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
		s, bins := d.of(&r.Candidates[i].Metrics)
		at := func(v float64) vg.Length { return x(min(max(v, least, g.low), g.high)) }
		base := y - g.height/2 + 7
		c.StrokeLine2(draw.LineStyle{Color: t.grid, Width: 1}, c.Min.X, base, c.Max.X, base)
		t.hills(c, bins, at, base, g.height-11)
		c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 1.5}, at(s.P5), base-3, at(s.P95), base-3)
		c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 2}, at(s.P50), base-5, at(s.P50), base+g.height-11)
	}
	g.key = []keyEntry{
		{"how many turns took how long", func(c draw.Canvas, at vg.Point) {
			t.hills(c, []model.LogBin{{From: 0, To: 1, N: 3}, {From: 1, To: 2, N: 6}, {From: 2, To: 3, N: 4}, {From: 3, To: 4, N: 1}}, func(v float64) vg.Length { return at.X - 6 + 3*vg.Length(v) }, at.Y-4, 9)
		}},
		{"median, written on the right", func(c draw.Canvas, at vg.Point) {
			c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 2}, at.X, at.Y-5, at.X, at.Y+5)
		}},
		{"5th to 95th percentile", func(c draw.Canvas, at vg.Point) {
			c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 1.5}, at.X-5, at.Y, at.X+5, at.Y)
		}},
	}
	return g.drawing(r)
}

// hills fills the outline of a histogram on the line y = base; the tallest bin is
// height high, and none is too low to be seen.
func (t theme) hills(c draw.Canvas, bins []model.LogBin, x func(float64) vg.Length, base, height vg.Length) {
	tallest := 1
	for _, b := range bins {
		tallest = max(tallest, b.N)
	}
	var line []vg.Point
	for i, b := range bins {
		left, right, top := x(b.From), x(b.To), base+max(1, height*vg.Length(b.N)/vg.Length(tallest))
		if i > 0 && bins[i-1].To < b.From*(1-1e-9) {
			line = append(line, vg.Point{X: x(bins[i-1].To), Y: base}, vg.Point{X: left, Y: base})
		} else if i == 0 {
			line = append(line, vg.Point{X: left, Y: base})
		}
		line = append(line, vg.Point{X: left, Y: top}, vg.Point{X: right, Y: top})
		if i == len(bins)-1 {
			line = append(line, vg.Point{X: right, Y: base})
		}
	}
	c.FillPolygon(t.accent, line)
}

// axisDuration formats a round number of microseconds.
func axisDuration(us float64) string {
	switch {
	case us < 1e3:
		return words.Trimmed(us, 0) + " µs"
	case us < 1e6:
		return words.Trimmed(us/1e3, 0) + " ms"
	case us < 60e6:
		return words.Trimmed(us/1e6, 0) + " s"
	case us < 3600e6:
		return words.Trimmed(us/60e6, 1) + " min"
	}
	return words.Trimmed(us/3600e6, 1) + " h"
}
