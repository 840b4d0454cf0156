package reports

import (
	"fmt"
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

// validity shows the share of contract-valid first outputs with its interval.
func (t theme) validity(r Report) drawing {
	found, low := make([]Criterion, len(r.Candidates)), r.Run.Acceptance.MinValid
	any := false
	g := rows{theme: t, height: 26, high: 1, label: "contract-valid first outputs", line: r.Run.Acceptance.MinValid}
	for i, c := range r.Candidates {
		g.values = append(g.values, "–")
		for _, k := range c.Criteria {
			if k.Name == "valid_json" && k.Interval != nil {
				found[i], any, low = k, true, min(low, k.Interval.Low)
				g.values[i] = k.value()
			}
		}
	}
	if !any {
		return drawing{}
	}
	g.low = max(0, math.Floor((low-0.005)*20)/20)
	g.ticks = shareTicks(g.low, g.high)
	g.lineLabel = "needs " + percent(g.line)
	g.row = func(i int, c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
		if k := found[i]; k.Interval != nil {
			col, shape := t.look(k.Verdict)
			t.band(c, col, shape, x(k.Interval.Low), x(*k.Value), x(k.Interval.High), y)
		}
	}
	for _, v := range []Verdict{Pass, Inconclusive, Fail} {
		col, shape := t.look(v)
		g.key = append(g.key, keyEntry{word(v), glyph(col, shape)})
	}
	g.key = append(g.key, keyEntry{percent(r.Run.Acceptance.Confidence) + " interval", func(c draw.Canvas, at vg.Point) {
		c.StrokeLine2(draw.LineStyle{Color: t.muted, Width: 2}, at.X-5, at.Y, at.X+5, at.Y)
	}})
	return g.drawing(r)
}

// rates shows the shares of episodes that thrash and that stall.
func (t theme) rates(r Report) drawing {
	g := rows{theme: t, height: 32, label: "share of episodes", line: math.NaN()}
	any, high := false, 0.0
	for _, c := range r.Candidates {
		if c.Thrash.Interval == nil {
			g.values = append(g.values, "–")
			continue
		}
		any, high = true, max(high, c.Thrash.Interval.High, c.Stall.Interval.High)
		g.values = append(g.values, c.Thrash.rate()+" · "+c.Stall.rate())
	}
	if !any {
		return drawing{}
	}
	g.high = min(1, math.Ceil((high+0.001)*20)/20)
	g.ticks = shareTicks(0, g.high)
	g.row = func(i int, c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
		m := r.Candidates[i].Metrics
		if iv := m.Thrash.Interval; iv != nil {
			t.band(c, t.accent, draw.CircleGlyph{}, x(iv.Low), x(*m.Thrash.Value), x(iv.High), y+5.5)
		}
		if iv := m.Stall.Interval; iv != nil {
			t.band(c, t.second, draw.BoxGlyph{}, x(iv.Low), x(*m.Stall.Value), x(iv.High), y-5.5)
		}
	}
	g.key = []keyEntry{
		{"thrash: repeats an action", glyph(t.accent, draw.CircleGlyph{})},
		{"stall: asks again and again", glyph(t.second, draw.BoxGlyph{})},
	}
	return g.drawing(r)
}

// latency shows the durations of turns on a logarithmic axis.
func (t theme) latency(r Report) drawing {
	low, high := math.Inf(1), math.Inf(-1)
	g := rows{theme: t, height: 26, label: "duration of a turn, logarithmic", line: math.NaN(), scale: plot.LogScale{}}
	for _, c := range r.Candidates {
		g.values = append(g.values, c.Latency.median())
		if c.Latency != nil {
			low, high = min(low, c.Latency.P5), max(high, c.Latency.P95)
		}
	}
	if low > high {
		return drawing{}
	}
	const least = 1 // a microsecond: a logarithm needs something
	low, high = max(low, least), max(high, 2*least)
	g.low, g.high = low/1.25, high*1.25
	g.ticks = logTicks(&g.low, &g.high, duration)
	g.row = func(i int, c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
		s := r.Candidates[i].Latency
		if s == nil {
			return
		}
		at := func(v float64) vg.Length { return x(max(v, least)) }
		c.StrokeLine2(draw.LineStyle{Color: t.accent, Width: 1.5}, at(s.P5), y, at(s.P95), y)
		c.FillPolygon(t.accent, []vg.Point{
			{X: at(s.P25) - 0.5, Y: y - 5}, {X: at(s.P75) + 0.5, Y: y - 5}, {X: at(s.P75) + 0.5, Y: y + 5}, {X: at(s.P25) - 0.5, Y: y + 5},
		})
		c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 2}, at(s.P50), y-7, at(s.P50), y+7)
	}
	g.key = []keyEntry{
		{"middle half of turns", glyph(t.accent, draw.BoxGlyph{})},
		{"median, written on the right", func(c draw.Canvas, at vg.Point) {
			c.StrokeLine2(draw.LineStyle{Color: t.ink, Width: 2}, at.X, at.Y-5, at.X, at.Y+5)
		}},
		{"5th to 95th percentile", func(c draw.Canvas, at vg.Point) {
			c.StrokeLine2(draw.LineStyle{Color: t.accent, Width: 1.5}, at.X-5, at.Y, at.X+5, at.Y)
		}},
	}
	return g.drawing(r)
}

