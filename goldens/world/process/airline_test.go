package process_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// conversation is one of the 200 recorded ones, reduced to what is judged.
type conversation struct {
	task, trial int
	reward      float64
	calls       []tool.Call
	results     []string // empty if the conversation ends with the call
	said        string   // the assistant's messages, in lower case and without commas
	ended       bool     // by the customer, or with a transfer to a human
	goal        []tool.Call
	outputs     []string
	goalHash    string // the hash of the published reward; empty if there is none
}

// conversations reads the recordings.
func conversations(t testing.TB) (out []conversation) {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(testkit.Shared(t, "published", "tau-airline", "gpt-4o-airline.json.gz")))
	require.NoError(t, err)
	text, err := io.ReadAll(zipped)
	require.NoError(t, err)
	var raw []struct {
		TaskID int `json:"task_id"`
		Trial  int
		Reward float64
		Traj   []struct {
			Role, Content string
			ToolCalls     []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Info struct {
			Task struct {
				Actions []struct {
					Name   string
					Kwargs json.RawMessage
				}
				Outputs []string
			}
			RewardInfo *struct {
				Info struct {
					Hash string `json:"gt_data_hash"`
				}
			} `json:"reward_info"`
		}
	}
	require.NoError(t, json.Unmarshal(text, &raw))
	for _, r := range raw {
		c := conversation{task: r.TaskID, trial: r.Trial, reward: r.Reward, outputs: r.Info.Task.Outputs}
		for _, a := range r.Info.Task.Actions {
			if a.Name != "transfer_to_human_agents" {
				c.goal = append(c.goal, tool.Call{Name: a.Name, Args: a.Kwargs})
			}
		}
		if r.Info.RewardInfo != nil {
			c.goalHash = r.Info.RewardInfo.Info.Hash
		}
		for i, m := range r.Traj {
			switch {
			case m.Role == "tool":
				c.results[len(c.results)-1] = m.Content
			case m.Role == "user":
				c.ended = c.ended || strings.Contains(m.Content, "###STOP###")
			case len(m.ToolCalls) > 0:
				f := m.ToolCalls[0].Function
				c.calls, c.results = append(c.calls, tool.Call{Name: f.Name, Args: json.RawMessage(f.Arguments)}), append(c.results, "")
				c.ended = c.ended || f.Name == "transfer_to_human_agents"
			case m.Role == "assistant" && i > 0:
				c.said += strings.ToLower(strings.ReplaceAll(m.Content, ",", "")) + "\n"
			}
		}
		out = append(out, c)
	}
	return out
}

// expected is the content of expected.json.
type expected struct {
	InitialHash   string `json:"initial_hash"`
	ToolCalls     int    `json:"tool_calls"`
	PerTrajectory []struct {
		Reward    float64
		FinalHash string `json:"final_hash"`
		GoalHash  string `json:"goal_hash"`
		Changed   []string
	} `json:"per_trajectory"`
}

func expectations(t testing.TB) (e expected) {
	t.Helper()
	require.NoError(t, json.Unmarshal(testkit.Shared(t, "published", "tau-airline", "expected.json"), &e))
	return e
}

// goAirline returns the airline domain in Go, with data in which pairs of texts are replaced.
func goAirline(t testing.TB, replaced ...string) *airline {
	t.Helper()
	later := strings.NewReplacer(replaced...)
	a := &airline{map[string]*object{}, map[string]map[string]string{}, map[string]string{}}
	for _, kind := range []string{"flights", "reservations", "users"} {
		text := testkit.Shared(t, "published", "tau-airline", "data", kind+".json")
		a.base[kind], a.texts[kind] = decoded([]byte(later.Replace(string(text)))), map[string]string{}
		for _, id := range a.base[kind].keys {
			a.texts[kind][id] = canon(a.base[kind].object(id))
		}
		a.whole[kind] = wholeOf(a.texts[kind], nil)
	}
	return a
}

