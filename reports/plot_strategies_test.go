package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStrategyTitles(t *testing.T) {
	at := func(v float64) *Estimate { return &Estimate{Value: v} }
	entrant := func(agent string, success float64, cost *Estimate, time float64) Entrant {
		return Entrant{Agent: agent, Success: at(success), Cost: cost, Time: at(time)}
	}
	for _, c := range []struct {
		name, want string
		winner     string
		list       []Entrant
	}{
		{"none", "No trial has a result of every strategy", "", []Entrant{{Agent: "a"}, {Agent: "b"}}},
		{"winner", "a is alone on the front of success, cost and time", "a", []Entrant{entrant("a", 1, at(1), 1), entrant("b", 0.5, at(2), 2)}},
		{"alone, but not shown", "a is alone on the front of success, cost and time", "", []Entrant{entrant("a", 1, at(1), 1), entrant("b", 1, at(1), 2)}},
		{"all", "All 2 strategies are on the front of success, cost and time", "", []Entrant{entrant("a", 1, at(1), 2), entrant("b", 1, at(1), 2)}},
		{"two of three, unpriced", "On the front of success and time: a and c", "", []Entrant{entrant("a", 1, nil, 2), entrant("b", 0.9, at(1), 2), entrant("c", 0.8, at(1), 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			front(c.list)
			r := Report{Strategies: &Strategies{Groups: []Contest{{Provider: "p", Model: "m", Entrants: c.list, Winner: c.winner}}}}
			require.Equal(t, c.want, r.strategiesTitle())
			require.NotEmpty(t, r.strategiesAlt())
		})
	}
	require.Empty(t, (&Report{}).strategiesTitle())
	require.Equal(t, "Success, cost and time of an episode by strategy: no data.", (&Report{}).strategiesAlt())
}

// In a picture, names of other scripts are numbers, and a key says whose.
func TestStrategiesInAPicture(t *testing.T) {
	r := foreignStrategies()
	f, _ := figureNamed(r, figStrategies)
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
	list, more := r.plotted()
	return len(list), more
}

// A strategy has one colour with every model, and no two marks are alike.
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
