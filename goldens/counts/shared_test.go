package counts

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// proposal is a golden task in the form in which the authors of the reference agent
// propose it.
type proposal struct {
	ID          string
	Title       string
	Tier        string
	Mode        string
	Request     string `json:"user_request"`
	Constraints string
	Tools       []string
	World       struct {
		Now       string
		TZ        string
		Counts    map[string]map[string]int64
		ClockStep int      `json:"clock_step_seconds"`
		JobStatus []string `json:"job_status_sequence"`
		Rule      string   `json:"answer_rule"`
		Env       map[string]string
	}
	Faults []struct {
		Tool    string
		OnCalls json.RawMessage `json:"on_calls"`
		Kind    string
		Status  int
		Code    string `json:"error_code"`
		Message string
		MS      int
		AfterMS int `json:"after_ms"`
		Fields  map[string]any
	}
	Budgets struct {
		MaxSteps     int `json:"max_steps"`
		MaxToolCalls int `json:"max_tool_calls"`
		MaxSeconds   int `json:"max_seconds"`
	}
	Expect    expectation
	Followups []struct{ On, Reply string } `json:"user_followups"`
	Script    []struct {
		Emit      json.RawMessage
		Model, At string
	}
}

type expectation struct {
	Status       string
	StopReason   string        `json:"stop_reason"`
	MaxClarifies *int          `json:"max_clarifies"`
	AnswerNums   []json.Number `json:"answer_numbers"`
	Any          []string      `json:"answer_contains_any"`
	Not          []string      `json:"answer_must_not_contain"`
	Trajectory   struct {
		Required, Forbidden []struct {
			Tool string
			Args map[string]any
		}
		Order        string
		MaxToolCalls *int `json:"max_tool_calls"`
		MaxSteps     *int `json:"max_steps"`
	}
	Signals map[string]any
	Also    []expectation `json:"also_accept"`
	Note    string
}

// proposals reads the shared golden tasks, or skips the test.
func proposals(t *testing.T) []proposal {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(testkit.Shared(t, "conformance", "golden-tasks.jsonl")))
	dec.UseNumber()
	var out []proposal
	for dec.More() {
		var p proposal
		require.NoError(t, dec.Decode(&p))
		out = append(out, p)
	}
	return out
}

// TestSharedGoldenTasks compares every proposed task with the suite's, field by field.
func TestSharedGoldenTasks(t *testing.T) {
	tasks := map[string]goldens.Task{}
	for _, task := range loaded(t).Tasks {
		tasks[task.ID] = task
	}
	all := proposals(t)
	require.Len(t, all, 48)
	for _, p := range all {
		t.Run(p.ID, func(t *testing.T) {
			task, ok := tasks[p.ID]
			require.True(t, ok)
			if slices.Contains(stricter, p.ID) {
				task.Expect = asProposed(task.Expect)
			}
			sameTask(t, p, task)
			sameWorld(t, p, task.World)
			sameFaults(t, p, task.World.Faults)
			sameScript(t, p, task)
			extra := map[string]int{"G21": 1}[p.ID] // an alternative, because a schema cannot refuse a word of the request
			require.Len(t, task.Expect, 1+len(p.Expect.Also)+extra)
			sameExpect(t, p, p.Expect, task.Expect[0])
			for i, also := range p.Expect.Also {
				sameAlternative(t, also, task.Expect[0], task.Expect[1+i])
			}
		})
	}
}

// stricter lists the tasks that check more words of the answer than was proposed.
// Otherwise an answer without relevant content, or with the opposite meaning, would
// solve them.
var stricter = []string{"G09", "G23", "G25", "G30", "G50"}

// asProposed removes these words. An alternative still requires some text.
func asProposed(list []goldens.Expect) []goldens.Expect {
	list = slices.Clone(list)
	for i := range list {
		list[i].NotMatches = nil
		if list[i].Matches = nil; i > 0 && list[i].Status == "answered" {
			list[i].Matches = []string{`\S`}
		}
	}
	return list
}

func sameTask(t *testing.T, p proposal, task goldens.Task) {
	t.Helper()
	require.Equal(t, []string{p.Title, p.Tier, p.Request, p.Constraints}, []string{task.Title, task.Tier, task.Request, task.Constraints})
	require.Equal(t, p.Tools, task.Tools)
	require.Equal(t, p.Mode == "scripted", task.Scripted)
	require.Equal(t, time.Duration(p.Budgets.MaxSeconds)*time.Second, task.Budgets.MaxTime)
	if task.Scripted {
		require.Equal(t, []int{p.Budgets.MaxSteps, p.Budgets.MaxToolCalls}, []int{task.Budgets.MaxSteps, task.Budgets.MaxToolCalls})
	}
	var replies []string
	for _, f := range p.Followups {
		require.Equal(t, "clarify", f.On)
		replies = append(replies, f.Reply)
	}
	require.Equal(t, replies, task.Replies)
}

