package reports

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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

// calibration draws a small reliability diagram for each candidate that stated
// confidences.
func (t theme) calibration(r Report) drawing {
	names := labels(r, 19)
	var shown []int
	for i, c := range r.Candidates {
		if c.Brier != nil {
			shown = append(shown, i)
		}
	}
	if len(shown) == 0 {
		return drawing{}
	}
	columns := 2
	if len(shown) > 4 {
		columns = 3
	}
	lines := (len(shown) + columns - 1) / columns
	const head, cellHeight = 4, 136
	style := t.style(t.muted, textSize, draw.XLeft, draw.YBottom)
	legend := wrap("Across: confidence stated in the last turn. Up: share of those episodes solved. Dot area: number of episodes. On the dashed line, words match deeds.", style, plotWidth-16)
	foot := style.Height(legend) + 14
	return drawing{height: head + cellHeight*vg.Length(lines) + foot, paint: func(c draw.Canvas) {
		width := (c.Max.X - c.Min.X - 8) / vg.Length(columns)
		for at, i := range shown {
			cell := c
			cell.Min.X = c.Min.X + width*vg.Length(at%columns)
			cell.Max.X = cell.Min.X + width
			cell.Max.Y = c.Max.Y - head - cellHeight*vg.Length(at/columns)
			cell.Min.Y = cell.Max.Y - cellHeight
			t.panel(draw.Crop(cell, 8, -8, 4, -4), names[i], r.Candidates[i])
		}
		c.FillText(style, vg.Point{X: c.Min.X + 8, Y: c.Min.Y + 6}, legend)
	}}
}

func (t theme) panel(c draw.Canvas, name string, k Candidate) {
	style := t.style(t.ink, textSize, draw.XLeft, draw.YTop)
	c.FillText(style, vg.Point{X: c.Min.X + 24, Y: c.Max.Y}, name)
	p := t.chart()
	ticks := []plot.Tick{{Value: 0, Label: "0"}, {Value: 0.5, Label: "0.5"}, {Value: 1, Label: "1"}}
	p.X.Min, p.X.Max, p.X.Tick.Marker = 0, 1, plot.ConstantTicks(ticks)
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, 1, plot.ConstantTicks(ticks)
	most := 1
	for _, b := range k.Calibration {
		most = max(most, b.N)
	}
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		c.StrokeLine2(draw.LineStyle{Color: t.muted, Width: 0.75, Dashes: []vg.Length{3, 3}}, x(0), y(0), x(1), y(1))
		var path []vg.Point
		for _, b := range k.Calibration {
			if b.N > 0 {
				path = append(path, vg.Point{X: x(b.Stated), Y: y(b.Came)})
			}
		}
		if len(path) > 1 {
			c.StrokeLines(draw.LineStyle{Color: t.accent, Width: 1}, path)
		}
		at := 0
		for _, b := range k.Calibration {
			if b.N > 0 {
				radius := vg.Length(1.5 + 4.5*math.Sqrt(float64(b.N)/float64(most)))
				c.DrawGlyphNoClip(draw.GlyphStyle{Color: t.accent, Radius: radius, Shape: draw.CircleGlyph{}}, path[at])
				at++
			}
		}
	}))
	p.Draw(draw.Crop(c, 0, -10, 0, -lineHeight-6))
}
