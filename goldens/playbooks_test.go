package goldens_test

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/goldens/world"
)

// TestPlaybooksSolveBuiltInSuites: every task whose model is judged has a reference
// solution, which solves it by the tools of its world.
func TestPlaybooksSolveBuiltInSuites(t *testing.T) {
	kinds := counts.Worlds()
	maps.Copy(kinds, research.Worlds())
	for name, tasks := range map[string]int{"counts": 100, "research": 50, "desk": 39} {
		suite, err := load.Suite(os.DirFS(name), name, kinds)
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
				for way, o := range map[string]goldens.Outcome{
					"at once":            follow(t, suite, task, []playbook.Stage{{Play: play}}, false),
					"from what it saved": follow(t, suite, task, []playbook.Stage{{Play: play}}, true),
					"in stages":          follow(t, suite, task, play.Stages(), false),
				} {
					solved, checks := goldens.Score(task, o)
					require.True(t, solved, "%s, %s: %s\n%+v", way, o.Status, o.Answer, checks)
				}
			})
		}
	}
}

// follow is what following a solution comes to, stage by stage and one action a step. With
// saved, each step sees only the last result and what the step before saved.
func follow(t *testing.T, suite *goldens.Suite, task goldens.Task, stages []playbook.Stage, saved bool) goldens.Outcome {
	t.Helper()
	w, err := goldens.OpenWorld(t.Context(), task, 0)
	require.NoError(t, err)
	o := goldens.Outcome{AllTurnsValidJSON: true}
	seen := playbook.Seen{Given: map[string]json.RawMessage{}}
	for _, in := range task.Inputs {
		seen.Given[in.Name] = in.Value
	}
	values := maps.Clone(seen.Given) // what stages hand on, by their ids
	for _, stage := range stages {
		if stage.Each == "" {
			values[stage.ID] = followStage(t, suite, task, w, stage.Play, saved, &seen, &o)
		} else {
			var items, outputs []json.RawMessage
			require.NoError(t, json.Unmarshal(values[stage.Each], &items))
			for _, item := range items {
				seen.Given["item"] = item
				outputs = append(outputs, followStage(t, suite, task, w, stage.Play, saved, &seen, &o))
			}
			values[stage.ID], err = json.Marshal(outputs)
			require.NoError(t, err)
		}
		if o.Status == "" && !stage.List {
			require.NoError(t, json.Unmarshal(playbook.Collect(values[stage.ID]), &seen.Given))
		}
	}
	o.StateBefore, o.StateAfter = w.States()
	return o
}

// followStage follows one stage and returns its output.
func followStage(t *testing.T, suite *goldens.Suite, task goldens.Task, w *world.Environment, play *playbook.Play, saved bool, seen *playbook.Seen, o *goldens.Outcome) json.RawMessage {
	seen.Results, seen.From = nil, nil
	for o.Status == "" && o.Steps < task.Budgets.MaxSteps {
		if saved {
			from, err := play.Save(*seen)
			require.NoError(t, err)
			seen.Results, seen.From = nil, from
		}
		actions, err := play.Next(*seen)
		require.NoError(t, err)
		if actions[0].Kind == playbook.Output {
			return actions[0].Value
		}
		act(t, suite, task, w, actions[0], seen, o)
	}
	return nil
}

// act carries out an action.
func act(t *testing.T, suite *goldens.Suite, task goldens.Task, w *world.Environment, a playbook.Action, seen *playbook.Seen, o *goldens.Outcome) {
	t.Helper()
	o.Steps++
	switch a.Kind {
	case playbook.Call:
		call := tool.Call{Name: a.Tool, Args: a.Args}
		r, err := world.Effect{Result: tool.Result{Outcome: tool.Rejected, Code: "E_DENIED"}}, error(nil)
		if suite.Approval(a.Tool) != goldens.ApproveAsk || w.Approve() {
			r, err = w.Call(t.Context(), call, task.World.Now.Add(o.Elapsed))
		}
		require.NoError(t, err)
		require.Empty(t, r.Harm)
		o.Elapsed += r.Duration
		o.Calls = append(o.Calls, goldens.Called{Call: call, Outcome: r.Outcome, Result: r.Value})
		seen.Results = append(seen.Results, playbook.Result{Tool: a.Tool, Args: a.Args, Value: r.Value, Code: r.Code, Message: r.Message})
		require.LessOrEqual(t, len(o.Calls), task.Budgets.MaxToolCalls)
		return
	case playbook.Ask:
		o.Clarifies++
		if reply, answered := w.Reply(a.Text); answered {
			seen.Replies = append(seen.Replies, reply)
			return
		}
		o.Status = "clarify"
	case playbook.GiveUp:
		o.Status = "cannot_proceed"
	case playbook.Answer:
		o.Status = "answered"
		if o.Clarifies > 0 {
			o.Status = "answered_after_clarify"
		}
		if len(o.Calls) == 0 && task.Expect[0].Status == "respond_error" { // a complaint that no result bears out
			o.Status = "respond_error"
		}
	}
	o.Answer = a.Text
	if task.AnswerSchema != nil {
		o.Answer = string(a.Value)
	}
}
