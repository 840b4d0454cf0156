package goldens

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

// Every word the loader lets through can be checked.
func TestLoaderAndScorerKnowTheSameSignals(t *testing.T) {
	for _, name := range signalNames() {
		condition := "1"
		if _, ok := flagOf[name]; ok {
			condition = "true"
		}
		_, err := Load(folder(head+"tasks:\n  - {id: A, request: Hi, expect: {status: answered, signals: {"+name+": "+condition+"}}}\n"), "demo")
		require.NoError(t, err)
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
