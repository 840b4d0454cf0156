package goldens_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/internal/match"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// intended is an outcome that does what the first expectation of a task asks.
func intended(e goldens.Expect) goldens.Outcome {
	o := goldens.Outcome{Status: e.Status, StopReason: e.StopReason, Answer: strings.Join(append(e.Numbers, e.ContainsAll...), " and ")}
	if len(e.ContainsAny) > 0 {
		o.Answer += " " + e.ContainsAny[0]
	}
	if len(e.Near) > 0 {
		o.Answer += " " + fmt.Sprint(e.Near, e.ContainsAny) // map[NAME:NUMBER …]
	}
	for _, m := range e.Trajectory.Required {
		args, _ := plainjson.Marshal(m.Args)
		o.Calls = append(o.Calls, goldens.Called{Call: tool.Call{Name: m.Tool, Args: args}, Outcome: tool.OK})
	}
	return o
}

// Every task of the built-in suite is solved by the outcome it describes, and
// by no outcome that misses one thing of it.
func TestScoreBuiltinSuite(t *testing.T) {
	suite, err := load.Suite(os.DirFS("counts"), "counts", counts.Worlds())
	require.NoError(t, err)
	tried := 0
	for _, task := range suite.Tasks {
		require.NoError(t, task.Expect[0].Validate(), task.ID)
		e := task.Expect[0]
		if e.TableLabel != "" || len(e.Signals) > 0 || len(e.Matches) > 0 || len(task.Fails) > 0 || slices.ContainsFunc(e.Trajectory.Required, func(c goldens.CallMatch) bool { return match.HasMatcher(c.Args) }) {
			continue // needs a world, a history, words or values, or is not to be met
		}
		tried++
		only := goldens.Task{Expect: []goldens.Expect{e}, World: task.World}
		solved, checks := goldens.Score(only, intended(e))
		require.True(t, solved, "%s: %v", task.ID, checks)
		for name, spoil := range map[string]func(*goldens.Outcome){
			"status":         func(o *goldens.Outcome) { o.Status = "error" },
			"answer_numbers": func(o *goldens.Outcome) { o.Answer = "nothing" },
			"trajectory.order": func(o *goldens.Outcome) {
				o.Calls = append(o.Calls, goldens.Called{Call: tool.Call{Name: "x", Args: []byte("{}")}, Outcome: tool.OK})
			},
			"trajectory.require": func(o *goldens.Outcome) { o.Calls = nil },
		} {
			relevant := map[string]bool{
				"status": true, "answer_numbers": len(e.Numbers) > 0,
				"trajectory.order": e.Trajectory.Order == goldens.Strict, "trajectory.require": len(e.Trajectory.Required) > 0 && e.Trajectory.Order != goldens.Subset,
			}
			o := intended(e)
			spoil(&o)
			solved, _ := goldens.Score(only, o)
			require.False(t, solved && relevant[name], "%s solved without %s", task.ID, name)
		}
	}
	require.Greater(t, tried, 20)
}
