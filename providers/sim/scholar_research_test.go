package sim

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/research"
)

// TestScholarSolvesResearch: every task of the suite, without slips, all calls at once
// and one at a time.
func TestScholarSolvesResearch(t *testing.T) {
	suite, err := goldens.Load(research.FS, "research")
	require.NoError(t, err)
	memory := map[string][]exchange{}
	for _, task := range suite.Tasks {
		for _, width := range []int{50, 1} {
			t.Run(fmt.Sprintf("%s by %d", task.ID, width), func(t *testing.T) {
				pr := prompt{request: task.Request}
				if task.Session != "" {
					pr.earlier = memory[task.Session]
				}
				for _, in := range task.Inputs {
					pr.given = append(pr.given, handed{in.Name, string(in.Value)})
				}
				o := solveTask(t, task, pr, width)
				solved, checks := goldens.Score(task, o)
				require.True(t, solved, "%s\n%q\n%+v", task.Request, o.Answer, checks)
				if task.Session != "" && width == 1 {
					memory[task.Session] = append(memory[task.Session], exchange{task.Request, o.Answer})
				}
			})
		}
	}
}

// solveTask works on a task in its world until there is an answer.
func solveTask(t *testing.T, task goldens.Task, pr prompt, width int) (o goldens.Outcome) {
	t.Helper()
	world := goldens.NewWorld(task)
	at := task.World.Now
	pr.tools = libraryTools()
	for turn := 1; turn < 60; turn++ {
		acts := newScholar(careful(), pr).acts()
		if a := acts[0]; a.kind != useTool {
			o.Status, o.Answer, o.Steps = "answered", a.message, turn
			if a.stuck {
				o.Status = "cannot_proceed"
			}
			if task.AnswerSchema != nil {
				o.Answer = string(encodeJSON(fill(task.AnswerSchema, a)))
			}
			return o
		}
		for _, a := range acts[:min(width, len(acts))] {
			args, err := json.Marshal(a.arguments())
			require.NoError(t, err)
			call := tool.Call{Name: a.name, Args: args}
			r := world.Call(call, at)
			at = at.Add(r.Duration + time.Millisecond)
			o.Calls = append(o.Calls, goldens.Called{Call: call, Outcome: r.Outcome, Result: r.Value})
			verdict, data := string(r.Outcome), string(r.Value)
			if r.Outcome != tool.OK {
				verdict, data = verdict+" "+r.Code, r.Message
			}
			pr.entries = append(pr.entries, fmt.Sprintf("tool result: turn %d %s %s -> %s <data>%s</data>", turn, a.name, args, verdict, data))
		}
	}
	require.Fail(t, "no answer")
	return o
}