var airlineStart = world.Start{Now: time.Date(2024, 5, 15, 20, 0, 0, 0, time.UTC), Zone: time.UTC}

// airlineState is the state of both worlds of the domain.
type airlineState struct {
	Hash    string
	Records map[string]json.RawMessage
}

// execute makes calls in a new world of a kind and returns their results and the final state.
func execute(t testing.TB, k world.Kind, calls []tool.Call) (results []string, state json.RawMessage) {
	t.Helper()
	w, err := k.Open(t.Context(), airlineStart)
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	for _, c := range calls {
		e, err := w.Call(t.Context(), c, airlineStart.Now)
		require.NoError(t, err)
		require.Equal(t, tool.OK, e.Outcome)
		var text string
		require.NoError(t, json.Unmarshal(e.Value, &text))
		results = append(results, text)
	}
	state, err = w.State(t.Context())
	require.NoError(t, err)
	return results, state
}

// TestAirlineInGo checks that the Go world repeats all recorded calls byte for byte and
// reaches the states and rewards of the original.
func TestAirlineInGo(t *testing.T) {
	testkit.Slow(t)
	want, k, calls, hashes := expectations(t), goAirline(t), 0, 0
	goals := map[int]string{}
	for i, c := range conversations(t) {
		results, text := execute(t, k, c.calls)
		for j, r := range c.results {
			calls++
			if r != "" || j < len(results)-1 {
				require.Equal(t, r, results[j], "conversation %d, call %d of %s", i, j, c.calls[j].Name)
			}
		}
		var state, goal airlineState
		require.NoError(t, json.Unmarshal(text, &state))
		if goals[c.task] == "" {
			_, text = execute(t, k, c.goal)
			require.NoError(t, json.Unmarshal(text, &goal))
			goals[c.task] = goal.Hash
		}
		is := want.PerTrajectory[i]
		require.Equal(t, is.FinalHash, state.Hash, "conversation %d", i)
		require.Equal(t, is.GoalHash, goals[c.task], "conversation %d", i)
		require.Len(t, state.Records, len(is.Changed))
		require.Equal(t, c.reward, c.rewarded(state.Hash, goals[c.task]), "conversation %d", i)
		if c.goalHash != "" {
			require.Equal(t, c.goalHash, goals[c.task])
			hashes++
		}
	}
	require.Equal(t, want.ToolCalls, calls)
	require.Equal(t, []int{1164, 182}, []int{calls, hashes})
}

// rewarded computes a reward by the rules of the benchmark: all outputs were said if the task has any,
// else the final state is the goal's. A conversation that was cut off has none.
func (c *conversation) rewarded(state, goal string) float64 {
	met := state == goal
	if len(c.outputs) > 0 {
		met = true
		for _, o := range c.outputs {
			met = met && strings.Contains(c.said, strings.ToLower(o))
		}
	}
	if met && c.ended {
		return 1
	}
	return 0
}

// TestAirlineOfALaterVersion judges the recordings by the data of a later version, which renamed a
// key: results become stale, and verdicts do not.
func TestAirlineOfALaterVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("long; not with -short")
	}
	k, goals := goAirline(t, `"province":`, `"state":`), map[int]string{}
	run := func(calls []tool.Call) (results []string, hash string) {
		results, text := execute(t, k, calls)
		var state airlineState
		require.NoError(t, json.Unmarshal(text, &state))
		return results, state.Hash
	}
	stale, agree := 0, 0
	n := testkit.Long(20, 200)
	for _, c := range conversations(t)[:n] {
		if goals[c.task] == "" {
			_, goals[c.task] = run(c.goal)
		}
		results, state := run(c.calls)
		for i, r := range c.results {
			if r != "" && r != results[i] {
				stale++
			}
		}
		if c.rewarded(state, goals[c.task]) == c.reward {
			agree++
		}
		require.NotEqual(t, c.goalHash, goals[c.task])
	}
	require.Equal(t, []int{map[int]int{20: 12, 200: 120}[n], n}, []int{stale, agree}, "stale results, equal verdicts")
}
