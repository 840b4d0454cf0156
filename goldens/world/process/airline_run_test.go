package process_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/recorder"
)

// recordedAgent makes the calls of a recorded conversation and compares their results.
type recordedAgent struct {
	agent.Tally
	conversation
	made int
}

// Step implements agent.Machine.
func (m *recordedAgent) Step(ev agent.Event) (r agent.Ready) {
	m.Take(ev)
	defer func() { r.Used = m.Used() }()
	if returned, ok := ev.(agent.ToolReturned); ok {
		var text string
		if want := m.results[m.made]; want != "" && (json.Unmarshal(returned.Result.Value, &text) != nil || text != want) {
			r.Commands = append(r.Commands, m.Finish(agent.Finish{Status: agent.Failed, Err: fmt.Errorf("call %d of %s: got %s %s, want %s", m.made, m.calls[m.made].Name, returned.Result.Value, returned.Result.Message, m.results[m.made])}))
			return r
		}
		m.made++
	}
	if _, stopped := ev.(agent.Cancelled); stopped {
		r.Commands = append(r.Commands, m.Finish(agent.Finish{Status: agent.Interrupted}))
		return r
	}
	switch {
	case m.made < len(m.calls):
		c := m.calls[m.made]
		key, hash, err := tool.Key(c)
		if err != nil {
			panic(err)
		}
		r.Commands = append(r.Commands, m.Tool(agent.CallTool{Call: c, Key: fmt.Sprint(m.made, key), ArgsHash: hash}))
	case m.ended:
		r.Commands = append(r.Commands, m.Finish(agent.Finish{Status: agent.Answered, Answer: m.said}))
	default: // the recorded agent ran out of turns
		r.Commands = append(r.Commands, m.Finish(agent.Finish{Status: agent.Stopped, StopReason: agent.MaxSteps}))
	}
	return r
}

// recordedOptions returns the options of a run in which task i makes the calls of
// all[i].
func recordedOptions(suite *goldens.Suite, all []conversation) harness.Options {
	return harness.Options{
		Matrix: harness.Matrix{Suite: suite, Candidates: []goldens.Candidate{{Name: "agent", Agent: "recorded", Provider: "openai-compatible", Model: "any"}}},
		Parts: harness.Parts{
			Strategies: map[string]agent.Strategy{"recorded": {New: func(p agent.Params) (agent.Machine, error) {
				var i int
				_, err := fmt.Sscan(p.Request, &i)
				if p.Tools == nil || err != nil {
					return nil, nil // the suite is only checked, not run
				}
				return &recordedAgent{Tally: agent.Tally{Budgets: p.Budgets}, conversation: all[i]}, nil
			}}},
			Providers: map[string]providers.Factory{"openai-compatible": func(providers.Options) (providers.Model, error) { return nil, nil }},
		},
		Rules: harness.Rules{Policy: policy.Default()},
	}
}

// airlineSuite writes a suite with a task for each recorded conversation. The task is
// solved if the expected reward is 1.
func airlineSuite(t testing.TB, k process.Kind, all []conversation) *goldens.Suite {
	t.Helper()
	var declared []struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(testkit.Shared(t, "published", "tau-airline", "tools.json"), &declared))
	var tools, tasks []any
	for _, d := range declared {
		tools = append(tools, map[string]any{"name": d.Function.Name, "description": d.Function.Description, "schema": d.Function.Parameters, "repeatable": true})
	}
	want := expectations(t).PerTrajectory
	for i, c := range all {
		expect := map[string]any{"status": "answered"}
		if len(c.outputs) > 0 {
			expect["contains_all"] = strings.Split(strings.ToLower(strings.Join(c.outputs, "\n")), "\n")
		} else {
			expect["state"] = []any{map[string]any{"path": "hash", "is": want[i].GoalHash}}
		}
		tasks = append(tasks, map[string]any{"id": fmt.Sprintf("c%03d", i), "request": fmt.Sprint(i), "expect": expect})
	}
	text, err := json.MarshalIndent(map[string]any{
		"name": "airline", "tools": tools, "defaults": map[string]any{"world": "w"}, "tasks": tasks,
		"worlds": map[string]any{"w": map[string]any{
			"kind": "process", "now": "2024-05-15T20:00:00Z", "zone": "UTC",
			"process": map[string]any{"command": k.Command, "timeout": "60s"},
		}},
	}, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(k.Dir, "suite.yaml"), text, 0o644))
	suite, err := load.Suite(os.DirFS(k.Dir), k.Dir, nil)
	require.NoError(t, err)
	require.Equal(t, k, suite.Tasks[0].World.Maker)
	return suite
}

// TestAirlineRun records the conversations in the Python world and replays them without
// Python. All results equal those of the original byte for byte, as do all rewards and
// final states.
func TestAirlineRun(t *testing.T) {
	t.Parallel()
	all := conversations(t)
	all = all[:testkit.Long(testkit.SlowN(3, 20), len(all))] // TestAirlineInGo executes the calls of all
	k := pythonAirline(t)
	suite := airlineSuite(t, k, all)
	cassettes := filepath.Join(k.Dir, "cassettes")
	o := recordedOptions(suite, all)
	o.Mode, o.CassetteDir = recorder.Record, cassettes
	states := make([]string, len(all))
	for i, other := 0, goAirline(t); i < len(all); i++ {
		_, state := execute(t, other, all[i].calls)
		states[i] = fmt.Sprintf("%x", sha256.Sum256(state))
	}
	run(t, o, all, states)
	for i := range suite.Tasks {
		k.Command = []string{"no-python-here"}
		suite.Tasks[i].World.Maker = k
	}
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(cassettes)
	run(t, o, all, states)
}

// run runs the conversations and compares their outcomes with the expectations, and the
// hashes of their final states with those of the Go world.
func run(t *testing.T, o harness.Options, all []conversation, states []string) {
	t.Helper()
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, res.Rows.Episodes, len(all))
	for _, c := range res.Rows.ToolCalls {
		require.Equal(t, string(tool.OK), c.Outcome, c.TaskID)
	}
	want := expectations(t).PerTrajectory
	for i, e := range res.Rows.Episodes {
		require.False(t, e.InfraError, "%s: %s", e.TaskID, e.ErrorText)
		require.Equal(t, want[i].Reward == 1, e.Solved, e.TaskID)
		require.Equal(t, states[i], e.StateAfter, e.TaskID)
	}
	if len(all) == 200 {
		require.Len(t, res.Rows.ToolCalls, 1164)
	}
}
