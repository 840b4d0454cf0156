package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
)

func TestTurnsOfEveryStrategyAreJudged(t *testing.T) {
	w := reporttest.ByAgent("plan")
	w.Add(1, "t", true, 7, func(e *ledger.Episode, turns []ledger.Turn) {
		reporttest.PlannedTurns(e, turns)
		turns[5].Role, turns[5].Kind = "compress", "compress"
		turns[6].Role, turns[6].Kind, turns[6].PlanStep, turns[6].ErrorKind = "step", "conclude", "find", "overloaded"
	})
	c := build(w.M, w.Rows).Candidates[0]
	require.Equal(t, 5, c.Turns, "not the summary, nor the turn without a reply")
	require.Equal(t, 1, c.ErrorTurns)
	valid := c.Criteria[1]
	require.Equal(t, 5, valid.N)
	require.InDelta(t, 0.8, *valid.Value, 1e-12)
	require.Equal(t, []Tally{{"plan.depends_on.cycle", 1}}, c.Violations)
	require.Equal(t, []ExtraTurns{
		{"reflect", 0, new(int64)}, {"rescue", 0, new(int64)}, {"compress", 1, nil}, {"planner", 2, nil}, {"step", 4, nil}, {"conclude", 1, nil},
	}, c.Extra)
}

func TestCriteriaSayWhatAStrategyMakesOfThem(t *testing.T) {
	for agent, want := range map[string][3]string{
		"contract": {"", "", ""},
		"":         {"", "", ""},
		"tools":    {"Valid: all calls are of known tools", "", "however many calls it makes"},
		"plan":     {"Valid: a plan keeps all rules", "0 by its nature", "the planner's, and each one of every plan step"},
		"critic":   {"protocol of strategy critic", "", ""},
	} {
		t.Run(agent, func(t *testing.T) {
			w := reporttest.ByAgent(agent)
			w.Add(3, "t", true, 5, nil)
			r := build(w.M, w.Rows)
			all := r.Candidates[0].Criteria[1:]
			require.Equal(t, ValidTitle(contractual(agent)), all[0].Title)
			for i, part := range want {
				require.Contains(t, all[i].Note, part)
			}
			if contractual(agent) {
				require.NotContains(t, all[0].Note+all[1].Note+all[2].Note, "step is")
				require.Nil(t, r.Candidates[0].Work)
			}
		})
	}
	require.Contains(t, stepsNote("plan", stat.Fail), "by its nature")
	require.NotContains(t, stepsNote("plan", stat.Pass), "by its nature")
}

// Each step of a plan counts as a turn of the criterion: a fan-out over six items is
// six turns.
func TestStepsOfAPlanAreItsTurns(t *testing.T) {
	w := reporttest.ByAgent("plan")
	for _, task := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		w.Add(1, task, true, 9, nil)
	}
	c := build(w.M, w.Rows).Candidates[0].Criteria[3]
	require.Equal(t, stat.Fail, c.Verdict)
	require.InDelta(t, 9, *c.Value, 1e-12)
	require.Contains(t, c.Note, "n + 1 turns at least")
}

func TestWork(t *testing.T) {
	w := reporttest.ByAgent("plan")
	w.Add(1, "t", true, 5, func(e *ledger.Episode, turns []ledger.Turn) {
		reporttest.PlannedTurns(e, turns)
		for i := range turns {
			turns[i].DurationUs = new(int64(100))
		}
		e.ElapsedUs = new(int64(450))
	})
	w.Add(1, "u", false, 1, func(e *ledger.Episode, turns []ledger.Turn) { // no plan was made
		turns[0].Role, turns[0].DurationUs, e.ElapsedUs = "planner", new(int64(50)), new(int64(50))
	})
	w.Add(1, "v", true, 5, func(e *ledger.Episode, _ []ledger.Turn) { e.InfraError, e.ElapsedUs = true, new(int64(1e6)) })
	for turn, n := range map[int32]int{3: 1, 4: 3} {
		for range n {
			w.Rows.ToolCalls = append(w.Rows.ToolCalls, ledger.ToolCall{Key: w.Rows.Episodes[0].Key, Turn: turn, DurationUs: 50})
		}
	}
	got := build(w.M, w.Rows).Candidates[0].Work
	require.Equal(t, &Work{
		Calls: 4, CallingTurns: 2, CallsPerTurn: new(2.0), Widest: 3, BusyUs: 750, ElapsedUs: 500, Overlap: new(1.5), Planned: 2,
		Revisions: []stat.Count{{Value: 0, N: 1}, {Value: 1, N: 1}}, Steps: []stat.Count{{Value: 0, N: 1}, {Value: 2, N: 1}}, Items: []stat.Count{{Value: 0, N: 1}, {Value: 2, N: 1}},
	}, got)
	require.Equal(t, &Work{Revisions: []stat.Count{}, Steps: []stat.Count{}, Items: []stat.Count{}}, new(worker).work())
}
