package reports

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (r *Report) latencyTitle() string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range r.Candidates {
		if c.Latency != nil {
			low, high = min(low, c.Latency.P50), max(high, c.Latency.P50)
		}
	}
	switch {
	case low > high:
		return "No turn was timed"
	case duration(low) == duration(high):
		return "The median turn takes " + duration(low)
	}
	return fmt.Sprintf("The median turn takes %s to %s", duration(low), duration(high))
}

func (r *Report) latencyAlt() string {
	return r.alt("Turn latency, median and 95th percentile", func(c Candidate) string {
		if c.Latency == nil {
			return ""
		}
		return c.Latency.median() + " and " + c.Latency.tail()
	})
}

// latency shows the durations of turns on a logarithmic axis.
func (t theme) latency(r Report) drawing {
	low, high := math.Inf(1), math.Inf(-1)
	g := rows{theme: t, height: 26, label: "duration of a turn, logarithmic", line: math.NaN(), scale: plot.LogScale{}}
	for _, c := range r.Candidates {
		g.values = append(g.values, c.Latency.median())
		if c.Latency != nil {
			low, high = min(low, c.Latency.P5), max(high, c.Latency.P95)
		}
	}
	if low > high {
		return drawing{}
	}
	const least = 1 // a microsecond: a logarithm needs something
	low, high = max(low, least), max(high, 2*least)
	g.low, g.high = low/1.25, high*1.25
	g.ticks = logTicks(&g.low, &g.high, duration)
	g.row = func(i int, c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
		s := r.Candidates[i].Latency
		if s == nil {
			return
		}
		at := func(v float64) vg.Length { return x(max(v, least)) }
		c.StrokeLine2(draw.LineStyle{Color: t.accent, Width: 1.5}, at(s.P5), y, at(s.P95), y)
		c.FillPolygon(t.accent, []vg.Point{
			{X: at(s.P25) - 0.5, Y: y - 5}, {X: at(s.P75) + 0.5, Y: y - 5}, {X: at(s.P75) + 0.5, Y: y + 5}, {X: at(s.P25) - 0.5, Y: y + 5},
		})
		c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 2}, at(s.P50), y-7, at(s.P50), y+7)
	}
	g.key = []keyEntry{
		{"middle half of turns", glyph(t.accent, draw.BoxGlyph{})},
		{"median, written on the right", func(c draw.Canvas, at vg.Point) {
			c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 2}, at.X, at.Y-5, at.X, at.Y+5)
		}},
		{"5th to 95th percentile", func(c draw.Canvas, at vg.Point) {
			c.StrokeLine2(draw.LineStyle{Color: t.accent, Width: 1.5}, at.X-5, at.Y, at.X+5, at.Y)
		}},
	}
	return g.drawing(r)
}
