package plot

import (
	"image/color"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/trend"
	"github.com/cupel-eval/cupel/reports/view"
)

// Sizes of the panels of a trend, in points, and how many candidates it shows.
const (
	trendPanel      vg.Length = 92
	trendFoot       vg.Length = 14
	trendMargin     vg.Length = 46 // for the labels of all panels, which stand below one another
	trendCandidates           = 8
)

// timeline is what the panels of a trend have in common.
type timeline struct {
	theme
	runs  []trendRun
	place map[trendRun]float64
	shown []string // candidates
	index map[string]int
	names []string
}

// trend draws a panel for each metric: a line for each candidate with its interval
// behind it, a dashed line where a series changed its level, and marks where
// something was changed on purpose. Runs are evenly spaced.
func (t theme) trend(r model.Report) drawing {
	l := timeline{theme: t, place: map[trendRun]float64{}, index: map[string]int{}, names: t.labels(r, 19)}
	l.runs, _ = trendRuns(&r)
	for i, run := range l.runs {
		l.place[run] = float64(i)
	}
	for i, c := range r.Candidates {
		l.index[c.Name] = i
	}
	l.choose(r)
	var panels []view.TrendMetric
	for _, m := range view.TrendMetrics() {
		if slices.ContainsFunc(r.Trend, func(s trend.Series) bool { return s.Metric == m.Name && slices.Contains(l.shown, s.Candidate) }) {
			panels = append(panels, m)
		}
	}
	if len(panels) == 0 {
		return drawing{}
	}
	key := l.key(r)
	foot := t.keyHeight(key) + 4
	return drawing{height: trendPanel*vg.Length(len(panels)) + trendFoot + foot, paint: func(c draw.Canvas) {
		for i, m := range panels {
			cell := c
			cell.Max.Y = c.Max.Y - trendPanel*vg.Length(i)
			cell.Min.Y = cell.Max.Y - trendPanel
			if i == len(panels)-1 {
				cell.Min.Y -= trendFoot
			}
			l.panel(draw.Crop(cell, 8, -14, 0, 0), r, m, i == len(panels)-1)
		}
		t.drawKey(c, key)
	}}
}

// choose picks the candidates that are drawn: those with changes first.
func (l *timeline) choose(r model.Report) {
	var rest []string
	for _, s := range r.Trend {
		if _, known := l.index[s.Candidate]; !known {
			continue
		}
		if len(s.Changes) > 0 && !slices.Contains(l.shown, s.Candidate) {
			l.shown = append(l.shown, s.Candidate)
		}
		if !slices.Contains(rest, s.Candidate) {
			rest = append(rest, s.Candidate)
		}
	}
	for _, name := range rest {
		if !slices.Contains(l.shown, name) {
			l.shown = append(l.shown, name)
		}
	}
	l.shown = l.shown[:min(len(l.shown), trendCandidates)]
	slices.SortFunc(l.shown, func(a, b string) int { return l.index[a] - l.index[b] })
}

// key explains the marks that are there.
func (l *timeline) key(r model.Report) (key []keyEntry) {
	for _, name := range l.shown {
		col, shape := l.shape(l.index[name])
		key = append(key, keyEntry{l.names[l.index[name]], glyph(col, shape)})
	}
	has := map[string]bool{}
	for _, s := range r.Trend {
		has["level"] = has["level"] || len(s.Changes) > 0
		has["interval"] = has["interval"] || s.Points[0].Interval != nil
		for _, p := range s.Points {
			for _, what := range p.Changed {
				has[what] = true
			}
		}
	}
	if has["interval"] {
		key = append(key, keyEntry{"95% interval", func(c draw.Canvas, at vg.Point) { box(c, l.grid, at.X-5, at.Y-4, at.X+5, at.Y+4) }})
	}
	if has["level"] {
		key = append(key, keyEntry{"level changed", func(c draw.Canvas, at vg.Point) { l.cut(c, l.fail, at.X, at.Y-6, at.Y+6) }})
	}
	for _, what := range []string{"candidate", "suite"} {
		if has[what] {
			key = append(key, keyEntry{what + " changed on purpose", glyph(l.muted, purposeShape(what))})
		}
	}
	return key
}

func purposeShape(what string) draw.GlyphDrawer {
	if what == "suite" {
		return draw.SquareGlyph{}
	}
	return draw.TriangleGlyph{}
}

func box(c draw.Canvas, col color.Color, left, bottom, right, top vg.Length) {
	c.FillPolygon(col, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
}

// cut is the line of a change of level.
func (l *timeline) cut(c draw.Canvas, col color.Color, x, bottom, top vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.25, Dashes: []vg.Length{4, 2}}, x, bottom, x, top)
}

// panel draws one metric, with the dates if it is the last.
func (l *timeline) panel(c draw.Canvas, r model.Report, m view.TrendMetric, last bool) {
	c.FillText(l.style(l.ink, textSize, draw.XLeft, draw.YTop), vg.Point{X: c.Min.X, Y: c.Max.Y - 4}, m.Title)
	var list []trend.Series
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range r.Trend {
		if s.Metric != m.Name || !slices.Contains(l.shown, s.Candidate) {
			continue
		}
		list = append(list, s)
		for _, p := range s.Points {
			low, high = min(low, p.Value), max(high, p.Value)
			if p.Interval != nil {
				low, high = min(low, p.Interval.Low), max(high, p.Interval.High)
			}
		}
	}
	p := l.chart()
	p.Y.Min, p.Y.Max = low, high
	p.Y.Tick.Marker = plot.ConstantTicks(trendTicks(m, &p.Y.Min, &p.Y.Max))
	p.Y.Tick.Label.Font.Size = textSize - 1
	p.X.Min, p.X.Max = -0.5, float64(len(l.runs))-0.5
	p.X.Tick.Marker = plot.ConstantTicks(nil)
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		l.draw(c, list, m, x, y)
		if last {
			l.dates(c, x)
		}
	}))
	foot := vg.Length(4)
	if last {
		foot += trendFoot
	}
	p.Draw(draw.Crop(c, trendMargin-leftWidth(p), 0, foot, -lineHeight-3))
}

