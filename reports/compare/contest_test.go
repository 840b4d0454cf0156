package compare

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

func attempt(solved bool, steps int32, cost, tokens *int64) Attempt {
	return Attempt{Solved: solved, Steps: steps, ToolCalls: steps - 1, Judged: steps, Valid: steps - 1, ElapsedUs: new(int64(steps) * 1000), Cost: cost, Tokens: tokens}
}

// The comparison has two tasks, the second with two trials. The numbers are computed by
// hand.
func TestContest(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	metrics := MeasureStrategies([]TaskPairs{
		{Task: "a", Pairs: [][2]Attempt{{attempt(true, 4, n(10), nil), attempt(true, 2, n(4), n(7))}}},
		{Task: "b", Pairs: [][2]Attempt{
			{attempt(false, 9, n(30), n(5)), attempt(true, 3, n(6), n(7))}, {attempt(true, 5, n(20), n(5)), attempt(true, 4, n(8), n(7))},
		}},
	})
	var names []string
	by := map[string]Metric{}
	for _, m := range metrics {
		names, by[m.Name] = append(names, m.Name), m
		require.Equal(t, stat.NotJudged, m.Verdict)
		require.Nil(t, m.Adjusted)
		require.False(t, m.Gates)
		require.NotContains(t, m.Note, "McNemar")
	}
	require.Equal(t, []string{"solved", "steps", "cost", "elapsed", "tokens", "tool_calls", "contract_valid"}, names)
	values := func(name string) []float64 { return []float64{*by[name].Baseline, *by[name].New} }
	require.Equal(t, []float64{2.0 / 3, 1}, values("solved"))
	require.Equal(t, []float64{4.5, 3}, values("steps"), "of the two that both solved")
	require.Equal(t, []float64{20, 6}, values("cost"))
	require.Equal(t, []float64{6000, 3000}, values("elapsed"))
	require.Equal(t, []float64{5, 2}, values("tool_calls"))
	require.InDeltaSlice(t, []float64{15.0 / 18, 6.0 / 9}, values("contract_valid"), 1e-12)
	require.InDelta(t, 0.5, *by["cost"].P, 1e-12, "two tasks to one side")
	require.Equal(t, []int{3, 2}, []int{by["cost"].N, by["cost"].Clusters})
	require.Nil(t, by["tokens"].P)
	require.Contains(t, by["tokens"].Note, "1 paired episode without token counts")
	for _, m := range MeasureStrategies(nil) {
		require.Nil(t, m.P, m.Name)
	}
}

// Harm is compared where the worlds of both sides can change, and is no metric without such a
// world.
func TestContestOfHarm(t *testing.T) {
	did := func(harm *bool) Attempt { return Attempt{Solved: true, Harm: harm} }
	pairs := func(first, second *bool) [][2]Attempt { return [][2]Attempt{{did(first), did(second)}} }
	metrics := MeasureStrategies([]TaskPairs{{"a", pairs(new(true), new(false))}, {"b", pairs(new(true), new(false))}, {"c", pairs(new(false), new(false))}, {"d", pairs(nil, nil)}})
	m := metrics[len(metrics)-1]
	require.Equal(t, "harm", m.Name)
	require.False(t, m.HigherIsBetter)
	require.InDelta(t, 2.0/3, *m.Baseline, 1e-12)
	require.Zero(t, *m.New)
	require.Equal(t, 3, m.N)
	for _, m := range MeasureStrategies([]TaskPairs{{"d", pairs(nil, nil)}}) {
		require.NotEqual(t, "harm", m.Name)
	}
}
