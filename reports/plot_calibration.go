package reports

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (r *Report) calibrationTitle() string {
	over, n := 0, 0
	for _, c := range r.Candidates {
		stated, came, size := 0.0, 0.0, 0
		for _, b := range c.Calibration {
			stated, came, size = stated+b.Stated*float64(b.N), came+b.Came*float64(b.N), size+b.N
		}
		if size == 0 {
			continue
		}
		n++
		if stated > came {
			over++
		}
	}
	switch {
	case n == 0:
		return "No candidate stated a confidence"
	case over == 0:
		return "No candidate claims more confidence than it earns"
	}
	return upperFirst(of(over, n, "claims", "claim")) + " more confidence than earned"
}

func (r *Report) calibrationAlt() string {
	return r.alt("Brier score of stated confidence", func(c Candidate) string {
		if c.Brier == nil {
			return ""
		}
		return fmt.Sprintf("%.3f", *c.Brier)
	})
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
