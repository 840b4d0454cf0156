package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
)

func TestCellsOfABoard(t *testing.T) {
	at := func(v float64) *float64 { return &v }
	for want, c := range map[string]model.PairResult{
		"–":                   {Unit: "us"},
		"0":                   {Unit: "us", Effect: at(0)},
		"-0.91 (-1.07…-0.75)": {Unit: "nano-USD", Effect: at(-9.14e6), Interval: &stat.Interval{Low: -1.07e7, High: -7.54e6}},
		"+17.0 (+8.6…+25.4)":  {Unit: "share", Effect: at(0.17), Interval: &stat.Interval{Low: 0.086, High: 0.254}},
		"+3.33":               {Unit: "steps", Effect: at(10.0 / 3)},
		"-7365 (-8504…-6226)": {Unit: "steps", Effect: at(-7365), Interval: &stat.Interval{Low: -8504, High: -6226}},
		"0 (0…+0.000004)":     {Unit: "us", Effect: at(0.1), Interval: &stat.Interval{Low: 0, High: 4}},
		"-0.31 (-1.35…+0.74)": {Unit: "us", Effect: at(-305453), Interval: &stat.Interval{Low: -1353389, High: 742481}},
		"0 (-7.11…+7.11)":     {Unit: "share", Effect: at(0), Interval: &stat.Interval{Low: -0.0711, High: 0.0711}},
		"-0.050 (-0.100…0)":   {Unit: "us", Effect: at(-50e3), Interval: &stat.Interval{Low: -100e3, High: 0}},
		"+100 (+50…+150)":     {Unit: "share", Effect: at(1), Interval: &stat.Interval{Low: 0.5, High: 1.5}},
	} {
		_, one := scale(c.Unit)
		require.Equal(t, want, cell(c, one))
	}
}

// sameResults is a run of two strategies over eight tasks; steps differ as given.
func sameResults(contract, tools int32) *reporttest.World {
	var list []reporttest.DuelTask
	for i := range int32(8) {
		list = append(list, reporttest.DuelTask{ID: fmt.Sprint("t", i), ContractSolved: true, ToolsSolved: true, ContractSteps: contract + i%2, ToolsSteps: tools + i%2})
	}
	return reporttest.Duel(list)
}

// Two strategies with the very same results: nobody wins anything.
func TestIdenticalStrategies(t *testing.T) {
	w := sameResults(4, 4)
	c := build(w.M, w.Rows).Strategies.All()[0]
	require.Empty(t, c.Winner)
	require.Equal(t, "no difference shown in success, steps, cost and time", Answer(c))
	for _, k := range c.Pairs {
		require.Equal(t, []any{0.0, 1.0, "no difference shown"}, []any{*k.Effect, *k.P, k.Verdict}, k.Metric)
	}
}

// An unknown cost is no part of the answer, and no win is claimed in it.
func TestAnswerWithoutACost(t *testing.T) {
	w := sameResults(6, 3)
	w.Rows.Episodes[3].CostNanoUSD = nil
	c := build(w.M, w.Rows).Strategies.All()[0]
	require.Equal(t, "tools wins on steps and time; no difference shown in success; no claim about cost", Answer(c))
	require.Equal(t, "not known", who(c, "cost"))
	require.Equal(t, "none shown", who(c, "solved"))
	require.Equal(t, "tools", who(c, "elapsed"))
}

// More pairs than fit stand in blocks, up to a bound.
func TestBoardsOfManyStrategies(t *testing.T) {
	w := reporttest.ByAgent("a", "b", "c", "d", "e")
	for i := range 5 {
		for _, task := range []string{"x", "y"} {
			w.Enter(i, task, 1, true, int32(2+i))
		}
	}
	boards := WinTables(build(w.M, w.Rows).Strategies)
	require.Len(t, boards, 2)
	require.Equal(t, []string{"a → b", "a → c", "a → d"}, boards[0].Pairs)
	require.Equal(t, []string{"a → e", "b → c", "b → d"}, boards[1].Pairs)
	require.Empty(t, pairs((&model.StrategyComparison{Results: []model.StrategyResult{{Agent: "a"}, {Agent: "b"}}})))
}

// Many names that win little make a long answer: what is shown of it is bounded.
func TestLongAnswersAreCut(t *testing.T) {
	c := model.StrategyComparison{}
	for i := range 8 {
		c.Results = append(c.Results, model.StrategyResult{Agent: fmt.Sprint(strings.Repeat("x", 30), i)})
	}
	for i := range 8 - 1 {
		first, second := c.Results[i].Agent, c.Results[i+1].Agent
		for _, metric := range leading() {
			c.Pairs = append(c.Pairs, model.PairResult{Metric: metric, First: first, Second: second, Winner: first, P: new(0.0)})
		}
	}
	require.Equal(t, 60, len([]rune(who(&c, "cost"))))
}
