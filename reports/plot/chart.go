package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/stat"
)

// axis is an axis of a chart; one without ticks is not drawn.
type axis struct {
	label     string
	low, high float64
	log, grid bool // grid draws a line across the chart at each tick
	ticks     []tick
}

// tick is a place on an axis; one without a label is a mere line.
type tick struct {
	value float64
	label string
}

// scale maps values to places.
type scale func(float64) vg.Length

// scale puts the axis between two places. Values beyond its ends are put on them.
func (a axis) scale(from, to vg.Length) scale {
	of := func(v float64) float64 {
		if v = min(max(v, a.low), a.high); a.log {
			return math.Log(v)
		}
		return v
	}
	low, high := of(a.low), of(a.high)
	return func(v float64) vg.Length { return from + (to-from)*vg.Length((of(v)-low)/(high-low)) }
}

// room is the height of an axis below a chart.
func (a axis) room() (height vg.Length) {
	if a.ticks != nil {
		height += lineHeight
	}
	if a.label != "" {
		height += lineHeight
	}
	return height
}

// chart fills a canvas with axes and what paint draws between them.
func (t theme) chart(c draw.Canvas, x, y axis, paint func(c draw.Canvas, x, y scale)) {
	left, style, line := vg.Length(0), t.style(t.muted, textSize, draw.XCenter, draw.YTop), draw.LineStyle{Color: t.grid, Width: 1}
	if y.ticks != nil {
		left = t.widest(y.ticks) + 5
	}
	if y.label != "" {
		left += lineHeight
	}
	half := t.widest(x.ticks)/2 - 5 // of a label, beyond the margin
	area := draw.Crop(c, max(left, half), -max(0, half), x.room(), 0)
	at, up := x.scale(area.Min.X, area.Max.X), y.scale(area.Min.Y, area.Max.Y)
	t.thin(x.ticks, at)
	for _, k := range x.ticks {
		if x.grid {
			area.StrokeLine2(line, at(k.value), area.Min.Y, at(k.value), area.Max.Y)
		}
		c.FillText(style, vg.Point{X: at(k.value), Y: area.Min.Y - 2}, k.label)
	}
	c.FillText(style, vg.Point{X: area.Center().X, Y: area.Min.Y - 2 - lineHeight}, x.label)
	style.XAlign, style.YAlign = draw.XRight, draw.YCenter
	for _, k := range y.ticks {
		if y.grid {
			area.StrokeLine2(line, area.Min.X, up(k.value), area.Max.X, up(k.value))
		}
		c.FillText(style, vg.Point{X: area.Min.X - 4, Y: up(k.value) + keyLift}, k.label)
	}
	style.Rotation, style.XAlign, style.YAlign = math.Pi/2, draw.XCenter, draw.YTop
	c.FillText(style, vg.Point{X: c.Min.X, Y: area.Center().Y}, y.label)
	paint(area, at, up)
}

// thin takes labels away until the others do not touch, and keeps the last.
func (t theme) thin(ticks []tick, at scale) {
	next := vg.Length(math.Inf(1))
	for i := len(ticks) - 1; i >= 0; i-- {
		half := t.width(ticks[i].label) / 2
		if at(ticks[i].value)+half > next {
			ticks[i].label = ""
			continue
		}
		next = at(ticks[i].value) - half - 6
	}
}

// widest is the width of the longest label.
func (t theme) widest(ticks []tick) (widest vg.Length) {
	for _, k := range ticks {
		widest = max(widest, t.width(k.label))
	}
	return widest
}

func (t theme) width(s string) vg.Length { return t.style(t.ink, textSize, 0, 0).Width(s) }

// write puts a line of text beside a point, level with its middle.
func (t theme) write(c draw.Canvas, col color.Color, align text.XAlignment, x, y vg.Length, s string) {
	c.FillText(t.style(col, textSize, align, draw.YCenter), vg.Point{X: x, Y: y + keyLift}, s)
}

// keyEntry explains a mark below the chart, never over the data. One without a mark is a
// remark.
type keyEntry struct {
	text string
	mark func(c draw.Canvas, at vg.Point)
}

// keyLift sets the middle of small letters level with a mark.
const keyLift vg.Length = 1.5

// key is the height of a key, and paints it at the bottom of a canvas, in as few lines as
// its entries fill.
func (t theme) key(entries []keyEntry) (vg.Length, func(draw.Canvas)) {
	if len(entries) == 0 {
		return 0, func(draw.Canvas) {}
	}
	const left, gap, mark vg.Length = 8, 14, 18
	line, x, places := 0, left, make([]vg.Point, len(entries))
	for i, e := range entries {
		width := t.width(e.text)
		if e.mark != nil {
			width += mark
		}
		if x > left && x+width > plotWidth-left {
			line, x = line+1, left
		}
		places[i] = vg.Point{X: x, Y: lineHeight * (vg.Length(line) + 0.5)}
		x += width + gap
	}
	height := lineHeight*vg.Length(line+1) + 8
	return height, func(c draw.Canvas) {
		for i, e := range entries {
			at := vg.Point{X: c.Min.X + places[i].X, Y: c.Min.Y + height - 4 - places[i].Y}
			if e.mark != nil {
				e.mark(c, at.Add(vg.Point{X: mark/2 - 2}))
				at.X += mark
			}
			t.write(c, t.muted, draw.XLeft, at.X, at.Y, e.text)
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

// look returns the colour and the shape of a verdict. The shape alone identifies it.
func (t theme) look(v stat.Verdict) (color.Color, draw.GlyphDrawer) {
	switch v {
	case stat.Pass:
		return t.pass, draw.CircleGlyph{}
	case stat.Fail:
		return t.fail, draw.BoxGlyph{}
	case stat.NotJudged:
		return t.muted, draw.RingGlyph{}
	}
	return t.open, draw.PyramidGlyph{}
}

// shape of the i-th candidate in plots that draw all of them in one place; the
// first 32 differ.
func (t theme) shape(i int) (color.Color, draw.GlyphDrawer) {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
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

// bar is a bar of a histogram: a count between two places.
type bar struct {
	left, right vg.Length
	n           int
	color       color.Color
}

// bars draws a histogram on the line y = base. The tallest bar has the given height, and
// every bar that counts anything is at least one point high.
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
