package sim

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// goldenTask is a line of the proposed golden tasks, as far as it is used.
type goldenTask struct {
	ID          string
	UserRequest string `json:"user_request"`
	World       struct {
		Now    time.Time
		Tz     string
		Counts map[string]map[string]int64
		Step   int `json:"clock_step_seconds"`
	}
	Faults []struct {
		Tool      string
		OnCalls   json.RawMessage `json:"on_calls"`
		Kind      string
		ErrorCode string `json:"error_code"`
		Message   string
		Fields    map[string]any
	}
	Followups []struct{ Reply string } `json:"user_followups"`
	Expect    struct {
		Status      string
		Numbers     []json.Number `json:"answer_numbers"`
		ContainsAny []string      `json:"answer_contains_any"`
		NotContains []string      `json:"answer_must_not_contain"`
		Trajectory  struct {
			Required, Forbidden []struct {
				Tool string
				Args map[string]any
			}
			Order    string
			MaxCalls *int `json:"max_tool_calls"`
			MaxSteps *int `json:"max_steps"`
		}
		AlsoAccept []struct{ Status string } `json:"also_accept"`
	}
}

// TestConformanceTasks: the strong model, through its handler, solves every
// task of the shared set that is meant for models.
func TestConformanceTasks(t *testing.T) {
	for _, task := range testkit.Conformance[goldenTask](t, "golden-tasks.jsonl", "mode", "model") {
		t.Run(task.ID, func(t *testing.T) { solve(t, task) })
	}
}

func solve(t *testing.T, task goldenTask) {
	zone, err := time.LoadLocation(task.World.Tz)
	require.NoError(t, err)
	w := &dashboard{now: task.World.Now.In(zone), counts: task.World.Counts, calls: map[string]int{}, step: time.Duration(task.World.Step) * time.Second}
	for _, f := range task.Faults {
		var on []int
		_ = json.Unmarshal(f.OnCalls, &on) // "all" leaves it empty
		w.faults = append(w.faults, loopFault{Tool: f.Tool, OnCalls: on, Kind: f.Kind, Code: f.ErrorCode, Message: f.Message, Fields: f.Fields})
	}
	for _, f := range task.Followups {
		w.replies = append(w.replies, f.Reply)
	}
	out := episode(t, flawless("sim-strong"), w, task.UserRequest)
	note := strings.Join(append(out.observed, "ANSWER "+out.answer), "\n")

	e := task.Expect
	accepted := []string{e.Status}
	for _, a := range e.AlsoAccept {
		accepted = append(accepted, a.Status)
	}
	require.Contains(t, accepted, out.status, note)
	for _, n := range e.Numbers {
		require.Contains(t, numbersIn(out.answer), n.String(), note)
	}
	if len(e.ContainsAny) > 0 {
		require.True(t, slices.ContainsFunc(e.ContainsAny, func(s string) bool {
			return strings.Contains(strings.ToLower(out.answer), strings.ToLower(s))
		}), note)
	}
	for _, s := range e.NotContains {
		require.NotContains(t, strings.ToLower(out.answer), strings.ToLower(s), note)
	}
	for _, want := range e.Trajectory.Required {
		require.True(t, slices.ContainsFunc(out.trail, func(a contractAction) bool { return sameCall(a, want.Tool, want.Args) }), note)
	}
	for _, no := range e.Trajectory.Forbidden {
		require.False(t, slices.ContainsFunc(out.trail, func(a contractAction) bool { return a.Name == no.Tool }), note)
	}
	if e.Trajectory.Order == "strict" {
		require.Len(t, out.trail, len(e.Trajectory.Required), note)
		for i, want := range e.Trajectory.Required {
			require.True(t, sameCall(out.trail[i], want.Tool, want.Args), note)
		}
	}
	if n := e.Trajectory.MaxCalls; n != nil {
		require.LessOrEqual(t, len(out.trail), *n, note)
	}
	if n := e.Trajectory.MaxSteps; n != nil {
		require.LessOrEqual(t, out.steps, *n, note)
	}
}

func sameCall(a contractAction, name string, args map[string]any) bool {
	if a.Name != name {
		return false
	}
	got, _ := json.Marshal(a.Args)
	want, _ := json.Marshal(args)
	return string(got) == string(want) // both come from maps: keys are sorted
}

var dateOrNumber = regexp.MustCompile(`\d{4}-\d{2}-\d{2}|\d+(?:\.\d+)?`)

// numbersIn are the numbers of an answer; dates are none.
func numbersIn(answer string) []string {
	return slices.DeleteFunc(dateOrNumber.FindAllString(answer, -1), func(s string) bool { return strings.Contains(s, "-") })
}
