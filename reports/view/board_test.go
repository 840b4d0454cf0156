package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
)

func TestNumbersOfStrategies(t *testing.T) {
	for _, c := range []struct {
		unit        string
		most        float64
		v           float64
		title, want string
	}{
		{"nano-USD", 1.07e7, -9.14e6, "Cost (¢)", "−0.91"},
		{"share", 1, 0.17, "Success", "+17.0"},
		{"share", 1, 0, "Success", "0"},
		{"steps", 12, 10.0 / 3, "Steps", "+3.3"},
		{"tokens", 8504, -7365, "Tokens", "−7365"},
		{"us", 1353389, -305453, "Time (s)", "−0.31"},
		{"us", 4, 0.1, "Time (s)", "0"},
	} {
		metric := map[string]string{"nano-USD": "cost", "share": "solved", "us": "elapsed"}[c.unit]
		if metric == "" {
			metric = c.unit
		}
		title, s := scaleOf(metric, c.unit, c.most)
		require.Equal(t, []string{c.title, c.want}, []string{title, s.signed(c.v)})
	}
}

// sameResults returns a run of two strategies over eight tasks, with the given
// difference in steps.
func sameResults(contract, tools int32) *reporttest.World {
	var list []reporttest.DuelTask
	for i := range int32(8) {
		list = append(list, reporttest.DuelTask{ID: fmt.Sprint("t", i), ContractSolved: true, ToolsSolved: true, ContractSteps: contract + i%2, ToolsSteps: tools + i%2})
	}
	return reporttest.Duel(list)
}

// If two strategies have equal results, neither is better.
func TestIdenticalStrategies(t *testing.T) {
	w := sameResults(4, 4)
	c := build(w.M, w.Rows).Strategies.All()[0]
	require.Empty(t, c.Winner)
	require.Equal(t, "Success, steps, cost and time: no significant difference", Answer(c))
	for _, k := range c.Pairs {
		require.Equal(t, []any{0.0, 1.0, "no difference shown"}, []any{*k.Effect, *k.P, k.Verdict}, k.Metric)
	}
}

// An unknown cost is not part of the answer, and there is no claim about it.
func TestAnswerWithoutACost(t *testing.T) {
	w := sameResults(6, 3)
	w.Rows.Episodes[3].CostNanoUSD = nil
	r := build(w.M, w.Rows)
	v := StrategyViews(r)[0]
	require.Equal(t, "Success: no significant difference. Steps and time: tools is best. Cost: unknown", v.Answer)
	require.Equal(t, []string{"Metric", "contract", "tools", "Best"}, []string{v.Values.Columns[0].Name, v.Values.Columns[1].Name, v.Values.Columns[2].Name, v.Values.Columns[3].Name})
	steps, cost := v.Values.Rows[1], v.Values.Rows[2]
	require.Regexp(t, `^3\.50 \(.*–.*\)$`, steps[2].Text)
	require.Equal(t, []bool{false, true, true}, []bool{steps[1].Strong, steps[2].Strong, steps[3].Strong}, "only what is significant is bold")
	require.Equal(t, []string{"Cost (¢)", "unknown"}, []string{cost[0].Text, cost[2].Text})
	require.Equal(t, "tools", steps[3].Text)
	require.Equal(t, []string{"Steps", "contract → tools", "6.50", "3.50", "−3.00 (−3.00 to −3.00)", "0.0078", "8 / 8", "tools"}, texts(v.Pairs.Rows[1]))
}

func texts(cells []Cell) (list []string) {
	for _, c := range cells {
		list = append(list, c.Text)
	}
	return list
}

// Many similar names give a long answer. The part that is shown is bounded.
func TestLongAnswersAreCut(t *testing.T) {
	c := model.StrategyComparison{}
	for i := range 8 {
		c.Results = append(c.Results, model.StrategyResult{Agent: fmt.Sprint(strings.Repeat("x", 30), i)})
	}
	for i := range 8 - 1 {
		first, second := c.Results[i].Agent, c.Results[i+1].Agent
		for _, metric := range leading(&c) {
			c.Pairs = append(c.Pairs, model.PairResult{Metric: metric, First: first, Second: second, Winner: first, P: new(0.0)})
		}
	}
	row := valueRow(&c, "cost")
	require.Equal(t, 100, len([]rune(row[len(row)-1].Text)))
}
