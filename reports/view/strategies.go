package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// MaxStrategyViews is how many comparisons of strategies the Markdown report and the
// terminal show.
const MaxStrategyViews = 6

// StrategyLegend says how to read the tables of strategies.
const StrategyLegend = "Bold: significant at 5% after adjustment for multiple comparisons (Holm)"

// StrategyView is a comparison of strategies as every renderer shows it.
type StrategyView struct {
	Name, Winner string
	// Answer says of the leading metrics which strategy is best, Sentence all that is known.
	Answer, Sentence string
	// Values has a row for each leading metric and a column for each strategy, Pairs a row
	// for each metric and pair.
	Values, Pairs Table
}

// StrategyViews are the comparisons of strategies, the one over all models first.
func StrategyViews(r model.Report) (views []StrategyView) {
	if r.Strategies == nil {
		return nil
	}
	for _, c := range r.Strategies.All() {
		name := c.Name()
		if c != r.Strategies.Pooled {
			name = Tell(r.Strategies, c)
		}
		views = append(views, StrategyView{c.Name(), c.Winner, words.Clip(Answer(c), 600), words.Clip(c.Sentence, 1500), valueTable(c, name), pairTable(c)})
	}
	return views
}

// leading are the metrics that strategies are compared on first.
func leading(c *model.StrategyComparison) []string {
	list := []string{"solved", "steps", "cost", "elapsed"}
	if slices.ContainsFunc(c.Results, func(e model.StrategyResult) bool { return e.Harm != nil }) {
		list = append(list, "harm")
	}
	return list
}

// scaled formats the numbers of a row with one number of decimals, in a unit that keeps them
// short.
type scaled struct {
	one      float64
	suffix   string
	decimals int
}

// scaleOf is the title of a metric with the unit of its row, where most is the largest number.
func scaleOf(metric, unit string, most float64) (title string, s scaled) {
	title, s = words.UpperFirst(model.MetricWord(metric)), scaled{one: 1}
	switch unit {
	case "share":
		return title, scaled{0.01, "%", 1}
	case "nano-USD":
		title, s.one = title+" (¢)", 1e7
	case "us":
		title, s.one = title+" (s)", 1e6
	}
	if most > 0 {
		s.decimals = min(max(0, 2-int(math.Floor(math.Log10(most/s.one)))), 6)
	}
	return title, s
}

func (s scaled) format(v float64) string {
	return strings.Replace(strconv.FormatFloat(v/s.one, 'f', s.decimals, 64), "-", "−", 1)
}

func (s scaled) signed(v float64) string {
	switch text := s.format(v); {
	case !strings.ContainsAny(text, "123456789"):
		return "0"
	case v > 0:
		return "+" + text
	default:
		return text
	}
}

func valueTable(c *model.StrategyComparison, name string) Table {
	t := Table{Label: "Strategies, " + name, Caption: name, Titled: true, Columns: []Column{{Name: "Metric", Head: true}}}
	episodes, front := []Cell{{Text: "Episodes"}}, []Cell{{Text: "Pareto-optimal"}}
	for _, e := range c.Results {
		t.Columns = append(t.Columns, Column{Name: words.Brief(model.AgentName(e.Agent), 24), Class: "n"})
		n, optimal := words.Thousands(int64(e.Episodes)), "–"
		if e.WithoutResult > 0 {
			n += fmt.Sprintf(" (%s without a result)", words.Thousands(int64(e.WithoutResult)))
		}
		if e.Front {
			optimal = "✓"
		}
		episodes, front = append(episodes, Cell{Text: n}), append(front, Cell{Text: optimal})
	}
	t.Columns = append(t.Columns, Column{Name: "Best"})
	for _, metric := range leading(c) {
		t.Rows = append(t.Rows, valueRow(c, metric))
	}
	t.Rows = append(t.Rows, append(front, Cell{Text: "in " + c.Axes(), Class: "dim"}), append(episodes, Cell{}))
	return t
}

func valueRow(c *model.StrategyComparison, metric string) []Cell {
	most, unit := 0.0, map[string]string{"solved": "share", "harm": "share", "cost": "nano-USD", "elapsed": "us"}[metric]
	estimates := make([]*model.Estimate, len(c.Results))
	for i, e := range c.Results {
		estimates[i] = map[string]*model.Estimate{"solved": e.Success, "steps": e.Steps, "cost": e.Cost, "elapsed": e.Time, "harm": e.Harm}[metric]
		if estimates[i] != nil {
			most = max(most, estimates[i].Value)
		}
	}
	title, s := scaleOf(metric, unit, most)
	row, best := []Cell{{Text: title}}, winner(c, metric)
	for i, e := range estimates {
		text := words.Unknown
		if e != nil {
			text = s.format(e.Value) + s.suffix
			if e.Interval != nil {
				text += " (" + s.format(e.Interval.Low) + "–" + s.format(e.Interval.High) + s.suffix + ")"
			}
		}
		row = append(row, Cell{Text: text, Strong: best != "" && c.Results[i].Agent == best})
	}
	text := words.Brief(statement(c, metric), 100)
	if best != "" {
		text = words.Brief(model.AgentName(best), 24)
	}
	return append(row, Cell{Text: text, Strong: best != ""})
}

