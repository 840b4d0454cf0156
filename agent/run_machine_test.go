package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// machineRun is an episode with prepared replies and results.
type machineRun struct {
	asked  []CallModel
	run    []CallTool
	finish Finish
}

// runMachine drives a machine. Model calls in the order of ids receive the replies, each a
// providers.Reply or an error. Tool calls receive results by tool, or their arguments. It ends with
// the episode or after the last reply.
func runMachine(t testing.TB, m Machine, results map[string]tool.Result, replies ...any) *machineRun {
	t.Helper()
	r := &machineRun{}
	queue := m.Step(Started{At: testStart}).Commands
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		var ev Event
		switch c := c.(type) {
		case CallModel:
			r.asked = append(r.asked, c)
			if len(replies) == 0 {
				return r
			}
			if reply, ok := replies[0].(providers.Reply); ok {
				ev = ModelReplied{At: testStart, ID: c.ID, Reply: reply}
			} else {
				ev = ModelFailed{At: testStart, ID: c.ID, Err: replies[0].(error), Answered: true}
			}
			replies = replies[1:]
		case CallTool:
			r.run = append(r.run, c)
			result, ok := results[c.Call.Name]
			switch {
			case c.Given != nil:
				result = *c.Given
			case !ok:
				result = tool.Result{Outcome: tool.OK, Value: c.Call.Args}
			}
			ev = ToolReturned{At: testStart, ID: c.ID, Result: result}
		case AskUser:
			ev = UserReplied{At: testStart, ID: c.ID, Text: "yes"}
		case Finish:
			r.finish = c
			require.Empty(t, queue, "nothing goes with the end")
			return r
		}
		queue = append(queue, m.Step(ev).Commands...)
	}
	return r
}

// runTools is runMachine of the strategy tools.
func runTools(t testing.TB, p Params, results map[string]tool.Result, replies ...any) *machineRun {
	t.Helper()
	if p.Tools == nil {
		p.Tools = testTools(t)
	}
	m, err := New("tools", p, nil)
	require.NoError(t, err)
	return runMachine(t, m, results, replies...)
}

// answers are the tool messages that the last model call shows.
func (r *machineRun) answers() []providers.Message {
	var out []providers.Message
	for _, m := range r.last() {
		if m.Role == providers.RoleTool {
			out = append(out, m)
		}
	}
	return out
}

// last are the messages of the last model call.
func (r *machineRun) last() []providers.Message { return r.asked[len(r.asked)-1].Call.Messages }

// saying and calling are replies.
func saying(text string) providers.Reply { return providers.Reply{Text: text} }

// calling returns calls from alternating names and arguments, with ids a, b, c….
func calling(namesAndArgs ...string) providers.Reply {
	var r providers.Reply
	for i := 0; i < len(namesAndArgs); i += 2 {
		r.Calls = append(r.Calls, providers.ToolCall{ID: string(rune('a' + i/2)), Name: namesAndArgs[i], Args: namesAndArgs[i+1]})
	}
	return r
}

// lookup returns a search with a unique argument.
func lookup(query string) providers.Reply {
	args, _ := json.Marshal(map[string]string{"query": query})
	return calling("search", string(args))
}
