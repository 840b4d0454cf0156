package reports

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rows is a chart with one row for each candidate: names on the left, values
// written out on the right.
type rows struct {
	theme
	height    vg.Length // of one row
	low, high float64   // of the x axis
	ticks     []plot.Tick
	scale     plot.Normalizer // nil means linear
	label     string
	line      float64 // threshold; NaN means none
	lineLabel string
	values    []string
	row       func(i int, c draw.Canvas, x func(float64) vg.Length, y vg.Length)
	key       []keyEntry
}

// keyEntry explains a mark below the chart, never over the data.
type keyEntry struct {
	text string
	mark func(c draw.Canvas, at vg.Point)
}

const valueColumn vg.Length = 72

func (g rows) drawing(r Report) drawing {
	n := len(r.Candidates)
	names := labels(r, 19)
	head := vg.Length(4)
	if !math.IsNaN(g.line) {
		head = 16
	}
	p := g.chart()
	p.X.Min, p.X.Max, p.X.Label.Text = g.low, g.high, g.label
	p.X.Tick.Marker = plot.ConstantTicks(g.ticks)
	if g.scale != nil {
		p.X.Scale = g.scale
	}
	var ticks []plot.Tick
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(n - 1 - i), Label: name})
	}
	p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Label.Color = g.ink
	p.Y.Width, p.Y.Tick.Length, p.Y.Padding = 0, 0, 8
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		for _, t := range g.ticks {
			c.StrokeLine2(draw.LineStyle{Color: g.grid, Width: 0.75}, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
		if !math.IsNaN(g.line) {
			g.threshold(c, x(g.line))
		}
		for i := range n {
			at := y(float64(n - 1 - i))
			g.row(i, c, x, at)
			c.FillText(g.style(g.ink, textSize, draw.XRight, draw.YCenter), vg.Point{X: c.Max.X + valueColumn - 8, Y: at + 2}, g.values[i])
		}
	}))
	foot := g.keyHeight(g.key)
	return drawing{height: head + g.height*vg.Length(n) + 38 + foot, paint: func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 8, -valueColumn, foot, -head))
		g.drawKey(c, g.key)
	}}
}

// threshold draws the dashed line and, above the data, its label.
func (g rows) threshold(c draw.Canvas, x vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: g.ink, Width: 1, Dashes: []vg.Length{3, 3}}, x, c.Min.Y, x, c.Max.Y+3)
	align := text.XAlignment(draw.XCenter)
	if half := g.style(g.ink, textSize, 0, 0).Width(g.lineLabel) / 2; x+half > c.Max.X+valueColumn-8 {
		align = draw.XRight
	}
	c.FillText(g.style(g.ink, textSize, align, draw.YBottom), vg.Point{X: x, Y: c.Max.Y + 4}, g.lineLabel)
}

// keyColumns is 2 where all entries fit half the width, else 1.
func (t theme) keyColumns(key []keyEntry) int {
	for _, e := range key {
		if t.style(t.ink, textSize, draw.XLeft, draw.YCenter).Width(e.text) > plotWidth/2-30 {
			return 1
		}
	}
	return 2
}

func (t theme) keyHeight(key []keyEntry) vg.Length {
	if len(key) == 0 {
		return 0
	}
	columns := t.keyColumns(key)
	return lineHeight*vg.Length((len(key)+columns-1)/columns) + 8
}

// drawKey writes the key at the bottom of the canvas, in columns.
func (t theme) drawKey(c draw.Canvas, key []keyEntry) {
	columns := t.keyColumns(key)
	lines := (len(key) + columns - 1) / columns
	width := (c.Max.X - c.Min.X - 16) / vg.Length(columns)
	for i, e := range key {
		at := vg.Point{
			X: c.Min.X + 16 + width*vg.Length(i%columns),
			Y: c.Min.Y + 6 + lineHeight*(vg.Length(lines-1-i/columns)+0.5),
		}
		e.mark(c, at)
		c.FillText(t.style(t.muted, textSize, draw.XLeft, draw.YCenter), vg.Point{X: at.X + 12, Y: at.Y}, e.text)
	}
}

// band draws an interval as a thin line with a marker on the estimate.
func (t theme) band(c draw.Canvas, col color.Color, shape draw.GlyphDrawer, low, at, high vg.Length, y vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: col, Width: 2}, low, y, high, y)
	for _, end := range []vg.Length{low, high} {
		c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.25}, end, y-3, end, y+3)
	}
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: 4, Shape: shape}, vg.Point{X: at, Y: y})
}

// look is a verdict's colour and shape: the shape alone tells them apart.
func (t theme) look(v Verdict) (color.Color, draw.GlyphDrawer) {
	switch v {
	case Pass:
		return t.pass, draw.CircleGlyph{}
	case Fail:
		return t.fail, draw.BoxGlyph{}
	}
	return t.open, draw.PyramidGlyph{}
}

func glyph(col color.Color, shape draw.GlyphDrawer) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, at vg.Point) {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: 3.5, Shape: shape}, at)
	}
}
