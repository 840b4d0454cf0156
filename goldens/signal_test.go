package goldens

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/agent/tool"
)

func TestConditions(t *testing.T) {
	o := Outcome{
		ThrashEvents: 1, ReflectTurns: 2, ModelCalls: 5, DedupeHits: 1, AllTurnsValidJSON: true, ValidRaw: 4,
		Violations: 3, Repaired: 1, RescueTurns: 0, DurationSpikes: 2, Elapsed: 30*time.Second + time.Nanosecond,
		Calls: []Called{
			{Call: tool.Call{Name: "a"}, Outcome: tool.OK},
			{Call: tool.Call{Name: "a"}, Outcome: tool.OK, Deduped: true},
			{Call: tool.Call{Name: "a"}, Outcome: tool.Rejected},
			{Call: tool.Call{Name: "a"}, Outcome: tool.Timeout},
		},
	}
	for _, c := range []struct {
		signal, condition string
		holds             bool
		found             string
	}{
		{"thrash", "true", true, "true"},
		{"thrash", "false", false, "true"},
		{"stall", "false", true, "false"},
		{"all_turns_valid_json", "true", true, "true"},
		{"reflect_turns", "2", true, "2"},
		{"reflect_turns", "==2", true, "2"},
		{"reflect_turns", "== 2.0", true, "2"},
		{"reflect_turns", "1", false, "2"},
		{"model_calls", ">=5", true, "5"},
		{"model_calls", ">5", false, "5"},
		{"model_calls", "<=5", true, "5"},
		{"model_calls", "<5", false, "5"},
		{"dedupe_hits", ">=1", true, "1"},
		{"duration_spikes", "2", true, "2"},
		{"rescue_turns", "0", true, "0"},
		{"valid_raw", " 4 ", true, "4"},
		{"violations", "> 2", true, "3"},
		{"repaired", "<2", true, "1"},
		{"tool_executions", "2", true, "2"},
		{"elapsed_seconds", ">=30", true, "30.000000001"},
		{"elapsed_seconds", "30", false, "30.000000001"},
		{"elapsed_seconds", "<= 30.000000001", true, "30.000000001"},
	} {
		t.Run(c.signal+" "+c.condition, func(t *testing.T) {
			holds, err := parseCondition(c.signal, c.condition)
			require.NoError(t, err)
			got, found := holds(o)
			require.Equal(t, c.holds, got)
			require.Equal(t, c.found, found)
		})
	}
}

func TestConditionFaults(t *testing.T) {
	for _, c := range []struct{ signal, condition, want string }{
		{"thrush", "true", "signals.thrush: unknown signal; allowed: all_turns_valid_json, budget_refusals, circuit_open, cycle_pattern, dedupe_hits"},
		{"thrash", "1", `signals.thrash: must be true or false, but is "1"`},
		{"thrash", "", "must be true or false"},
		{"model_calls", "true", "must be a number"},
		{"model_calls", "", "must be a number"},
		{"model_calls", ">=", "must be a number"},
		{"model_calls", "=5", "must be a number"},
		{"model_calls", ">==5", "must be a number"},
		{"model_calls", "5 or 6", "must be a number"},
	} {
		_, err := parseCondition(c.signal, c.condition)
		require.ErrorContains(t, err, c.want, "%s %s", c.signal, c.condition)
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, seed := range []string{"true", ">=1", "<0.5", "==1e9", "> -3", "1e999999999"} {
		f.Add("elapsed_seconds", seed)
		f.Add("thrash", seed)
	}
	f.Fuzz(func(t *testing.T, signal, text string) {
		holds, err := parseCondition(signal, text)
		if err != nil {
			return
		}
		_, found := holds(Outcome{})
		require.Contains(t, []string{"0", "false"}, found)
	})
}

// TestSignalRange against the conditions themselves.
func TestSignalRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "==", ">=", "<=", ">", "<"}).Draw(t, "op") + rapid.SampledFrom([]string{"0", "-1", "2", "1.5", "-0.5", "0.001", "3e0", "30e-1", "1e30", "-1e30", "0.0"}).Draw(t, "n")
		n := rapid.IntRange(-3, 5).Draw(t, "value")
		holds, err := parseCondition("violations", text)
		require.NoError(t, err)
		want, _ := holds(Outcome{Violations: n})
		low, high := SignalRange("violations", text)
		require.Equal(t, want, int64(n) >= low && int64(n) <= high, "%d %s: %d, %d", n, text, low, high)
	})
	low, high := SignalRange(ElapsedSignal, "0.5")
	require.Equal(t, []int64{500_000_000, 500_000_000}, []int64{low, high})
}