// leftWidth is what a plot takes for its vertical axis.
func leftWidth(p *plot.Plot) vg.Length {
	widest := vg.Length(0)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		widest = max(widest, p.Y.Tick.Label.Width(t.Label))
	}
	return widest
}

// dates writes the days of up to five runs below the axis.
func (l *timeline) dates(c draw.Canvas, x func(float64) vg.Length) {
	n := len(l.runs)
	count := min(n, 5)
	for i := range count {
		run := i * (n - 1) / max(1, count-1)
		style := l.style(l.muted, textSize, draw.XCenter, draw.YTop)
		text := l.runs[run].started.Format("01-02")
		if i == 0 || i == count-1 {
			text = l.runs[run].started.Format(time.DateOnly)
		}
		at := min(x(float64(run)), c.Max.X-style.Width(text)/2)
		c.FillText(style, vg.Point{X: at, Y: c.Min.Y - 5}, text)
	}
}

// draw draws the series of a panel: the intervals behind all lines.
func (l *timeline) draw(c draw.Canvas, list []trend.Series, m view.TrendMetric, x, y func(float64) vg.Length) {
	at := func(p trend.Point) vg.Length { return x(l.place[trendRun{p.RunID, p.Started}]) }
	for _, s := range list {
		l.interval(c, s, at, y)
	}
	for _, s := range list {
		col, shape := l.shape(l.index[s.Candidate])
		var path []vg.Point
		for _, p := range s.Points {
			path = append(path, vg.Point{X: at(p), Y: y(p.Value)})
		}
		c.StrokeLines(draw.LineStyle{Color: col, Width: 1.25}, path)
		radius := min(3, max(1.2, 60/vg.Length(len(l.runs))))
		for i, p := range s.Points {
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: radius, Shape: shape}, path[i])
			for _, what := range p.Changed {
				c.DrawGlyphNoClip(draw.GlyphStyle{Color: l.muted, Radius: 3, Shape: purposeShape(what)}, vg.Point{X: (path[i].X + at(s.Points[i-1])) / 2, Y: c.Min.Y})
			}
		}
	}
	row := 0
	for _, s := range list {
		for _, ch := range s.Changes {
			l.change(c, s, view.Shift{TrendMetric: m, Change: ch, Series: &s}, (at(s.Points[ch.At])+at(s.Points[ch.At-1]))/2, row)
			row++
		}
	}
}

// change draws the line of a change of level and, beside it, the levels before and after.
func (l *timeline) change(c draw.Canvas, s trend.Series, ch view.Shift, x vg.Length, row int) {
	col := l.fail
	if ch.Better() {
		col = l.pass
	}
	l.cut(c, col, x, c.Min.Y, c.Max.Y)
	style, at := l.style(col, textSize-1, draw.XLeft, draw.YTop), vg.Point{X: x + 3, Y: c.Max.Y + lineHeight - 3 - vg.Length(row%2)*(textSize+1)}
	text := ch.Format(ch.Before) + " → " + ch.Format(ch.After)
	if len(l.shown) > 1 {
		text = l.names[l.index[s.Candidate]] + " " + text
	}
	if at.X+style.Width(text) > c.Max.X+12 {
		style.XAlign, at.X = draw.XRight, x-3
	}
	c.FillText(style, at, text)
}

// interval fills what lies between the ends of the intervals.
func (l *timeline) interval(c draw.Canvas, s trend.Series, at func(trend.Point) vg.Length, y func(float64) vg.Length) {
	var upper, lower []vg.Point
	for _, p := range s.Points {
		if p.Interval != nil {
			upper = append(upper, vg.Point{X: at(p), Y: y(p.Interval.High)})
			lower = append(lower, vg.Point{X: at(p), Y: y(p.Interval.Low)})
		}
	}
	if len(upper) > 1 {
		slices.Reverse(lower)
		c.FillPolygon(l.grid, append(upper, lower...))
	}
}

// trendTicks are two to four round values; low and high grow to hold some room.
func trendTicks(m view.TrendMetric, low, high *float64) []plot.Tick {
	if m.Format(0) == "0%" {
		*low, *high = max(0, *low-0.01), min(1, *high+0.01)
	} else {
		room := max(0.1*(*high-*low), 0.02*math.Abs(*high), 1e-9)
		*low, *high = max(0, *low-room), *high+room
	}
	step := math.Pow(10, math.Floor(math.Log10(*high-*low)))
	for _, f := range []float64{5, 2, 1, 0.5, 0.2} {
		if math.Floor(*high/(f*step))-math.Ceil(*low/(f*step)) >= 1 {
			step *= f
			break
		}
	}
	var ticks []plot.Tick
	for k := math.Ceil(*low / step); k <= math.Floor(*high/step) && len(ticks) < 6; k++ {
		ticks = append(ticks, plot.Tick{Value: k * step, Label: m.Format(k * step)})
	}
	return ticks
}
