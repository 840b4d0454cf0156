package plot

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
)

// rows is a chart with one row for each candidate: its name and its value written out,
// and its marks below them, on one axis.
type rows struct {
	theme
	marks     vg.Length // height of the marks of a row
	x         axis
	line      float64 // threshold; NaN means none
	lineLabel string
	values    []string
	row       func(i int, c draw.Canvas, x scale, y vg.Length) // y is the middle of the marks
	key       []keyEntry
}

func (g rows) drawing(r model.Report) drawing {
	const gap vg.Length = 6
	names, n, each := g.labels(r, 24), vg.Length(len(r.Candidates)), lineHeight+g.marks+gap
	g.x.grid = false // lines would cross the names
	head, hasLine := vg.Length(0), !math.IsNaN(g.line)
	if hasLine {
		head = lineHeight
	}
	foot, key := g.theme.key(g.key)
	return drawing{{height: head + each*n + g.x.room() + foot + 4, paint: func(c draw.Canvas) {
		inner := draw.Crop(c, 8, -8, foot, -head-4)
		g.chart(inner, g.x, axis{high: 1}, func(area draw.Canvas, x, _ scale) {
			if hasLine {
				half := g.width(g.lineLabel) / 2
				g.write(c, g.ink, draw.XCenter, max(inner.Min.X+half, min(inner.Max.X-half, x(g.line))), c.Max.Y-lineHeight/2-2, g.lineLabel)
			}
			for i, name := range names {
				top := area.Max.Y - each*vg.Length(i)
				g.write(c, g.ink, draw.XLeft, inner.Min.X, top-lineHeight/2, name)
				g.write(c, g.ink, draw.XRight, inner.Max.X, top-lineHeight/2, g.values[i])
				strip := area
				strip.Max.Y, strip.Min.Y = top-lineHeight, top-lineHeight-g.marks
				for _, k := range g.x.ticks {
					strip.StrokeLine2(draw.LineStyle{Color: g.grid, Width: 0.75}, x(k.value), strip.Min.Y, x(k.value), strip.Max.Y)
				}
				if hasLine {
					strip.StrokeLine2(draw.LineStyle{Color: g.ink, Width: 1, Dashes: []vg.Length{3, 3}}, x(g.line), strip.Min.Y-gap/2, x(g.line), strip.Max.Y)
				}
				g.row(i, strip, x, strip.Center().Y)
			}
		})
		key(c)
	}}}
}
