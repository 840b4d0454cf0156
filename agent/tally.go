package agent

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/turn"
)

// Tally is the state that all machines share: it numbers the commands, remembers
// which are outstanding, counts what was used, and says which budget is spent.
// The zero value with Budgets is ready; it is not safe for concurrent use.
type Tally struct {
	Budgets guard.Budgets

	used       guard.Used
	start, now time.Time
	last       int             // the command issued last
	open       map[int]Command // the outstanding ones
	over       bool
}

// Take counts an event. It panics, as Machine.Step is to, when the event answers
// no outstanding command or comes after Finish.
func (t *Tally) Take(ev Event) {
	switch ev := ev.(type) {
	case Started:
		if t.last > 0 || t.over || !t.start.IsZero() {
			t.panicOn(ev)
		}
		t.start = ev.At
		t.advanceClock(ev.At)
	case ModelReplied:
		answered[CallModel](t, ev, ev.ID, ev.At)
		t.pay(ev)
	case ModelFailed:
		answered[CallModel](t, ev, ev.ID, ev.At)
	case ToolReturned:
		answered[CallTool](t, ev, ev.ID, ev.At)
	case UserReplied:
		if _, ok := t.open[ev.ID].(Listen); ok {
			answered[Listen](t, ev, ev.ID, ev.At)
		} else {
			answered[AskUser](t, ev, ev.ID, ev.At)
		}
	case UserSaid:
		if ev.ID > 0 || t.over {
			answered[Listen](t, ev, ev.ID, ev.At)
		}
		t.advanceClock(ev.At)
	case Waited:
		answered[Wait](t, ev, ev.ID, ev.At)
	case Deadline:
		t.endAll(ev, ev.At)
	case Cancelled:
		t.endAll(ev, ev.At)
	default:
		panic(fmt.Sprintf("agent: unknown event %T", ev))
	}
}

// answered ends the outstanding command that an event answers.
func answered[C Command](t *Tally, ev Event, id int, at time.Time) {
	c, ok := t.open[id].(C)
	if !ok || t.over {
		t.panicOn(ev)
	}
	t.end(id, c)
	t.advanceClock(at)
}

// endAll ends everything that is outstanding.
func (t *Tally) endAll(ev Event, at time.Time) {
	if t.over {
		t.panicOn(ev)
	}
	for id, c := range t.open { // what is counted does not depend on the order
		t.end(id, c)
	}
	t.advanceClock(at)
}

func (t *Tally) end(id int, c Command) {
	delete(t.open, id)
	t.used.Steps += steps(c)
	t.used.ToolCalls += toolCalls(c)
}

func (t *Tally) panicOn(ev Event) {
	what := fmt.Sprintf("%T", ev)
	if id := eventID(ev); id > 0 {
		what += fmt.Sprintf(" with id %d", id)
	}
	panic(fmt.Sprintf("agent: impossible event %s while %s", what, t.state()))
}

// state says what the machine waits for, for a panic.
func (t *Tally) state() string {
	switch {
	case t.over:
		return "finished"
	case len(t.open) == 0:
		return "nothing is awaited"
	}
	var awaited []string
	for _, id := range slices.Sorted(maps.Keys(t.open)) {
		awaited = append(awaited, fmt.Sprintf("%T with id %d", t.open[id], id))
	}
	return "awaiting " + strings.Join(awaited, ", ")
}

// eventID is that of the command an event answers; 0 if it answers none.
func eventID(ev Event) int {
	switch ev := ev.(type) {
	case ModelReplied:
		return ev.ID
	case ModelFailed:
		return ev.ID
	case ToolReturned:
		return ev.ID
	case UserReplied:
		return ev.ID
	case UserSaid:
		return ev.ID
	case Waited:
		return ev.ID
	}
	return 0
}

// steps is what a command uses of MaxSteps, toolCalls of MaxToolCalls.
func steps(c Command) int {
	if m, ok := c.(CallModel); ok && m.Role != turn.RoleCompress {
		return 1
	}
	return 0
}

