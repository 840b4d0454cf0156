package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// stage drives a machine like the driver of package harness: the commands of a Step start
// immediately, and their outcomes arrive in the order in which they are due, then by command id.
type stage struct {
	t require.TestingT
	// model and tool return the outcome of a command, took its duration.
	model func(CallModel) (providers.Reply, error)
	tool  func(CallTool) tool.Result
	took  func(Command) time.Duration
	// look, if not nil, receives every event with the machine's response.
	look func(Event, Ready)

	at      time.Time
	due     []dueEvent
	models  []CallModel
	tools   []CallTool
	judged  []Judgement
	updates []Update
	trace   strings.Builder
}

type dueEvent struct {
	at time.Time
	id int
	ev Event
}

// refused is an error response of a provider.
type refused struct{ error }

// run drives the machine to its end.
func (s *stage) run(m Machine) Finish {
	s.at = testStart
	var ev Event = Started{At: s.at}
	for range 10_000 {
		ready := m.Step(ev)
		if s.look != nil {
			s.look(ev, ready)
		}
		s.note(ev, ready)
		for _, c := range ready.Commands {
			if f, ok := c.(Finish); ok {
				require.Len(s.t, ready.Commands, 1, "nothing goes out with the end")
				require.Panics(s.t, func() { m.Step(Cancelled{At: s.at}) })
				return f
			}
			s.start(c)
		}
		require.NotEmpty(s.t, s.due, "the machine waits for nothing")
		slices.SortFunc(s.due, func(a, b dueEvent) int {
			if c := a.at.Compare(b.at); c != 0 {
				return c
			}
			return a.id - b.id
		})
		s.at, ev, s.due = s.due[0].at, s.due[0].ev, s.due[1:]
	}
	require.Fail(s.t, "no end in sight")
	return Finish{}
}

// start carries out a command.
func (s *stage) start(c Command) {
	at := s.at.Add(s.took(c))
	switch c := c.(type) {
	case CallModel:
		s.models = append(s.models, c)
		reply, err := s.model(c)
		var ev Event = ModelReplied{At: at, ID: c.ID, Reply: reply, CostNanoUSD: new(int64(10))}
		if err != nil {
			answered := errors.As(err, new(refused))
			ev = ModelFailed{At: at, ID: c.ID, Err: err, Answered: answered}
		}
		s.due = append(s.due, dueEvent{at, c.ID, ev})
	case CallTool:
		s.tools = append(s.tools, c)
		var r tool.Result
		if c.Given != nil {
			r, at = *c.Given, s.at
		} else {
			r = s.tool(c)
		}
		s.due = append(s.due, dueEvent{at, c.ID, ToolReturned{At: at, ID: c.ID, Result: r}})
	default:
		require.Fail(s.t, "unexpected command", "%T", c)
	}
}

// note stores an event and writes the trace.
func (s *stage) note(ev Event, ready Ready) {
	fmt.Fprintf(&s.trace, "%v %s\n", s.at.Sub(testStart), shownEvent(ev))
	if j := ready.Judgement; j != nil {
		s.judged = append(s.judged, *j)
		fmt.Fprintf(&s.trace, "  judged %s %s json=%v actionable=%v valid=%v repaired=%v rev=%d %s\n",
			j.ActionType, j.ActionName, j.ValidJSON, j.Actionable, j.ContractValid, j.Repaired, j.PlanRev, strings.Join(append(j.Violations, j.Warnings...), " "))
	}
	s.updates = append(s.updates, ready.Updates...)
	for _, u := range ready.Updates {
		fmt.Fprintf(&s.trace, "  %s %s: %s\n", u.Phase, u.Status, oneLine(u.Content, 200))
	}
	for _, c := range ready.Commands {
		fmt.Fprintf(&s.trace, "  -> %s\n", shownCommand(c))
	}
}

func shownEvent(ev Event) string {
	switch ev := ev.(type) {
	case ModelReplied:
		out := fmt.Sprintf("reply %d: %s", ev.ID, oneLine(ev.Reply.Text, 200))
		for _, c := range ev.Reply.Calls {
			out += fmt.Sprintf(" [%s %s]", c.Name, oneLine(c.Args, 200))
		}
		return out
	case ModelFailed:
		return fmt.Sprintf("failed %d: %v", ev.ID, ev.Err)
	case ToolReturned:
		return fmt.Sprintf("tool %d: %s %s%s", ev.ID, ev.Result.Outcome, ev.Result.Code, oneLine(string(ev.Result.Value), 100))
	}
	return fmt.Sprintf("%T", ev)
}

func shownCommand(c Command) string {
	switch c := c.(type) {
	case CallModel:
		return strings.TrimSpace(fmt.Sprintf("model %d<%d %s %s %s %s", c.ID, c.Parent, c.Role, c.Kind, c.Step, c.Whom))
	case CallTool:
		out := fmt.Sprintf("tool %d<%d %s %s", c.ID, c.Parent, c.Call.Name, oneLine(string(c.Call.Args), 100))
		if c.Given != nil {
			out += fmt.Sprintf(" given %s %s: %s", c.Given.Outcome, c.Given.Code, oneLine(c.Given.Message, 200))
		}
		return out
	case Finish:
		return fmt.Sprintf("finish %s %s %q %v", c.Status, c.StopReason, c.Answer, c.Err)
	}
	return fmt.Sprintf("%T", c)
}

// reply is one of a text and of calls such as `search {"query":"x"}`.
func reply(text string, calls ...string) providers.Reply {
	r := providers.Reply{Text: text, Finish: providers.FinishStop, Usage: providers.Usage{Reported: true, Input: 8, Output: 2}}
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		r.Calls = append(r.Calls, providers.ToolCall{ID: fmt.Sprint("c", i), Name: name, Args: args})
		r.Finish = providers.FinishTools
	}
	return r
}

// planCall is a call of create_task with these steps.
func planCall(steps ...string) string {
	return `create_task {"title":"t","steps":[` + strings.Join(steps, ",") + `]}`
}

// finishCall is a call of finish_step with this result.
func finishCall(result string) string { return `finish_step {"result":` + result + `}` }

// queues has replies by request: "" is the planner, an id is a step, and "compress" a summary. An
// error in a queue is a failure.
func queues(t require.TestingT, of map[string][]any) func(CallModel) (providers.Reply, error) {
	next := map[string]int{}
	return func(c CallModel) (providers.Reply, error) {
		key := c.Step
		if c.Kind == turn.KindCompress {
			key = "compress"
		}
		n := next[key]
		next[key]++
		require.Less(t, n, len(of[key]), "no reply %d left for %q", n+1, key)
		switch r := of[key][n].(type) {
		case providers.Reply:
			return r, nil
		case error:
			return providers.Reply{}, r
		case string:
			return reply(r), nil
		}
		require.Fail(t, "neither a reply nor an error")
		return providers.Reply{}, nil
	}
}

// newStage returns a stage on which a model takes a second and a tool a tenth of that, and every tool
// returns its arguments.
func newStage(t require.TestingT, of map[string][]any) *stage {
	return &stage{
		t: t, model: queues(t, of),
		tool: func(c CallTool) tool.Result {
			return tool.Result{Outcome: tool.OK, Value: c.Call.Args, Duration: 100 * time.Millisecond}
		},
		took: func(c Command) time.Duration {
			if _, ok := c.(CallModel); ok {
				return time.Second
			}
			return 100 * time.Millisecond
		},
	}
}
