package reports

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (r *Report) costTitle() string {
	var best, cheapest *Candidate
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.CostPerSolved == nil {
			continue
		}
		if best == nil || *c.Success.Value > *best.Success.Value {
			best = c
		}
		if cheapest == nil || *c.CostPerSolved < *cheapest.CostPerSolved {
			cheapest = c
		}
	}
	switch {
	case best == nil:
		return "No cost per solved task is known"
	case *cheapest.CostPerSolved == 0:
		return "Cost against success"
	case best == cheapest && len(r.Candidates) == 1:
		return fmt.Sprintf("A solved task costs %s", dollarsOf(best.CostPerSolved))
	case best == cheapest:
		return brief(best.Name, 30) + " solves most and is cheapest"
	}
	return fmt.Sprintf("%s solves most, %s is cheapest", brief(best.Name, 24), brief(cheapest.Name, 24))
}

func (r *Report) costAlt() string {
	return r.alt("Cost per solved task and share solved", func(c Candidate) string {
		if c.Success.Value == nil {
			return ""
		}
		return dollarsOf(c.CostPerSolved) + " and " + c.Success.rate()
	})
}

// shape of the i-th candidate in plots that draw all of them in one place.
func (t theme) shape(i int) (color.Color, draw.GlyphDrawer) {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}
	return t.series[i%len(t.series)], shapes[i%len(shapes)]
}

// costs sets the cost of a solved task against the share solved.
func (t theme) costs(r Report) drawing {
	low, high, zero := math.Inf(1), 0.0, false
	var key []keyEntry
	for i, name := range labels(r, 19) {
		c := r.Candidates[i]
		col, shape := t.shape(i)
		value := "cost unknown"
		if c.CostPerSolved != nil {
			v := *c.CostPerSolved
			low, high, zero = min(low, v), max(high, v), zero || v <= 0
			value = dollarsOf(c.CostPerSolved) + ", " + c.Success.rate()
		} else {
			col, shape = t.muted, nil
		}
		key = append(key, keyEntry{name + ": " + value, func(c draw.Canvas, at vg.Point) {
			if shape != nil {
				glyph(col, shape)(c, at)
			}
		}})
	}
	if high <= 0 {
		return drawing{}
	}
	p := t.chart()
	p.X.Label.Text = "cost per solved task"
	if log := !zero && high/low > 8; log {
		low, high = low/1.6, high*1.6
		p.X.Tick.Marker = plot.ConstantTicks(logTicks(&low, &high, usd))
		p.X.Scale, p.X.Min, p.X.Max = plot.LogScale{}, low, high
		p.X.Label.Text += ", logarithmic"
	} else {
		high *= 1.15
		p.X.Tick.Marker = plot.ConstantTicks(linearTicks(&high, usd))
		p.X.Min, p.X.Max = 0, high
	}
	floor := 1.0
	for _, c := range r.Candidates {
		if c.CostPerSolved != nil {
			floor = min(floor, c.Success.Interval.Low)
		}
	}
	p.Y.Min, p.Y.Max, p.Y.Label.Text = max(0, math.Floor((floor-0.02)*10)/10), 1, "solved"
	ticks := shareTicks(p.Y.Min, 1)
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) { t.costPoints(r, ticks, c, x, y) }))
	foot := t.keyHeight(key)
	return drawing{height: 200 + foot, paint: func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 8, -16, foot, -10))
		t.drawKey(c, key)
	}}
}

func (t theme) costPoints(r Report, ticks []plot.Tick, c draw.Canvas, x, y func(float64) vg.Length) {
	for _, v := range ticks {
		c.StrokeLine2(draw.LineStyle{Color: t.grid, Width: 0.75}, c.Min.X, y(v.Value), c.Max.X, y(v.Value))
	}
	for i, k := range r.Candidates {
		if k.CostPerSolved == nil {
			continue
		}
		col, shape := t.shape(i)
		at := vg.Point{X: x(*k.CostPerSolved), Y: y(*k.Success.Value)}
		if iv := k.Success.Interval; iv != nil {
			c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.25}, at.X, y(iv.Low), at.X, y(iv.High))
		}
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: 4.5, Shape: shape}, at)
	}
}
