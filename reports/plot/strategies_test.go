package plot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/model"
)

func TestStrategyTitles(t *testing.T) {
	at := func(v float64) *model.Estimate { return &model.Estimate{Value: v} }
	entrant := func(agent string, success float64, cost *model.Estimate, time float64) model.StrategyResult {
		return model.StrategyResult{Agent: agent, Success: at(success), Cost: cost, Time: at(time)}
	}
	for _, c := range []struct {
		name, want    string
		winner, front string
		list          []model.StrategyResult
	}{
		{"none", "", "", "", []model.StrategyResult{{Agent: "a"}, {Agent: "b"}}},
		{"winner", "Pareto-optimal in success, cost and time: a", "a", "a", []model.StrategyResult{entrant("a", 1, at(1), 1), entrant("b", 0.5, at(2), 2)}},
		{"alone, but not shown", "Pareto-optimal in success, cost and time: a", "", "a", []model.StrategyResult{entrant("a", 1, at(1), 1), entrant("b", 1, at(1), 2)}},
		{"all", "Pareto-optimal in success, cost and time: a and b", "", "ab", []model.StrategyResult{entrant("a", 1, at(1), 2), entrant("b", 1, at(1), 2)}},
		{"two of three, unpriced", "Pareto-optimal in success and time: a and c", "", "ac", []model.StrategyResult{entrant("a", 1, nil, 2), entrant("b", 0.9, at(1), 2), entrant("c", 0.8, at(1), 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.list {
				c.list[i].Front = strings.Contains(c.front, c.list[i].Agent)
			}
			r := model.Report{Strategies: &model.Strategies{Groups: []model.StrategyComparison{{Provider: "p", Model: "m", Results: c.list, Winner: c.winner}}}}
			require.Equal(t, c.want, strategiesTitle(&r))
			require.NotEmpty(t, strategiesAlt(&r))
		})
	}
	require.Empty(t, strategiesTitle((&model.Report{})))
}

// In a picture, names in other scripts are replaced by numbers, and a key lists them.
func TestStrategiesInAPicture(t *testing.T) {
	r := foreignStrategies()
	f, _ := figureNamed(r, model.FigStrategies)
	said, key := pictured(t, r, f)
	for _, text := range said {
		require.True(t, drawable(text), text)
	}
	require.Contains(t, strings.Join(key, "; "), "is 工具")
	list, more := manyStrategiesPlotted()
	require.Equal(t, []int{maxPlotted, 5}, []int{list, more})
}

func manyStrategiesPlotted() (shown, more int) {
	r := manyStrategies()
	list, more := allPlotted(&r)
	return len(list), more
}

// A strategy has the same colour with every model, and every mark is different.
func TestMarksOfStrategies(t *testing.T) {
	seen := map[string]bool{}
	for agent := range 4 {
		for model := range 8 {
			col, shape := paper().mark(plotted{agent: agent, model: model})
			same, _ := paper().mark(plotted{agent: agent})
			require.Equal(t, same, col)
			seen[fmt.Sprintf("%v %T", col, shape)] = true
		}
	}
	require.Len(t, seen, 32)
}
