package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxPlotted is how many entrants the plot of strategies shows.
const maxPlotted = 16

// plotted is an entrant of a group with its label.
type plotted struct {
	*model.Entrant
	label string
	// agent and model are its places among those plotted.
	agent, model int
}

// reportPlotted are the entrants of all groups, in order; more were left out.
func reportPlotted(r *model.Report) (list []plotted, more int) {
	if r.Strategies == nil {
		return nil, 0
	}
	seen := map[string]bool{}
	var agents []string
	for i := range r.Strategies.Groups {
		g := &r.Strategies.Groups[i]
		for k := range g.Entrants {
			e := &g.Entrants[k]
			if e.Success == nil {
				continue
			}
			if len(list) == maxPlotted {
				more++
				continue
			}
			name := model.AgentName(e.Agent)
			if len(r.Strategies.Groups) > 1 {
				name += " · " + view.Tell(r.Strategies, g)
			}
			if !slices.Contains(agents, e.Agent) {
				agents = append(agents, e.Agent)
			}
			list = append(list, plotted{e, label(name, len(list), 24, seen), slices.Index(agents, e.Agent), i})
		}
	}
	return list, more
}

func strategiesTitle(r *model.Report) string {
	if r.Strategies == nil {
		return ""
	}
	c := r.Strategies.Contests()[0]
	var front []string
	for _, e := range c.Entrants {
		if e.Front {
			front = append(front, model.AgentName(e.Agent))
		}
	}
	switch {
	case len(front) == 0:
		return "No trial has a result of every strategy"
	case len(front) == 1:
		return front[0] + " is alone on the front of " + c.Axes()
	case len(front) == len(c.Entrants):
		return fmt.Sprintf("All %d strategies are on the front of %s", len(front), c.Axes())
	}
	return "On the front of " + c.Axes() + ": " + words.And(front)
}

func strategiesAlt(r *model.Report) string {
	all, more := reportPlotted(r)
	text := "Success, cost and time of an episode by strategy:"
	for i, e := range all {
		if i > 0 {
			text += ";"
		}
		text += fmt.Sprintf(" %s %s (%s) for %s in %s", e.label, view.EstimateShare(e.Success), view.EstimateInterval(e.Success), view.EstimateUSD(e.Cost), view.EstimateTime(e.Time))
		if e.Front {
			text += ", on the front"
		}
	}
	if len(all) == 0 {
		text += " no data"
	}
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

// strategies sets success against what an episode costs, where that is known, and
// against how long it takes; below is a table of all three, which is also the key.
func (t theme) strategies(r model.Report) drawing {
	all, more := reportPlotted(&r)
	if len(all) == 0 {
		return drawing{}
	}
	seen := map[string]bool{}
	for i := range all {
		all[i].label = t.label(all[i].label, i, 24, seen)
	}
	const height vg.Length = 165
	var panels []func(draw.Canvas)
	floor := 1.0
	for _, e := range all {
		floor = min(floor, lowEnd(e.Success))
	}
	for _, p := range []struct {
		label  string
		of     func(*model.Entrant) *model.Estimate
		format func(float64) string
	}{
		{"cost of an episode", func(e *model.Entrant) *model.Estimate { return e.Cost }, axisUSD},
		{"time of an episode", func(e *model.Entrant) *model.Estimate { return e.Time }, words.Duration},
	} {
		if chart := t.against(all, floor, p.label, p.of, p.format); chart != nil {
			panels = append(panels, func(c draw.Canvas) { chart.Draw(c) })
		}
	}
	lines := len(all) + 1
	if more > 0 {
		lines++
	}
	foot := lineHeight*vg.Length(lines) + 8
	return drawing{height: height*vg.Length(len(panels)) + foot, paint: func(c draw.Canvas) {
		for i, paint := range panels {
			low := foot + height*vg.Length(len(panels)-1-i)
			paint(draw.Crop(c, 8, -16, low+6, -10-height*vg.Length(i)))
		}
		t.strategyTable(c, all, more)
	}}
}

// mark has the colour of a strategy, and a shape that tells models apart: those of
// four strategies with eight models differ.
func (t theme) mark(e plotted) (color.Color, draw.GlyphDrawer) {
	_, shape := t.shape((e.agent + 4*e.model + e.model/2 + e.agent/4) % 8)
	return t.series[e.agent%len(t.series)], shape
}

// against is a chart of success over a positive value; nil where none is known.
func (t theme) against(all []plotted, floor float64, label string, of func(*model.Entrant) *model.Estimate, format func(float64) string) *plot.Plot {
	low, high := math.Inf(1), 0.0
	for _, e := range all {
		if v := of(e.Entrant); v != nil {
			low, high = min(low, v.Value), max(high, highEnd(v))
		}
	}
	if high <= 0 || math.IsInf(high, 1) {
		return nil
	}
	p := t.chart()
	p.X.Label.Text, p.Y.Label.Text = label, "share solved"
	if low > 0 && high/low > 12 {
		low, high = low/1.6, high*1.6
		p.X.Tick.Marker = plot.ConstantTicks(logTicks(&low, &high, format))
		p.X.Scale, p.X.Label.Text = plot.LogScale{}, label+", logarithmic"
	} else {
		low, high = 0, high*1.1
		p.X.Tick.Marker = plot.ConstantTicks(linearTicks(&high, format))
	}
	p.X.Min, p.X.Max = low, high
	p.Y.Min, p.Y.Max = max(0, math.Floor((floor-0.02)*10)/10), 1
	ticks := shareTicks(p.Y.Min, 1)
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Add(painter(func(c draw.Canvas, x, y func(float64) vg.Length) {
		for _, v := range ticks {
			c.StrokeLine2(draw.LineStyle{Color: t.grid, Width: 0.75}, c.Min.X, y(v.Value), c.Max.X, y(v.Value))
		}
		for _, e := range all {
			v := of(e.Entrant)
			if v == nil {
				continue
			}
			col, shape := t.mark(e)
			at := vg.Point{X: x(max(v.Value, low)), Y: y(e.Success.Value)}
			line := draw.LineStyle{Color: col, Width: 1.25}
			if iv := e.Success.Interval; iv != nil {
				c.StrokeLine2(line, at.X, y(iv.Low), at.X, y(iv.High))
			}
			if iv := v.Interval; iv != nil {
				c.StrokeLine2(line, x(max(iv.Low, low)), at.Y, x(min(iv.High, high)), at.Y)
			}
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: 4.5, Shape: shape}, at)
		}
	}))
	return p
}

