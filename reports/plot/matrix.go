package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
)

// maxColumns bounds the candidates of a matrix: those after them would be too
// narrow to read.
const maxColumns = 24

// matrix is a table of small cells, with candidates as columns: the stronger the colour of a
// cell, the worse. Every cell also says its value.
type matrix struct {
	theme
	lines []matrixLine
	note  string
}

// matrixLine is a row, or a heading where it has no cells.
type matrixLine struct {
	label string
	cells []matrixCell
}

// matrixCell is nothing to show where text is empty. shade is 0 to 1.
type matrixCell struct {
	text  string
	shade float64
}

const matrixRow vg.Length = 14

func (g matrix) drawing(r model.Report) drawing {
	names := g.labels(r, 16)
	if len(names) > maxColumns {
		names = names[:maxColumns]
		g.note += " Only the first candidates are shown."
	}
	left, label := vg.Length(0), g.style(g.ink, textSize, draw.XRight, draw.YCenter)
	for _, l := range g.lines {
		left = max(left, label.Width(l.label))
	}
	cell := min(72, (plotWidth-left-8-8-8)/vg.Length(max(1, len(names))))
	head, upright, wide := g.style(g.ink, textSize, draw.XCenter, draw.YBottom), false, vg.Length(0)
	for _, n := range names {
		wide = max(wide, head.Width(n))
	}
	room := vg.Length(16)
	if wide > cell-4 {
		room, upright = wide+8, true
		head.Rotation, head.XAlign, head.YAlign = math.Pi/2, draw.XLeft, draw.YCenter
	}
	note := g.style(g.muted, textSize, draw.XLeft, draw.YBottom)
	foot := wrap(g.note, note, plotWidth-16)
	below := note.Height(foot) + 16
	return drawing{height: room + matrixRow*vg.Length(len(g.lines)) + below, paint: func(c draw.Canvas) {
		x := func(i int) vg.Length { return c.Min.X + 8 + left + 8 + cell*vg.Length(i) }
		top := c.Max.Y - room
		for i, n := range names {
			at := vg.Point{X: x(i) + cell/2, Y: top + 4}
			if upright {
				at.X -= 1 // the letters' middle, not the line's
			}
			c.FillText(head, at, n)
		}
		for i, l := range g.lines {
			y := top - matrixRow*(vg.Length(i)+0.5)
			if l.cells == nil {
				heading := g.style(g.muted, textSize, draw.XRight, draw.YCenter)
				c.FillText(heading, vg.Point{X: x(0) - 8, Y: y + 1}, l.label)
				continue
			}
			c.FillText(label, vg.Point{X: x(0) - 8, Y: y + 1}, l.label)
			for k, v := range l.cells[:min(len(l.cells), len(names))] {
				g.cell(c, v, vg.Rectangle{Min: vg.Point{X: x(k), Y: y - matrixRow/2}, Max: vg.Point{X: x(k + 1), Y: y + matrixRow/2}})
			}
		}
		c.FillText(note, vg.Point{X: c.Min.X + 8, Y: c.Min.Y + 6}, foot)
	}}
}

func (g matrix) cell(c draw.Canvas, v matrixCell, box vg.Rectangle) {
	const gap = 0.5
	x0, y0, x1, y1 := box.Min.X+gap, box.Min.Y+gap, box.Max.X-gap, box.Max.Y-gap
	if v.text == "" {
		return
	}
	c.FillPolygon(shaded(g.fail, 0.06+0.5*v.shade), []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
	size := min(8, (x1-x0)/2)
	c.FillText(g.style(g.ink, size, draw.XCenter, draw.YCenter), vg.Point{X: (x0 + x1) / 2, Y: (y0+y1)/2 + size/10}, v.text)
}

// shaded lets the ground shine through a colour.
func shaded(c color.NRGBA, share float64) color.NRGBA {
	c.A = uint8(math.Round(255 * min(1, max(0, share))))
	return c
}
