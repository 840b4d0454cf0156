package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
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

// valueColumn is what the values on the right take at least.
const valueColumn vg.Length = 72

// column is what the values on the right take.
func (g rows) column() vg.Length {
	widest, style := valueColumn-12, g.style(g.ink, textSize, 0, 0)
	for _, v := range g.values {
		widest = max(widest, style.Width(v))
	}
	return min(widest+12, plotWidth/2)
}

// axisHeight is what ticks, their labels and the label of the axis take.
const axisHeight vg.Length = 38

func (g rows) drawing(r model.Report) drawing {
	n := len(r.Candidates)
	head := vg.Length(4)
	if !math.IsNaN(g.line) {
		head = 16
	}
	foot := g.keyHeight(g.key)
	return drawing{height: head + g.height*vg.Length(n) + axisHeight + foot, paint: func(c draw.Canvas) {
		g.paint(r, draw.Crop(c, 8, -g.column(), foot+axisHeight, -head))
		g.drawKey(c, g.key)
	}}
}

// paint draws names, rows and axis. c is where the rows are, with the names.
func (g rows) paint(r model.Report, c draw.Canvas) {
	names := g.labels(r, 19)
	style := g.style(g.ink, textSize, draw.XRight, draw.YCenter)
	left := vg.Length(0)
	for _, name := range names {
		left = max(left, style.Width(name))
	}
	c.Min.X += left + 12
	x := g.across(c)
	for _, t := range g.ticks {
		c.StrokeLine2(draw.LineStyle{Color: g.grid, Width: 0.75}, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
	}
	if !math.IsNaN(g.line) {
		g.threshold(c, x(g.line))
	}
	for i, name := range names {
		y := c.Max.Y - g.height*(vg.Length(i)+0.5)
		c.FillText(style, vg.Point{X: c.Min.X - 12, Y: y + 2}, name)
		g.row(i, c, x, y)
		c.FillText(style, vg.Point{X: c.Max.X + g.column() - 8, Y: y + 2}, g.values[i])
	}
	g.axis(c, x)
}

// across maps values to places on the x axis.
func (g rows) across(c draw.Canvas) func(float64) vg.Length {
	scale := g.scale
	if scale == nil {
		scale = plot.LinearScale{}
	}
	return func(v float64) vg.Length { return c.X(scale.Normalize(g.low, g.high, v)) }
}

// axis draws the x axis below the rows.
func (g rows) axis(c draw.Canvas, x func(float64) vg.Length) {
	line, style := draw.LineStyle{Color: g.grid, Width: 1}, g.style(g.muted, textSize, draw.XCenter, draw.YTop)
	c.StrokeLine2(line, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
	every := 1
	for every < len(g.ticks) && g.crowded(style, x, every) {
		every++
	}
	for i, t := range g.ticks {
		at := x(t.Value)
		c.StrokeLine2(line, at, c.Min.Y, at, c.Min.Y-3)
		if (len(g.ticks)-1-i)%every == 0 {
			c.FillText(style, vg.Point{X: at, Y: c.Min.Y - 4}, t.Label)
		}
	}
	c.FillText(style, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Min.Y - 20}, g.label)
}

// crowded says that the labels of every n-th tick, counted from the last, would
// touch.
func (g rows) crowded(style text.Style, x func(float64) vg.Length, n int) bool {
	for i := len(g.ticks) - 1; i >= n; i -= n {
		a, b := g.ticks[i-n], g.ticks[i]
		if x(b.Value)-x(a.Value) < (style.Width(a.Label)+style.Width(b.Label))/2+3 {
			return true
		}
	}
	return false
}

// threshold draws the dashed line and, above the data, its label.
func (g rows) threshold(c draw.Canvas, x vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: g.ink, Width: 1, Dashes: []vg.Length{3, 3}}, x, c.Min.Y, x, c.Max.Y+3)
	align := text.XAlignment(draw.XCenter)
	if half := g.style(g.ink, textSize, 0, 0).Width(g.lineLabel) / 2; x+half > c.Max.X+g.column()-8 {
		align = draw.XRight
	}
	c.FillText(g.style(g.ink, textSize, align, draw.YBottom), vg.Point{X: x, Y: c.Max.Y + 4}, g.lineLabel)
}

// keyLift sets the middle of small letters level with a mark.
const keyLift vg.Length = 1.5

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
		c.FillText(t.style(t.muted, textSize, draw.XLeft, draw.YCenter), vg.Point{X: at.X + 12, Y: at.Y + keyLift}, e.text)
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
func (t theme) look(v model.Verdict) (color.Color, draw.GlyphDrawer) {
	switch v {
	case model.Pass:
		return t.pass, draw.CircleGlyph{}
	case model.Fail:
		return t.fail, draw.BoxGlyph{}
	}
	return t.open, draw.PyramidGlyph{}
}

func glyph(col color.Color, shape draw.GlyphDrawer) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, at vg.Point) {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: 3.5, Shape: shape}, at)
	}
}
