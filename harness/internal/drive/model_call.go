package drive

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/scripted"
	"github.com/cupel-eval/cupel/recorder"
)

// modelCall is a model call that has not been made.
type modelCall struct {
	agent.CallModel
	start  time.Time
	row    int       // index of its turn row
	past   *history  // nil for a turn after the fork
	before *MadeCall // it was made; usually nil
	watch  recorder.Watch
}

func prepare(e *driver, c agent.CallModel) *modelCall {
	asked := askedCandidate(e)
	switch {
	case c.Whom == turn.RoleRescue:
		c.Call.Model = asked.Rescue
	case c.Whom == turn.RoleFallback:
		c.Call.Model = asked.Fallback
	case c.Whom == "" && c.Role == turn.RolePlanner:
		c.Call.Model = cmp.Or(asked.Plan.ReasoningModel, asked.Model)
	case c.Whom == "":
		c.Call.Model = asked.Model
	}
	c.Call.Stream = asked.Stream
	row := e.rows.turn(c, e.actionID(c.ID, e.clock), e.clock)
	c.Call.RequestID = e.id + "-" + strconv.Itoa(row+1)
	call := &modelCall{CallModel: c, start: e.clock, row: row, past: e.rows.past}
	if m, ok := e.machine.(RepeatingMachine); ok {
		call.made(e, m.Made(c.ID))
	}
	return call
}

// outcome is the result of a model call.
type outcome struct {
	reply providers.Reply
	cost  *int64
	err   error
	seen  []recorder.Exchange
	end   time.Time
	fed   bool // the machine has seen it
}

// run makes the call. It reads only fields of the episode that do not change while calls
// are in flight, and does not write to it.
func (m *modelCall) run(ctx context.Context, e *driver) completion {
	var seen []recorder.Exchange
	ctx = recorder.Observe(ctx, func(x recorder.Exchange) { seen = append(seen, x) })
	if e.batches(e.Candidate.Provider) == nil { // a batched call takes no time
		ctx = recorder.Watched(ctx, &m.watch)
	}
	cancel := func() {}
	model := e.model
	if m.past != nil {
		model = m.past.model
	} else if e.rows.live && m.Timeout > 0 {
		ctx, cancel = WithBudget(ctx, m.Timeout)
	}
	if m.before != nil {
		model = m.before.Answer
	}
	reply, err := watched(e, m, model).Call(ctx, m.Call)
	defer cancel()
	at := m.start
	for _, x := range seen {
		at = at.Add(x.Duration)
	}
	done := completion{at: at, id: m.ID}
	cost := e.rows.cost(m, reply)
	switch {
	case err != nil && e.rows.live && m.past == nil && ctx.Err() == nil && isDrained(ctx): // not repeated, or never made
		done.event = agent.Cancelled{At: at}
	case err != nil:
		done.event = m.failed(ctx, at, err, seen)
	default:
		done.event = agent.ModelReplied{At: at, ID: m.ID, Reply: reply, CostNanoUSD: cost}
	}
	done.apply = func(r agent.Ready, fed bool) {
		e.rows.turnDone(m, outcome{reply, cost, err, seen, at, fed}, r)
		e.emit(episode.Trace{Turn: &e.rows.turns[m.row], Call: &m.Call, Answer: &reply, Err: err})
	}
	return done
}

// failed distinguishes a stopped run and an exceeded time budget from a real failure, and a
// recorded failure from one that a replay would not repeat.
func (m *modelCall) failed(ctx context.Context, at time.Time, err error, seen []recorder.Exchange) agent.Event {
	switch stopped := ctx.Err(); {
	case stopped == nil:
		answered := len(seen) > 0 && seen[len(seen)-1].Status != 0
		return agent.ModelFailed{At: at, ID: m.ID, Err: err, Answered: answered}
	case errors.Is(stopped, context.DeadlineExceeded):
		return agent.Deadline{At: at}
	default:
		return agent.Cancelled{At: at}
	}
}

// script converts a task's emits into a scripted model's steps.
func script(t goldens.Task) []scripted.Step {
	var steps []scripted.Step
	for _, emit := range t.Script {
		step := scripted.Step{Text: emit.Text, WantModel: episode.ScriptedCandidate, CostNanoUSD: emit.CostNanoUSD}
		for _, c := range emit.Calls {
			step.Calls = append(step.Calls, providers.ToolCall{Name: c.Name, Args: c.Args})
		}
		if emit.Tokens != nil {
			step.Usage = providers.Usage{Reported: true, Output: *emit.Tokens}
		}
		if emit.Cut {
			step.Finish = providers.FinishLength
		}
		if emit.Rescue {
			step.WantModel = ScriptedRescue
		}
		step.Check = func(c providers.Call) error {
			if emit.Reflect && !agent.IsReflect(c) {
				return errors.New("the script expects a reflect turn here, the prompt asks for none")
			}
			return nil
		}
		steps = append(steps, step)
	}
	return steps
}
