package plot

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/stat"
)

// dot is a value and a share of solved tasks, with their intervals where known.
type dot struct {
	name    string
	color   color.Color
	shape   draw.GlyphDrawer
	x, y    float64
	xs, ys  *stat.Interval
	onFront bool // is joined with the others that are
	at      vg.Point
}

// scatter plots shares of solved tasks against a value.
type scatter struct {
	label  string
	format format
	dots   []dot
}

// scatters draws scatters on one scale of shares, the last with a key. Those whose values
// are all 0 or less are left out.
func (t theme) scatters(all []scatter, floor float64, entries []keyEntry) (d drawing) {
	for _, s := range all {
		low, high, names := math.Inf(1), 0.0, vg.Length(0)
		for _, k := range s.dots {
			low, high, names = min(low, k.x), max(high, k.x), max(names, t.width(k.name))
			if k.xs != nil {
				high = max(high, k.xs.High)
			}
		}
		if high <= 0 || math.IsInf(high, 1) {
			continue
		}
		x := positive(s.label, low, high, s.format)
		height := max(150, lineHeight*vg.Length(len(s.dots)))
		d = append(d, part{height + x.room() + 12, func(c draw.Canvas) {
			t.chart(draw.Crop(c, 8, -8-names-leader, 4, -8), x, shareAxis("share solved", floor), func(c draw.Canvas, x, y scale) { t.dots(c, s.dots, x, y) })
		}})
	}
	if len(d) > 0 && len(entries) > 0 {
		foot, key := t.key(entries)
		body := d[len(d)-1]
		d[len(d)-1] = part{body.height + foot, func(c draw.Canvas) {
			body.paint(draw.Crop(c, 0, 0, foot, 0))
			key(c)
		}}
	}
	return d
}

// leader is the room for the lines from marks to names.
const leader vg.Length = 22

// dots draws the dots of a chart, and at its right their names, in the order of their
// heights, each with a line to its mark. Marks that would cover another stand beside it.
func (t theme) dots(c draw.Canvas, dots []dot, x, y scale) {
	dots = slices.Clone(dots)
	for i, d := range dots {
		at := vg.Point{X: x(d.x), Y: y(d.y)}
		covers := func(e dot) bool { return math.Hypot(float64(e.at.X-at.X), float64(e.at.Y-at.Y)) < 6 }
		for slices.ContainsFunc(dots[:i], covers) {
			at.X += 7
		}
		dots[i].at = at
	}
	var front []vg.Point
	for _, d := range dots {
		if d.onFront {
			front = append(front, d.at)
		}
	}
	if len(front) > 1 {
		c.StrokeLines(t.frontLine(), front)
	}
	level := func(d dot) float64 { return math.Round(float64(d.at.Y) / 8) } // of names that compete for a place
	slices.SortStableFunc(dots, func(a, b dot) int { return cmp.Or(cmp.Compare(level(b), level(a)), cmp.Compare(b.at.X, a.at.X)) })
	for i, y := range levels(dots, c.Min.Y, c.Max.Y) {
		d := dots[i]
		c.StrokeLine2(draw.LineStyle{Color: t.muted, Width: 0.5}, d.at.X, d.at.Y, c.Max.X+leader-8, y)
		t.write(c, t.ink, draw.XLeft, c.Max.X+leader-5, y, d.name)
	}
	for _, d := range dots {
		line := draw.LineStyle{Color: d.color, Width: 1.25}
		if d.ys != nil {
			c.StrokeLine2(line, d.at.X, y(d.ys.Low), d.at.X, y(d.ys.High))
		}
		if d.xs != nil {
			c.StrokeLine2(line, x(d.xs.Low), d.at.Y, x(d.xs.High), d.at.Y)
		}
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: d.color, Radius: 4.5, Shape: d.shape}, d.at)
	}
}

// levels are the heights of names as near to those of their dots, which fall, as lines
// below one another allow.
func levels(dots []dot, low, high vg.Length) []vg.Length {
	at := make([]vg.Length, len(dots))
	next := high
	for i, d := range dots {
		at[i] = min(next, d.at.Y)
		next = at[i] - lineHeight + 2
	}
	next = low
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = max(next, at[i])
		next = at[i] + lineHeight - 2
	}
	return at
}

// frontLine joins the best choices.
func (t theme) frontLine() draw.LineStyle {
	return draw.LineStyle{Color: t.muted, Width: 1.25, Dashes: []vg.Length{4, 3}}
}
