package plot

import (
	"math"

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
	x         axis
	line      float64 // threshold; NaN means none
	lineLabel string
	values    []string
	row       func(i int, c draw.Canvas, x scale, y vg.Length)
	key       []keyEntry
}

func (g rows) drawing(r model.Report) drawing {
	const axisHeight, gap vg.Length = 32, 6
	names, n := g.labels(r, 19), len(r.Candidates)
	left, right := g.widest(names)+20, min(max(72, g.widest(g.values)+12), plotWidth/2)
	g.x.grid = true
	head := vg.Length(4)
	if !math.IsNaN(g.line) {
		head = 16
	}
	foot, key := g.theme.key(g.key)
	return drawing{height: head + g.height*vg.Length(n) + axisHeight + gap + foot, paint: func(c draw.Canvas) {
		g.chart(draw.Crop(c, left, -right, foot+gap, -head), g.x, axis{high: float64(n)}, func(area draw.Canvas, x, y scale) {
			if !math.IsNaN(g.line) {
				g.threshold(area, x(g.line), c.Max.X-8)
			}
			style := g.style(g.ink, textSize, draw.XRight, draw.YCenter)
			for i, name := range names {
				at := y(float64(n-i) - 0.5)
				area.FillText(style, vg.Point{X: c.Min.X + left - 12, Y: at + 2}, name)
				g.row(i, area, x, at)
				area.FillText(style, vg.Point{X: c.Max.X - 8, Y: at + 2}, g.values[i])
			}
		})
		key(c)
	}}
}

// threshold draws the dashed line and, above the data, its label, up to right.
func (g rows) threshold(c draw.Canvas, x, right vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: g.ink, Width: 1, Dashes: []vg.Length{3, 3}}, x, c.Min.Y, x, c.Max.Y+3)
	align := text.XAlignment(draw.XCenter)
	if x+g.widest([]string{g.lineLabel})/2 > right {
		align = draw.XRight
	}
	c.FillText(g.style(g.ink, textSize, align, draw.YBottom), vg.Point{X: x, Y: c.Max.Y + 4}, g.lineLabel)
}