func pairTable(c *model.StrategyComparison) Table {
	t := Table{Label: "Strategies pair by pair, " + c.Name(), Caption: "Strategies pair by pair, second minus first", Columns: []Column{
		{Name: "Metric", Head: true}, {Name: "Strategies", Mark: "bdi"}, {Name: "First", Class: "n"}, {Name: "Second", Class: "n"}, {Name: "Difference (95% CI)", Class: "n"},
		{Name: "p (adjusted)", Class: "n"}, {Name: "Pairs / tasks", Class: "n"}, {Name: "Better", Mark: "bdi"},
	}}
	for _, metric := range c.Metrics() {
		most := 0.0
		of := slices.DeleteFunc(slices.Clone(c.Pairs), func(k model.PairResult) bool { return k.Metric != metric })
		for _, k := range of {
			for _, v := range []*float64{k.FirstValue, k.SecondValue} {
				if v != nil {
					most = max(most, *v)
				}
			}
		}
		title, s := scaleOf(metric, of[0].Unit, most)
		value := func(v *float64) Cell {
			if v == nil {
				return Cell{Text: "–"}
			}
			return Cell{Text: s.format(*v) + s.suffix}
		}
		for _, k := range of {
			change := "–"
			if k.Effect != nil {
				change = s.signed(*k.Effect)
				if k.Interval != nil {
					change += " (" + s.signed(k.Interval.Low) + " to " + s.signed(k.Interval.High) + ")"
				}
			}
			won := k.Winner != ""
			t.Rows = append(t.Rows, []Cell{
				{Text: title}, {Text: model.AgentName(k.First) + " → " + model.AgentName(k.Second)}, value(k.FirstValue), value(k.SecondValue), {Text: change, Strong: won},
				{Text: words.Chance(k.Adjusted)}, {Text: words.Thousands(int64(k.N)) + " / " + words.Thousands(int64(k.Tasks))}, {Text: result(k), Strong: won, Small: words.Clip(k.Note, 300)},
			})
		}
	}
	return t
}

// result is what a pair shows in a metric.
func result(k model.PairResult) string {
	switch {
	case k.Winner != "":
		return model.AgentName(k.Winner)
	case k.Verdict == model.Disagree:
		return k.Verdict
	case k.P == nil:
		return words.Unknown
	}
	return "not significant"
}

// winner is significantly better than every other strategy in a metric; empty without one.
func winner(c *model.StrategyComparison, metric string) string {
	beaten := map[string]int{}
	for _, k := range c.Pairs {
		if k.Metric == metric && k.Winner != "" {
			beaten[k.Winner]++
		}
	}
	for _, e := range c.Results {
		if beaten[e.Agent] == len(c.Results)-1 {
			return e.Agent
		}
	}
	return ""
}

// statement says in a metric which strategy is best, or which are better than others.
func statement(c *model.StrategyComparison, metric string) string {
	if agent := winner(c, metric); agent != "" {
		return model.AgentName(agent) + " is best"
	}
	said := c.Wins(metric, " > ", func(names []string) string { return strings.Join(names, " and ") })
	switch {
	case c.ModelsDisagree(metric):
		return words.Join("; ", said, model.Disagree)
	case said != "":
		return said + "; other differences not significant"
	case c.IsKnown(metric):
		return "no significant difference"
	}
	return "unknown"
}

// Answer says of success, steps, cost and time which strategy is best: metrics of which the
// same is true are one sentence.
func Answer(c *model.StrategyComparison) string {
	if len(c.Pairs) == 0 {
		return "No trial has a result of two strategies"
	}
	var order, parts []string
	metrics := map[string][]string{}
	for _, metric := range leading(c) {
		said := statement(c, metric)
		if metrics[said] == nil {
			order = append(order, said)
		}
		metrics[said] = append(metrics[said], model.MetricWord(metric))
	}
	for _, said := range order {
		parts = append(parts, words.UpperFirst(words.And(metrics[said]))+": "+said)
	}
	return strings.Join(parts, ". ")
}

// Tell is what tells a group from the others: its model, or all of its name.
func Tell(s *model.Strategies, g *model.StrategyComparison) string {
	for i := range s.Groups {
		if o := &s.Groups[i]; o != g && o.Model == g.Model {
			return g.Name()
		}
	}
	return words.Brief(g.Model, 60)
}

// Estimate is the value and the interval of e in the words of its unit; a dash without
// one, and unknown for a cost.
func Estimate(unit string, e *model.Estimate) (value, interval string) {
	switch {
	case e == nil:
		return cmp.Or(map[string]string{"nano-USD": words.Unknown}[unit], "–"), "–"
	case e.Interval == nil:
		return words.InUnit(unit, &e.Value), "–"
	case unit == "share":
		return words.Percent(e.Value), model.Share{Interval: e.Interval}.IntervalText()
	}
	return words.InUnit(unit, &e.Value), words.InUnit(unit, &e.Interval.Low) + "–" + words.InUnit(unit, &e.Interval.High)
}