// steps shows how many steps solved episodes took.
func (t theme) steps(r Report) drawing {
	const most = 24 // longer episodes share the last bar
	limit := r.Run.Acceptance.MaxSteps
	last, any := int(math.Ceil(limit))+1, false
	g := rows{theme: t, height: 36, low: 0.5, label: "steps of a solved episode", lineLabel: "limit " + number(limit)}
	g.line = math.Floor(limit) + 0.5
	for i, c := range r.Candidates {
		g.values = append(g.values, "–")
		for _, s := range c.Steps {
			any, last = true, max(last, s.Value)
		}
		for _, k := range c.Criteria {
			if k.Name == "steps_per_solved" && k.Value != nil {
				g.values[i] = "mean " + k.value()
			}
		}
	}
	if !any {
		return drawing{}
	}
	last = min(last, most)
	g.high = float64(last) + 0.5
	g.line = min(g.line, g.high)
	for v := 1; v <= last; v += 1 + last/13 {
		g.ticks = append(g.ticks, plot.Tick{Value: float64(v), Label: fmt.Sprint(v)})
	}
	g.row = func(i int, c draw.Canvas, x func(float64) vg.Length, y vg.Length) {
		t.bars(c, r.Candidates[i].Metrics, limit, last, x, y-g.height/2+4, g.height-10)
	}
	g.key = []keyEntry{
		{"within the limit", glyph(t.accent, draw.BoxGlyph{})},
		{"beyond the limit", glyph(t.fail, draw.BoxGlyph{})},
	}
	return g.drawing(r)
}

// bars draws one row's histogram on the line y = base.
func (t theme) bars(c draw.Canvas, m Metrics, limit float64, last int, x func(float64) vg.Length, base, height vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: t.grid, Width: 1}, c.Min.X, base, c.Max.X, base)
	shown, tallest := make([]int, last+1), 1
	for _, s := range m.Steps {
		at := min(max(s.Value, 0), last)
		shown[at] += s.N
		tallest = max(tallest, shown[at])
	}
	for v, n := range shown {
		if n == 0 || v == 0 {
			continue
		}
		col := t.accent
		if float64(v) > limit {
			col = t.fail
		}
		top := base + max(1, height*vg.Length(n)/vg.Length(tallest))
		left, right := x(float64(v)-0.36), x(float64(v)+0.36)
		c.FillPolygon(col, []vg.Point{{X: left, Y: base}, {X: right, Y: base}, {X: right, Y: top}, {X: left, Y: top}})
	}
}