func sameWorld(t *testing.T, p proposal, w world.Spec) {
	t.Helper()
	require.Equal(t, p.World.Now, w.Now.Format(time.RFC3339))
	require.Equal(t, p.World.TZ, w.Zone.String())
	s, err := readState(w.State)
	require.NoError(t, err)
	require.Equal(t, p.World.Counts, s.counts)
	require.Equal(t, time.Duration(p.World.ClockStep)*time.Second, w.ClockStep)
	require.Equal(t, p.World.JobStatus, s.jobs)
	require.Equal(t, p.World.Env, w.Env)
}

func sameFaults(t *testing.T, p proposal, faults []world.Fault) {
	t.Helper()
	require.Len(t, faults, len(p.Faults))
	for i, f := range p.Faults {
		var calls []int
		if string(f.OnCalls) != `"all"` {
			require.NoError(t, json.Unmarshal(f.OnCalls, &calls))
		}
		require.Equal(t, world.Fault{
			Tool: f.Tool, OnCalls: calls, Kind: world.FaultKind(f.Kind), Status: f.Status, Code: f.Code, Message: f.Message,
			After: time.Duration(f.MS+f.AfterMS) * time.Millisecond, Fields: f.Fields,
		}, faults[i])
	}
}

func sameScript(t *testing.T, p proposal, task goldens.Task) {
	t.Helper()
	require.Len(t, task.Script, len(p.Script))
	for i, s := range p.Script {
		var text string
		if json.Unmarshal(s.Emit, &text) == nil {
			require.Equal(t, text, task.Script[i].Text)
		} else {
			require.JSONEq(t, string(s.Emit), task.Script[i].Text)
		}
		require.Equal(t, s.Model == "rescue", task.Script[i].Rescue)
		// The proposal does not mark G51's reflect turn, the third.
		require.Equal(t, s.At == "reflect" || p.ID == "G51" && i == 2, task.Script[i].Reflect, "output %d", i+1)
	}
}

func sameExpect(t *testing.T, p proposal, want expectation, got goldens.Expect) {
	t.Helper()
	require.Equal(t, []string{want.Status, want.StopReason}, []string{got.Status, got.StopReason})
	var numbers []string
	for _, n := range want.AnswerNums {
		numbers = append(numbers, n.String())
	}
	require.Equal(t, numbers, got.Numbers)
	require.Equal(t, want.Any, got.ContainsAny)
	require.Equal(t, want.Not, got.NotContains)
	require.Empty(t, got.ContainsAll)
	sameByValue(t, want, got)
	require.Equal(t, want.MaxClarifies, got.MaxClarifies)
	require.Equal(t, want.Trajectory.MaxToolCalls, got.MaxToolCalls)
	steps := want.Trajectory.MaxSteps
	if steps == nil && p.Mode == "model" {
		steps = &p.Budgets.MaxSteps // a hard cap in the proposal, a check in the suite
	}
	require.Equal(t, steps, got.MaxSteps)
	require.Equal(t, map[string]goldens.Order{"any": "", "strict": goldens.Strict}[want.Trajectory.Order], got.Trajectory.Order)
	var required, forbidden []goldens.CallMatch
	for _, c := range want.Trajectory.Required {
		required = append(required, goldens.CallMatch{Tool: c.Tool, Args: c.Args})
	}
	for _, c := range want.Trajectory.Forbidden { // a script requests the call, and expects that it is refused
		forbidden = append(forbidden, goldens.CallMatch{Tool: c.Tool, Args: c.Args, Executed: p.Mode == "scripted"})
	}
	require.Equal(t, required, got.Trajectory.Required)
	require.Equal(t, forbidden, got.Trajectory.Forbidden)
	require.Len(t, got.Signals, len(want.Signals))
	for name, v := range want.Signals {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, strings.Trim(strings.ReplaceAll(string(text), `\u003e`, ">"), `"`), got.Signals[name])
	}
	require.Equal(t, p.World.Rule != "", got.TableLabel != "")
}

// sameByValue compares checks that the suite makes by value and by name, and the
// proposal by text.
func sameByValue(t *testing.T, want expectation, got goldens.Expect) {
	t.Helper()
	for _, n := range got.NotNumbers {
		require.True(t, slices.ContainsFunc(want.Not, func(text string) bool { return strings.TrimSpace(text) == n }), n)
	}
	for name, n := range got.Near {
		require.Contains(t, want.AnswerNums, json.Number(n), name)
	}
	require.Empty(t, got.Matches)
	require.Empty(t, got.NotMatches)
}

// sameAlternative requires that an alternative has the proposed fields and otherwise those
// of the intended outcome, except where those would contradict it. If any answer is
// accepted, the suite still requires some text.
func sameAlternative(t *testing.T, want expectation, main, got goldens.Expect) {
	t.Helper()
	main.Status, main.StopReason, main.Note = want.Status, want.StopReason, want.Note
	switch {
	case want.Status == "clarify":
		one := 1
		main.MaxClarifies = &one
	case want.StopReason == "stall":
		two := 2
		main.MaxClarifies = &two
		main.Signals = map[string]string{"stall": "true"}
	case want.Status == "answered" && len(main.Numbers) == 0:
		main.Matches = []string{`\S`}
	}
	require.Equal(t, main, got)
}