// strategyTable lists the entrants at the bottom of the canvas.
func (t theme) strategyTable(c draw.Canvas, all []plotted, more int) {
	const name, solved, cost, took, front vg.Length = 28, 218, 280, 332, 346
	left, right := t.style(t.ink, textSize, draw.XLeft, draw.YCenter), t.style(t.ink, textSize, draw.XRight, draw.YCenter)
	muted := t.style(t.muted, textSize, draw.XLeft, draw.YCenter)
	head := muted
	head.XAlign = draw.XRight
	lines := vg.Length(len(all))
	if more > 0 {
		lines++
	}
	y := c.Min.Y + 6 + lineHeight*(lines+0.5)
	for _, h := range []struct {
		x    vg.Length
		text string
	}{{solved, "solved"}, {cost, "cost"}, {took, "time"}} {
		c.FillText(head, vg.Point{X: c.Min.X + h.x, Y: y}, h.text)
	}
	c.FillText(muted, vg.Point{X: c.Min.X + front, Y: y}, "front")
	for _, e := range all {
		y -= lineHeight
		col, shape := t.mark(e)
		glyph(col, shape)(c, vg.Point{X: c.Min.X + 16, Y: y})
		text := y + keyLift
		c.FillText(left, vg.Point{X: c.Min.X + name, Y: text}, e.label)
		c.FillText(right, vg.Point{X: c.Min.X + solved, Y: text}, view.EstimateShare(e.Success))
		c.FillText(right, vg.Point{X: c.Min.X + cost, Y: text}, view.EstimateUSD(e.Cost))
		c.FillText(right, vg.Point{X: c.Min.X + took, Y: text}, view.EstimateTime(e.Time))
		if e.Front {
			c.FillText(left, vg.Point{X: c.Min.X + front, Y: text}, "yes")
		}
	}
	if more > 0 {
		c.FillText(muted, vg.Point{X: c.Min.X + name, Y: y - lineHeight}, fmt.Sprintf("and %d more, in the tables", more))
	}
}

// lowEnd and highEnd are the ends of the interval, the value itself without one.
func lowEnd(e *model.Estimate) float64 {
	if e.Interval == nil {
		return e.Value
	}
	return e.Interval.Low
}

func highEnd(e *model.Estimate) float64 {
	if e.Interval == nil {
		return e.Value
	}
	return e.Interval.High
}
