package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// frontier are the candidates, cheapest first, of which no other solves as large a
// share for less, or a larger one for as little: the rest are never the best
// choice. Those without a known cost have no place.
func frontier(r *model.Report) []int {
	var all []int
	for i, c := range r.Candidates {
		if c.CostPerSolved != nil {
			all = append(all, i)
		}
	}
	cost := func(i int) float64 { return *r.Candidates[i].CostPerSolved }
	solved := func(i int) float64 { return *r.Candidates[i].Success.Value }
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Or(cmp.Compare(cost(a), cost(b)), cmp.Compare(solved(b), solved(a))) })
	var front []int
	for _, i := range all {
		last := len(front) - 1
		if last < 0 || solved(i) > solved(front[last]) || solved(i) == solved(front[last]) && cost(i) == cost(front[last]) {
			front = append(front, i)
		}
	}
	return front
}

func costTitle(r *model.Report) string {
	priced := 0
	for _, c := range r.Candidates {
		if c.CostPerSolved != nil {
			priced++
		}
	}
	front, names := frontier(r), labels(*r, 24)
	switch {
	case priced == 0:
		return "No cost per solved task is known"
	case len(r.Candidates) == 1:
		return fmt.Sprintf("A solved task costs %s", words.DollarsOf(r.Candidates[0].CostPerSolved))
	case priced == 1:
		return fmt.Sprintf("Only the cost of %s is known", names[front[0]])
	case len(front) == 1:
		return names[front[0]] + " solves most and is cheapest"
	case len(front) == priced:
		return fmt.Sprintf("All %d on the efficient frontier: more success costs more", priced)
	}
	return "On the efficient frontier: " + listed(names, front, 3)
}

// listed lists at most n of the names.
func listed(names []string, of []int, n int) string {
	var parts []string
	for _, i := range of[:min(n, len(of))] {
		parts = append(parts, names[i])
	}
	s := strings.Join(parts, ", ")
	if more := len(of) - n; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

func costAlt(r *model.Report) string {
	text := alt(r, "Cost per solved task and share solved", func(c model.Candidate) string {
		if c.Success.Value == nil {
			return ""
		}
		return words.DollarsOf(c.CostPerSolved) + " and " + c.Success.Rate()
	})
	if front := frontier(r); len(front) > 0 {
		text += " On the frontier, cheapest first: " + listed(altNames(r), front, 12) + "."
	}
	return text
}

// shape of the i-th candidate in plots that draw all of them in one place; the
// first 32 differ.
func (t theme) shape(i int) (color.Color, draw.GlyphDrawer) {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}
	return t.series[i%len(t.series)], shapes[(i+i/len(shapes))%len(shapes)]
}

// costs sets the cost of a solved task against the share solved, with the
// frontier as a dashed line. Below is a table of both, which is also the key.
func (t theme) costs(r model.Report) drawing {
	low, high, zero, floor := math.Inf(1), 0.0, false, 1.0
	for _, c := range r.Candidates {
		if v := c.CostPerSolved; v != nil {
			low, high, zero = min(low, *v), max(high, *v), zero || *v <= 0
			floor = min(floor, c.Success.Interval.Low)
		}
	}
	if high <= 0 {
		return drawing{}
	}
	p := t.chart()
	p.X.Label.Text = "cost per solved task"
	if !zero && high/low > 8 {
		low, high = low/1.6, high*1.6
		p.X.Tick.Marker = plot.ConstantTicks(logTicks(&low, &high, axisUSD))
		p.X.Scale, p.X.Min, p.X.Max = plot.LogScale{}, low, high
		p.X.Label.Text += ", logarithmic"
	} else {
		high *= 1.15
		p.X.Tick.Marker = plot.ConstantTicks(linearTicks(&high, axisUSD))
		p.X.Min, p.X.Max = 0, high
	}
	p.Y.Min, p.Y.Max, p.Y.Label.Text = max(0, math.Floor((floor-0.02)*10)/10), 1, "share solved"
	ticks := shareTicks(p.Y.Min, 1)
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	front := frontier(&r)
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) { t.costPoints(r, front, ticks, c, x, y) }))
	foot := lineHeight*vg.Length(len(r.Candidates)+1) + 8
	return drawing{height: 200 + foot, paint: func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 8, -16, foot, -10))
		t.costTable(c, r, front)
	}}
}

func (t theme) costPoints(r model.Report, front []int, ticks []plot.Tick, c draw.Canvas, x, y func(float64) vg.Length) {
	for _, v := range ticks {
		c.StrokeLine2(draw.LineStyle{Color: t.grid, Width: 0.75}, c.Min.X, y(v.Value), c.Max.X, y(v.Value))
	}
	at := func(i int) vg.Point {
		k := r.Candidates[i]
		return vg.Point{X: x(*k.CostPerSolved), Y: y(*k.Success.Value)}
	}
	var line []vg.Point
	for _, i := range front {
		line = append(line, at(i))
	}
	if len(line) > 1 {
		c.StrokeLines(t.frontierLine(), line)
	}
	for i, k := range r.Candidates {
		if k.CostPerSolved == nil {
			continue
		}
		col, shape := t.shape(i)
		p := at(i)
		if iv := k.Success.Interval; iv != nil {
			c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.25}, p.X, y(iv.Low), p.X, y(iv.High))
		}
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: 4.5, Shape: shape}, p)
	}
}

func (t theme) frontierLine() draw.LineStyle {
	return draw.LineStyle{Color: t.muted, Width: 1.25, Dashes: []vg.Length{4, 3}}
}

// costTable lists the candidates with both values at the bottom of the canvas.
func (t theme) costTable(c draw.Canvas, r model.Report, front []int) {
	const name, cost, solved, last vg.Length = 28, 238, 292, 306
	left, right := t.style(t.ink, textSize, draw.XLeft, draw.YCenter), t.style(t.ink, textSize, draw.XRight, draw.YCenter)
	muted := t.style(t.muted, textSize, draw.XLeft, draw.YCenter)
	y := c.Min.Y + 6 + lineHeight*(vg.Length(len(r.Candidates))+0.5)
	head := muted
	head.XAlign = draw.XRight
	c.FillText(head, vg.Point{X: c.Min.X + cost, Y: y}, "per solved task")
	c.FillText(head, vg.Point{X: c.Min.X + solved, Y: y}, "solved")
	c.StrokeLine2(t.frontierLine(), c.Min.X+last, y-1, c.Min.X+last+16, y-1)
	c.FillText(muted, vg.Point{X: c.Min.X + last + 20, Y: y}, "frontier")
	for i, label := range t.labels(r, 24) {
		y -= lineHeight
		k := r.Candidates[i]
		if k.CostPerSolved != nil {
			col, shape := t.shape(i)
			glyph(col, shape)(c, vg.Point{X: c.Min.X + 16, Y: y})
		}
		text := y + keyLift
		c.FillText(left, vg.Point{X: c.Min.X + name, Y: text}, label)
		c.FillText(right, vg.Point{X: c.Min.X + cost, Y: text}, words.DollarsOf(k.CostPerSolved))
		c.FillText(right, vg.Point{X: c.Min.X + solved, Y: text}, k.Success.Rate())
		if slices.Contains(front, i) {
			c.FillText(left, vg.Point{X: c.Min.X + last + 20, Y: text}, "yes")
		}
	}
}

// axisUSD formats a round number of nano-USD.
func axisUSD(nano float64) string {
	if nano >= 1e12 {
		return "$" + scaled(nano/1e9)
	}
	return words.USD(nano)
}
