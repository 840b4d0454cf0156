package goldens_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// TestPlaybooksSolveBuiltInSuites: every task whose model is judged has a reference
// solution, which solves it by the tools of its world.
func TestPlaybooksSolveBuiltInSuites(t *testing.T) {
	for name, tasks := range map[string]int{"counts": 100, "research": 50} {
		suite, err := load.Suite(os.DirFS(name), name)
		require.NoError(t, err)
		book, err := load.Playbook(suite)
		require.NoError(t, err)
		require.Empty(t, book.Missing())
		require.Len(t, book.Plays(), tasks)
		for _, task := range suite.Tasks {
			play, ok := book.Of(task.ID)
			if !ok {
				continue
			}
			t.Run(task.ID, func(t *testing.T) {
				o := followed(t, task, play)
				solved, checks := goldens.Score(task, o)
				if o.Status == "answered" && !slices.ContainsFunc(o.Calls, func(c goldens.Called) bool { return c.Outcome == tool.OK }) && !solved {
					o.Status = "respond_error" // an answer that no result bears out may be a complaint
					solved, checks = goldens.Score(task, o)
				}
				require.True(t, solved, "%s: %s\n%+v", o.Status, o.Answer, checks)
			})
		}
	}
}

// followed is what following a solution comes to, one action a step.
func followed(t *testing.T, task goldens.Task, play *playbook.Play) goldens.Outcome {
	t.Helper()
	w, err := goldens.OpenWorld(t.Context(), task, 0)
	require.NoError(t, err)
	o := goldens.Outcome{AllTurnsValidJSON: true}
	seen := playbook.Seen{Given: map[string]json.RawMessage{}}
	for _, in := range task.Inputs {
		seen.Given[in.Name] = in.Value
	}
	for range task.Budgets.MaxSteps {
		actions, err := play.Next(seen)
		require.NoError(t, err)
		o.Steps++
		switch a := actions[0]; a.Kind {
		case playbook.Call:
			call := tool.Call{Name: a.Tool, Args: a.Args}
			r, err := w.Call(t.Context(), call, task.World.Now.Add(o.Elapsed))
			require.NoError(t, err)
			o.Elapsed += r.Duration
			o.Calls = append(o.Calls, goldens.Called{Call: call, Outcome: r.Outcome, Result: r.Value})
			seen.Results = append(seen.Results, playbook.Result{Tool: a.Tool, Args: a.Args, Value: r.Value, Code: r.Code, Message: r.Message})
			require.LessOrEqual(t, len(o.Calls), task.Budgets.MaxToolCalls)
		case playbook.Ask:
			o.Clarifies++
			reply, answered := w.Reply(a.Text)
			if !answered {
				o.Status, o.Answer = "clarify", a.Text
				return o
			}
			seen.Replies = append(seen.Replies, reply)
		default:
			o.Status, o.Answer = "answered", a.Text
			if o.Clarifies > 0 {
				o.Status = "answered_after_clarify"
			}
			if a.Kind == playbook.GiveUp {
				o.Status = "cannot_proceed"
			}
			if task.AnswerSchema != nil {
				o.Answer = string(a.Value)
			}
			return o
		}
	}
	o.Status = "stopped"
	return o
}
