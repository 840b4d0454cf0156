package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/stat"
)

// dot is a value and a share of solved tasks, with their intervals where known.
type dot struct {
	color   color.Color
	shape   draw.GlyphDrawer
	x, y    float64
	xs, ys  *stat.Interval
	onFront bool // is joined with the others that are
}

// scatter sets shares of solved tasks against a value.
type scatter struct {
	label  string
	format func(float64) string
	dots   []dot
}

// scatters draws scatters below one another, on one scale of shares, and a table that
// is also their key. Those whose values are all 0 or less are left out.
func (t theme) scatters(all []scatter, floor float64, below table) drawing {
	type panel struct {
		x axis
		scatter
	}
	var panels []panel
	for _, s := range all {
		low, high := math.Inf(1), 0.0
		for _, d := range s.dots {
			low, high = min(low, d.x), max(high, d.x)
			if d.xs != nil {
				high = max(high, d.xs.High)
			}
		}
		if high > 0 && !math.IsInf(high, 1) {
			panels = append(panels, panel{positive(s.label, low, high, s.format), s})
		}
	}
	if len(panels) == 0 {
		return drawing{}
	}
	foot, height := below.height(), vg.Length(165)
	if len(panels) == 1 {
		height = 200
	}
	return drawing{height: height*vg.Length(len(panels)) + foot, paint: func(c draw.Canvas) {
		for i, p := range panels {
			area := draw.Crop(c, 8, -16, foot+6+height*vg.Length(len(panels)-1-i), -10-height*vg.Length(i))
			t.chart(area, p.x, shareAxis("share solved", floor), func(c draw.Canvas, x, y scale) { t.dots(c, p.x, p.dots, x, y) })
		}
		t.table(c, below)
	}}
}

func (t theme) dots(c draw.Canvas, over axis, dots []dot, x, y scale) {
	inside := func(v float64) vg.Length { return x(min(max(v, over.low), over.high)) }
	var front []vg.Point
	for _, d := range dots {
		if d.onFront {
			front = append(front, vg.Point{X: inside(d.x), Y: y(d.y)})
		}
	}
	if len(front) > 1 {
		c.StrokeLines(t.frontLine(), front)
	}
	for _, d := range dots {
		at, line := vg.Point{X: inside(d.x), Y: y(d.y)}, draw.LineStyle{Color: d.color, Width: 1.25}
		if d.ys != nil {
			c.StrokeLine2(line, at.X, y(d.ys.Low), at.X, y(d.ys.High))
		}
		if d.xs != nil {
			c.StrokeLine2(line, inside(d.xs.Low), at.Y, inside(d.xs.High), at.Y)
		}
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: d.color, Radius: 4.5, Shape: d.shape}, at)
	}
}

// frontLine joins the best choices.
func (t theme) frontLine() draw.LineStyle {
	return draw.LineStyle{Color: t.muted, Width: 1.25, Dashes: []vg.Length{4, 3}}
}

// table has a line for each name, with a mark and values in columns. The last column
// is to the right of its place, the others to the left of theirs.
type table struct {
	columns []column
	lines   []tableLine
	note    string // below, if any
}

type column struct {
	title string
	at    vg.Length
	mark  func(draw.Canvas, vg.Point) // before the title; nil for none
}

type tableLine struct {
	mark  func(draw.Canvas, vg.Point) // nil for none
	name  string
	cells []string
}

func (g table) height() vg.Length {
	lines := len(g.lines) + 1
	if g.note != "" {
		lines++
	}
	return lineHeight*vg.Length(lines) + 8
}

// table draws a table at the bottom of a canvas.
func (t theme) table(c draw.Canvas, g table) {
	y := c.Min.Y + g.height() - 2 - lineHeight/2
	write := func(col color.Color, x vg.Length, right bool, text string) {
		style := t.style(col, textSize, draw.XLeft, draw.YCenter)
		if right {
			style.XAlign = draw.XRight
		}
		c.FillText(style, vg.Point{X: c.Min.X + x, Y: y + keyLift}, text)
	}
	for i, col := range g.columns {
		write(t.muted, col.at, i < len(g.columns)-1, col.title)
		if col.mark != nil {
			col.mark(c, vg.Point{X: c.Min.X + col.at - 12, Y: y})
		}
	}
	for _, l := range g.lines {
		y -= lineHeight
		if l.mark != nil {
			l.mark(c, vg.Point{X: c.Min.X + 16, Y: y})
		}
		write(t.ink, 28, false, l.name)
		for i, cell := range l.cells {
			write(t.ink, g.columns[i].at, i < len(g.columns)-1, cell)
		}
	}
	y -= lineHeight
	write(t.muted, 28, false, g.note)
}
