package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/stat"
)

// axis is an axis of a chart; one without ticks is not drawn.
type axis struct {
	label     string
	low, high float64
	log, grid bool // grid draws a line across the chart at each tick
	ticks     []plot.Tick
}

// scale maps values to places.
type scale func(float64) vg.Length

// painter is a plotter made of a function.
type painter func(c draw.Canvas, x, y scale)

// Plot implements plot.Plotter.
func (f painter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	f(c, x, y)
}

// chart fills a canvas with axes and what paint draws between them.
func (t theme) chart(c draw.Canvas, x, y axis, paint painter) {
	p := plot.New()
	p.BackgroundColor = nil
	line := draw.LineStyle{Color: t.grid, Width: 1}
	t.thin(x.ticks, c.Max.X-c.Min.X)
	for to, from := range map[*plot.Axis]axis{&p.X: x, &p.Y: y} {
		to.Min, to.Max, to.Padding = from.low, from.high, 0
		to.Label.Padding, to.Label.TextStyle = 4, t.style(t.muted, textSize, to.Label.TextStyle.XAlign, to.Label.TextStyle.YAlign)
		to.Tick.Label = t.style(t.muted, textSize, to.Tick.Label.XAlign, to.Tick.Label.YAlign)
		to.Tick.Marker, to.Tick.Length, to.Tick.LineStyle, to.LineStyle = plot.ConstantTicks(from.ticks), 3, line, line
		if from.log {
			to.Scale = plot.LogScale{}
		}
		if from.ticks == nil {
			to.Width = 0
		}
	}
	p.Y.Label.Text = y.label
	bottom := c.Min.Y + 1
	if x.label != "" { // which gonum takes for wide at the end of a logarithmic axis
		c.Min.Y += textSize + 5
	}
	line.Width = 0.75
	p.Add(painter(func(c draw.Canvas, at, up scale) {
		c.FillText(t.style(t.muted, textSize, draw.XCenter, draw.YBottom), vg.Point{X: c.Center().X, Y: bottom + 1}, x.label)
		for _, v := range x.ticks {
			if x.grid {
				c.StrokeLine2(line, at(v.Value), c.Min.Y, at(v.Value), c.Max.Y)
			}
		}
		for _, v := range y.ticks {
			if y.grid {
				c.StrokeLine2(line, c.Min.X, up(v.Value), c.Max.X, up(v.Value))
			}
		}
		paint(c, at, up)
	}))
	p.Draw(c)
}

// thin takes labels away until the others fit the axis, and keeps the last.
func (t theme) thin(ticks []plot.Tick, room vg.Length) {
	var texts []string
	for _, tick := range ticks {
		texts = append(texts, tick.Label)
	}
	every := max(1, int(math.Ceil(float64((t.widest(texts)+4)*vg.Length(len(ticks)-1)/room))))
	for i := range ticks {
		if (len(ticks)-1-i)%every != 0 {
			ticks[i].Label = ""
		}
	}
}

// widest is the width of the longest of some texts.
func (t theme) widest(texts []string) (widest vg.Length) {
	style := t.style(t.ink, textSize, 0, 0)
	for _, s := range texts {
		widest = max(widest, style.Width(s))
	}
	return widest
}

// keyEntry explains a mark below the chart, never over the data.
type keyEntry struct {
	text string
	mark func(c draw.Canvas, at vg.Point)
}

// keyLift sets the middle of small letters level with a mark.
const keyLift vg.Length = 1.5

// key is the height of a key, and paints it at the bottom of a canvas, in two columns
// where all entries fit half the width.
func (t theme) key(entries []keyEntry) (vg.Length, func(draw.Canvas)) {
	if len(entries) == 0 {
		return 0, func(draw.Canvas) {}
	}
	columns := 2
	for _, e := range entries {
		if t.widest([]string{e.text}) > plotWidth/2-30 {
			columns = 1
		}
	}
	lines := (len(entries) + columns - 1) / columns
	return lineHeight*vg.Length(lines) + 8, func(c draw.Canvas) {
		width := (c.Max.X - c.Min.X - 16) / vg.Length(columns)
		for i, e := range entries {
			at := vg.Point{
				X: c.Min.X + 16 + width*vg.Length(i%columns),
				Y: c.Min.Y + 6 + lineHeight*(vg.Length(lines-1-i/columns)+0.5),
			}
			e.mark(c, at)
			c.FillText(t.style(t.muted, textSize, draw.XLeft, draw.YCenter), vg.Point{X: at.X + 12, Y: at.Y + keyLift}, e.text)
		}
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
func (t theme) look(v stat.Verdict) (color.Color, draw.GlyphDrawer) {
	switch v {
	case stat.Pass:
		return t.pass, draw.CircleGlyph{}
	case stat.Fail:
		return t.fail, draw.BoxGlyph{}
	}
	return t.open, draw.PyramidGlyph{}
}

// shape of the i-th candidate in plots that draw all of them in one place; the
// first 32 differ.
func (t theme) shape(i int) (color.Color, draw.GlyphDrawer) {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}
	return t.series[i%len(t.series)], shapes[(i+i/len(shapes))%len(shapes)]
}

func glyph(col color.Color, shape draw.GlyphDrawer) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, at vg.Point) {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: 3.5, Shape: shape}, at)
	}
}

// stroke is a mark of a line from left to right, or from top to bottom.
func stroke(style draw.LineStyle, dx, dy vg.Length) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, at vg.Point) { c.StrokeLine2(style, at.X-dx, at.Y-dy, at.X+dx, at.Y+dy) }
}

func box(c draw.Canvas, col color.Color, left, bottom, right, top vg.Length) {
	c.FillPolygon(col, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
}

// bar is how often something was between two places.
type bar struct {
	left, right vg.Length
	n           int
	color       color.Color
}

// bars draws a histogram on the line y = base; the tallest bar is height high, and
// none is too low to be seen.
func (t theme) bars(c draw.Canvas, all []bar, base, height vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: t.grid, Width: 1}, c.Min.X, base, c.Max.X, base)
	tallest := 1
	for _, b := range all {
		tallest = max(tallest, b.n)
	}
	for _, b := range all {
		if b.n > 0 {
			box(c, b.color, b.left, base, b.right, base+max(1, height*vg.Length(b.n)/vg.Length(tallest)))
		}
	}
}