func toolCalls(c Command) int {
	if u, ok := c.(CallTool); ok && u.Given == nil {
		return 1
	}
	return 0
}

// advanceClock moves the clock, never backwards.
func (t *Tally) advanceClock(at time.Time) {
	if t.start.IsZero() {
		t.start = at
	}
	if at.After(t.now) {
		t.now = at
	}
	t.used.Elapsed = max(t.used.Elapsed, t.now.Sub(t.start))
}

// pay counts what a model call took beyond its time.
func (t *Tally) pay(ev ModelReplied) {
	t.used.Tokens = plus(t.used.Tokens, ev.Reply.Usage.Total())
	t.used.TokensUnknown = t.used.TokensUnknown || !ev.Reply.Usage.Reported
	if ev.CostNanoUSD == nil {
		t.used.CostUnknown = true
	} else {
		t.used.CostNanoUSD = plus(t.used.CostNanoUSD, *ev.CostNanoUSD)
	}
}

// plus adds what is never negative, and stays at the largest number.
func plus(sum, n int64) int64 {
	n = max(n, 0)
	if sum > math.MaxInt64-n {
		return math.MaxInt64
	}
	return sum + n
}

// Model numbers a model call and makes it outstanding. Its Timeout becomes the
// time budget left.
func (t *Tally) Model(c CallModel) CallModel {
	c.ID, c.Timeout = t.next(), t.Budgets.TimeLeft(t.used)
	t.open[c.ID] = c
	return c
}

// Tool numbers a tool call and makes it outstanding.
func (t *Tally) Tool(c CallTool) CallTool { return number(t, &c, &c.ID) }

// User numbers a question and makes it outstanding.
func (t *Tally) User(c AskUser) AskUser { return number(t, &c, &c.ID) }

// Listen numbers the command that ends a turn of a thread, and makes it outstanding.
func (t *Tally) Listen(c Listen) Listen { return number(t, &c, &c.ID) }

// Wait numbers a pause and makes it outstanding.
func (t *Tally) Wait(c Wait) Wait { return number(t, &c, &c.ID) }

// number numbers a command and makes it outstanding.
func number[C Command](t *Tally, c *C, id *int) C {
	*id = t.next()
	t.open[*id] = *c
	return *c
}

// Finish ends the episode: any event after it is impossible.
func (t *Tally) Finish(f Finish) Finish {
	if t.over {
		panic("agent: finished twice")
	}
	t.over = true
	return f
}

func (t *Tally) next() int {
	if t.over {
		panic("agent: a command after Finish")
	}
	if t.open == nil {
		t.open = map[int]Command{}
	}
	t.last++
	return t.last
}

// Used are the counters so far.
func (t *Tally) Used() guard.Used { return t.used }

// Now is the virtual time of the latest event.
func (t *Tally) Now() time.Time { return t.now }

// Open is how many commands are outstanding.
func (t *Tally) Open() int { return len(t.open) }

// Over is whether Finish was given.
func (t *Tally) Over() bool { return t.over }

// reserved are the counters once everything outstanding has ended.
func (t *Tally) reserved() guard.Used {
	u := t.used
	for _, c := range t.open {
		u.Steps += steps(c)
		u.ToolCalls += toolCalls(c)
	}
	return u
}

// Spent is why no further model call may begin; empty if one may. Steps that are
// outstanding count.
func (t *Tally) Spent() StopReason {
	switch u := t.reserved(); {
	case t.Budgets.OutOfTime(u):
		return MaxSeconds
	case t.Budgets.OutOfSteps(u):
		return MaxSteps
	case t.Budgets.OutOfTokens(u):
		return MaxTokens
	case t.Budgets.OutOfCost(u):
		return MaxCost
	}
	return ""
}

// MayCallTool reports whether one more tool call may be executed. Calls that are
// outstanding count.
func (t *Tally) MayCallTool() bool { return !t.Budgets.OutOfToolCalls(t.reserved()) }
