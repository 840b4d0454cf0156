package plot

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg/draw"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxPlotted is how many entrants the plot of strategies shows.
const maxPlotted = 16

// plotted is an entrant of a group with its label.
type plotted struct {
	*model.StrategyResult
	label string
	// agent and model are its places among those plotted.
	agent, model int
}

// allPlotted are the entrants of all groups, in order; more were left out.
func allPlotted(r *model.Report) (list []plotted, more int) {
	if r.Strategies == nil {
		return nil, 0
	}
	seen := map[string]bool{}
	var agents []string
	for i := range r.Strategies.Groups {
		g := &r.Strategies.Groups[i]
		for k := range g.Results {
			e := &g.Results[k]
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
	c := r.Strategies.All()[0]
	var front []string
	for _, e := range c.Results {
		if e.Front {
			front = append(front, model.AgentName(e.Agent))
		}
	}
	switch {
	case len(front) == 0:
		return "No trial has a result of every strategy"
	case len(front) == 1:
		return front[0] + " is alone on the front of " + c.Axes()
	case len(front) == len(c.Results):
		return fmt.Sprintf("All %d strategies are on the front of %s", len(front), c.Axes())
	}
	return "On the front of " + c.Axes() + ": " + words.And(front)
}

func strategiesAlt(r *model.Report) string {
	all, more := allPlotted(r)
	text := "Success, cost and time of an episode by strategy:"
	for i, e := range all {
		if i > 0 {
			text += ";"
		}
		success, interval := view.Estimate("share", e.Success)
		cost, _ := view.Estimate("nano-USD", e.Cost)
		time, _ := view.Estimate("us", e.Time)
		text += fmt.Sprintf(" %s %s (%s) for %s in %s", e.label, success, interval, cost, time)
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
// against how long it takes.
func (t theme) strategies(r model.Report) drawing {
	all, more := allPlotted(&r)
	if len(all) == 0 {
		return drawing{}
	}
	floor, seen := 1.0, map[string]bool{}
	cost, time := scatter{label: "cost of an episode", format: axisUSD}, scatter{label: "time of an episode", format: words.Duration}
	below := table{columns: []column{{"solved", 218, nil}, {"cost", 280, nil}, {"time", 332, nil}, {"front", 346, nil}}}
	for i, e := range all {
		col, shape := t.mark(e)
		for _, p := range []struct {
			*scatter
			of *model.Estimate
		}{{&cost, e.Cost}, {&time, e.Time}} {
			if p.of != nil {
				p.dots = append(p.dots, dot{col, shape, p.of.Value, e.Success.Value, p.of.Interval, e.Success.Interval, false})
			}
		}
		floor = min(floor, lowEnd(e.Success))
		line := tableLine{glyph(col, shape), t.label(e.label, i, 24, seen), nil}
		for _, c := range []struct {
			unit string
			of   *model.Estimate
		}{{"share", e.Success}, {"nano-USD", e.Cost}, {"us", e.Time}} {
			text, _ := view.Estimate(c.unit, c.of)
			line.cells = append(line.cells, text)
		}
		if e.Front {
			line.cells = append(line.cells, "yes")
		}
		below.lines = append(below.lines, line)
	}
	if more > 0 {
		below.note = fmt.Sprintf("and %d more, in the tables", more)
	}
	return t.scatters([]scatter{cost, time}, floor, below)
}

// mark has the colour of a strategy, and a shape that tells models apart: those of
// four strategies with eight models differ.
func (t theme) mark(e plotted) (color.Color, draw.GlyphDrawer) {
	_, shape := t.shape((e.agent + 4*e.model + e.model/2 + e.agent/4) % 8)
	return t.series[e.agent%len(t.series)], shape
}

// lowEnd is the low end of the interval, the value itself without one.
func lowEnd(e *model.Estimate) float64 {
	if e.Interval == nil {
		return e.Value
	}
	return e.Interval.Low
}
