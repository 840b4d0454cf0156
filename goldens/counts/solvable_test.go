package counts

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
)

// TestEveryTaskCanBeSolved plays each task's intended outcome in its world, as a
// perfect candidate would, and scores it. Every task must be solvable, and no empty
// answer may solve one.
func TestEveryTaskCanBeSolved(t *testing.T) {
	for _, task := range loaded(t).Tasks {
		if task.Scripted {
			continue
		}
		t.Run(task.ID, func(t *testing.T) {
			o := perfect(t, task)
			solved, checks := goldens.Score(task, o)
			require.True(t, solved, "%+v\n%+v", checks, o)

			solved, _ = goldens.Score(task, goldens.Outcome{Status: "error"})
			require.False(t, solved)
			if len(task.Expect[0].Numbers)+len(task.Expect[0].Near) > 0 {
				o.Answer = "I do not know."
				solved, _ = goldens.Score(task, o)
				require.False(t, solved, "an answer without the number")
			}
		})
	}
}

// perfect returns the outcome of a candidate that does exactly what is expected.
func perfect(t *testing.T, task goldens.Task) goldens.Outcome {
	t.Helper()
	e := task.Expect[0]
	o := goldens.Outcome{Status: e.Status, AllTurnsValidJSON: true, Steps: 1}
	w, err := goldens.OpenWorld(t.Context(), task, 1)
	require.NoError(t, err)
	if strings.Contains(e.Status, "clarify") {
		o.Clarifies = 1
		if _, answered := w.Reply("Which?"); answered {
			o.Steps++
		}
	}
	var results []string
	for _, c := range e.Trajectory.Required {
		if e.Trajectory.Order == goldens.Subset && c.Args == nil {
			continue
		}
		args, err := json.Marshal(concrete(c.Args))
		require.NoError(t, err)
		if c.Args == nil {
			args = []byte(`{}`)
		}
		call := tool.Call{Name: c.Tool, Args: args}
		for range 3 {
			r, err := w.Call(t.Context(), call, task.World.Now.Add(o.Elapsed))
			require.NoError(t, err)
			o.Elapsed += r.Duration
			o.Steps++
			o.Calls = append(o.Calls, goldens.Called{Call: call, Outcome: r.Outcome, Result: r.Value})
			results = append(results, string(r.Value))
			if r.Outcome == tool.OK {
				break
			}
		}
	}
	o.Answer = strings.Join(e.Numbers, " and ")
	if len(e.ContainsAny) > 0 {
		o.Answer += " (" + e.ContainsAny[0] + ")"
	}
	if v, ok := answers[task.ID]; ok {
		o.Answer = v.right[0]
	}
	if e.TableLabel != "" {
		date := "2026-05-13"
		require.Contains(t, strings.Join(results, " "), date)
		o.Answer = date + ": " + task.Table(e.TableLabel)[date]
	}
	return o
}

// concrete returns arguments with a value for each matcher.
func concrete(args map[string]any) map[string]any {
	out := maps.Clone(args)
	for name, v := range out {
		if matcher, ok := v.(map[string]any); ok {
			out[name] = matcher["$normalize"].(map[string]any)["text"]
		}
	}
	return out
}

// computed lists the tasks whose answer the model computes from the tool results.
var computed = []string{"C11", "C12", "C13", "C33", "C35", "C38"}

// TestWorldAnswersTheTasks checks that the expected numbers occur in the tool results.
func TestWorldAnswersTheTasks(t *testing.T) {
	for _, task := range loaded(t).Tasks {
		e := task.Expect[0]
		if task.Scripted || len(e.Numbers) == 0 || slices.Contains(computed, task.ID) {
			continue
		}
		var said []string
		for _, c := range perfect(t, task).Calls {
			said = append(said, string(c.Result))
		}
		text := strings.Join(said, " ")
		for _, n := range e.Numbers {
			require.Contains(t, text, `:`+n, task.ID)
		}
	}
}
