package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

// Strategies are compared on harm if their worlds can change.
func TestStrategiesOnHarm(t *testing.T) {
	var tasks []reporttest.DuelTask
	for i := range 20 {
		tasks = append(tasks, reporttest.DuelTask{ID: string(rune('a' + i)), ContractSolved: true, ToolsSolved: true, ContractSteps: 2, ToolsSteps: 2})
	}
	w := reporttest.Duel(tasks)
	without := build(w.M, w.Rows).Strategies.Groups[0]
	require.Nil(t, without.Results[0].Harm)
	require.NotContains(t, without.Metrics(), "harm")
	for i := range w.Rows.Episodes {
		e := &w.Rows.Episodes[i]
		e.Harm = new(e.Agent == "tools" && e.TaskID < "p") // 15 of 20
	}
	with := build(w.M, w.Rows).Strategies.Groups[0]
	require.Zero(t, with.Results[0].Harm.Value)
	require.InDelta(t, 0.75, with.Results[1].Harm.Value, 1e-12)
	require.Less(t, with.Results[1].Harm.Interval.Low, 0.75)
	require.Contains(t, with.Sentence, "arm: contract is better than tools")
}
