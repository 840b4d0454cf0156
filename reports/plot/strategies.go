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
			list = append(list, plotted{e, label(name, len(list), 22, seen), slices.Index(agents, e.Agent), i})
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
	if len(front) == 0 {
		return ""
	}
	return "Pareto-optimal in " + c.Axes() + ": " + words.And(front)
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
			text += ", Pareto-optimal"
		}
	}
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

// strategies plots success against the cost of an episode, where it is known, and against
// its duration.
func (t theme) strategies(r model.Report) drawing {
	all, more := allPlotted(&r)
	floor, seen := 1.0, map[string]bool{}
	cost, time := scatter{label: "cost of an episode", format: dollars}, scatter{label: "time of an episode", format: durations}
	for i, e := range all {
		col, shape := t.mark(e)
		name := t.label(e.label, i, 22, seen)
		for _, p := range []struct {
			*scatter
			of *model.Estimate
		}{{&cost, e.Cost}, {&time, e.Time}} {
			if p.of != nil {
				p.dots = append(p.dots, dot{name: name, color: col, shape: shape, x: p.of.Value, y: e.Success.Value, xs: p.of.Interval, ys: e.Success.Interval})
			}
		}
		floor = min(floor, lowEnd(e.Success))
	}
	var key []keyEntry
	if more > 0 {
		key = append(key, keyEntry{fmt.Sprintf("%d more are in the tables", more), nil})
	}
	return t.scatters([]scatter{cost, time}, floor, key)
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
