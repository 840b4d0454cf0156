package sim

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/goldens/world"
)

// TestScholarSolvesResearch: every task of the suite, without slips, all calls at once
// and one at a time.
func TestScholarSolvesResearch(t *testing.T) {
	suite, err := load.Suite(research.FS, "research", research.Worlds())
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
				h := newTaskWorld(t, task)
				a, steps := inquire(t, h.run, pr, width)
				o := h.say(a)
				o.Steps = steps
				solved, checks := goldens.Score(task, o)
				require.True(t, solved, "%s\n%q\n%+v", task.Request, o.Answer, checks)
				if task.Session != "" && width == 1 {
					memory[task.Session] = append(memory[task.Session], exchange{task.Request, o.Answer})
				}
			})
		}
	}
}

// taskWorld is the world of a task.
type taskWorld struct {
	t     *testing.T
	task  goldens.Task
	world *world.Environment
	at    time.Time
	calls []goldens.Called
}

func newTaskWorld(t *testing.T, task goldens.Task) *taskWorld {
	w, err := goldens.OpenWorld(t.Context(), task, 1)
	require.NoError(t, err)
	return &taskWorld{t: t, task: task, world: w, at: task.World.Now}
}

// run executes a call as a shelf does.
func (h *taskWorld) run(name, args string) (verdict, data string) {
	call := tool.Call{Name: name, Args: json.RawMessage(args)}
	r, err := h.world.Call(h.t.Context(), call, h.at)
	require.NoError(h.t, err)
	h.at = h.at.Add(r.Duration)
	h.calls = append(h.calls, goldens.Called{Call: call, Outcome: r.Outcome, Result: r.Value})
	if r.Outcome != tool.OK {
		return string(r.Outcome) + " " + r.Code, r.Message
	}
	return "ok", string(r.Value)
}

// outcome is how an episode ended.
func (h *taskWorld) outcome(answer string, stuck bool) goldens.Outcome {
	o := goldens.Outcome{Status: "answered", Answer: answer, Calls: h.calls}
	if stuck {
		o.Status = "cannot_proceed"
	}
	return o
}

// say is the answer to a task: in the form it asks for.
func (h *taskWorld) say(a action) goldens.Outcome {
	if h.task.AnswerSchema != nil {
		return h.outcome(string(encodeJSON(fill(h.task.AnswerSchema, a))), a.stuck)
	}
	return h.outcome(a.message, a.stuck)
}

// TestPlansSolveResearch: every task by its plan, whose steps know nothing but what
// they are told.
func TestPlansSolveResearch(t *testing.T) {
	suite, err := load.Suite(research.FS, "research", research.Worlds())
	require.NoError(t, err)
	for _, task := range suite.Tasks {
		if task.Session != "" {
			continue // a plan remembers nothing
		}
		t.Run(task.ID, func(t *testing.T) {
			h := newTaskWorld(t, task)
			pr := prompt{request: task.Request, tools: libraryTools()}
			for _, in := range task.Inputs {
				pr.given = append(pr.given, handed{in.Name, string(in.Value)})
			}
			o := h.say(follow(t, h.run, newScholar(careful(), pr).steps(), pr.given))
			solved, checks := goldens.Score(task, o)
			require.True(t, solved, "%s\n%q\n%+v", task.Request, o.Answer, checks)
		})
	}
}
