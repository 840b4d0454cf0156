package plot

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/trend"
	"github.com/cupel-eval/cupel/reports/view"
)

// Sizes of the panels of a trend, in points, and how many candidates it shows.
const (
	trendPanel      vg.Length = 98
	trendMargin     vg.Length = 46 // so that the panels, one below another, are aligned
	trendCandidates           = 8
)

// timeline contains what all panels of a trend use.
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
// a candidate or the suite was changed. Runs are evenly spaced.
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
	var d drawing
	for _, m := range view.TrendMetrics() {
		list := slices.DeleteFunc(slices.Clone(r.Trend), func(s trend.Series) bool { return s.Metric != m.Name || !slices.Contains(l.shown, s.Candidate) })
		if len(list) > 0 {
			d = append(d, part{trendPanel + lineHeight, func(c draw.Canvas) { l.panel(draw.Crop(c, 8, -14, 0, 0), m, list) }})
		}
	}
	foot, key := t.key(l.key(r))
	return append(d, part{foot, key})
}

// choose picks the candidates that are drawn: those with changes first.
func (l *timeline) choose(r model.Report) {
	for _, changed := range []bool{true, false} {
		for _, s := range r.Trend {
			_, known := l.index[s.Candidate]
			if known && !slices.Contains(l.shown, s.Candidate) && (len(s.Changes) > 0 || !changed) {
				l.shown = append(l.shown, s.Candidate)
			}
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
	for _, e := range []struct {
		what string
		keyEntry
	}{
		{"interval", keyEntry{"95% interval", func(c draw.Canvas, at vg.Point) { box(c, l.grid, at.X-5, at.Y-4, at.X+5, at.Y+4) }}},
		{"level", keyEntry{"level changed", stroke(cutLine(l.fail), 0, 6)}},
		{"candidate", keyEntry{"candidate changed", glyph(l.muted, purposeShape("candidate"))}},
		{"suite", keyEntry{"suite changed", glyph(l.muted, purposeShape("suite"))}},
	} {
		if has[e.what] {
			key = append(key, e.keyEntry)
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

// cutLine is the line of a change of level.
func cutLine(col color.Color) draw.LineStyle {
	return draw.LineStyle{Color: col, Width: 1.25, Dashes: []vg.Length{4, 2}}
}

// panel draws one metric.
func (l *timeline) panel(c draw.Canvas, m view.TrendMetric, list []trend.Series) {
	c.FillText(l.style(l.ink, textSize, draw.XLeft, draw.YTop), vg.Point{X: c.Min.X, Y: c.Max.Y - 4}, m.Title)
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range list {
		for _, p := range s.Points {
			low, high = min(low, p.Value), max(high, p.Value)
			if p.Interval != nil {
				low, high = min(low, p.Interval.Low), max(high, p.Interval.High)
			}
		}
	}
	y := trendAxis(m, low, high)
	x := axis{low: -0.5, high: float64(len(l.runs)) - 0.5, ticks: l.dates()}
	l.chart(draw.Crop(c, trendMargin-l.widest(y.ticks), 0, 4, -lineHeight-9), x, y, func(c draw.Canvas, x, y scale) {
		c.StrokeLine2(draw.LineStyle{Color: l.grid, Width: 1}, c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
		l.draw(c, list, m, x, y)
	})
}

// trendAxis is an axis with some room around its values.
func trendAxis(m view.TrendMetric, low, high float64) axis {
	room, top, write := max(0.1*(high-low), 0.02*math.Abs(high), 1e-9), math.Inf(1), inUnits(1, "", "")
	switch m.Name {
	case trend.Solved, trend.Valid:
		room, top, write = 0.01, 1, shares
	case trend.Cost:
		write = dollars
	case trend.Latency:
		write = durations
	}
	low, high = max(0, low-room), min(top, high+room)
	return axis{low: low, high: high, ticks: roundTicks(low, high, 4, write)}
}

// dates are the days of up to five runs.
func (l *timeline) dates() (ticks []tick) {
	last := len(l.runs) - 1
	for i := range min(last+1, 5) {
		run := i * last / max(1, min(last, 4))
		ticks = append(ticks, tick{float64(run), l.runs[run].started.Format("2 Jan")})
	}
	return ticks
}

// draw draws the series of a panel: the intervals behind all lines.
func (l *timeline) draw(c draw.Canvas, list []trend.Series, m view.TrendMetric, x, y scale) {
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
	c.StrokeLine2(cutLine(col), x, c.Min.Y, x, c.Max.Y)
	style, at := l.style(col, textSize, draw.XLeft, draw.YTop), vg.Point{X: x + 3, Y: c.Max.Y + lineHeight - 3 - vg.Length(row%2)*(textSize+1)}
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
func (l *timeline) interval(c draw.Canvas, s trend.Series, at func(trend.Point) vg.Length, y scale) {
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
