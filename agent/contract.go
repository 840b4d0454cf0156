package agent

import (
	"fmt"
	"time"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// contractMachine is the strategy of one JSON object per turn. It has one
// command outstanding at any time.
type contractMachine struct {
	Params
	prompts prompts
	format  *providers.Format // of the main loop's calls

	state  state
	lastID int // of the command issued last, which is the one outstanding
	parent int // of the next command
	out    Ready

	start, now time.Time
	used       guard.Used
	pad        scratchpad
	clarified  bool // the user has answered a question
	succeeded  bool // a tool call has succeeded

	kind     string    // of the turn under way
	call     CallTool  // the tool call under way
	rejected []string  // its field errors
	spec     tool.Spec // its tool
	question string    // the question under way
	next     string    // kind of the next turn
	repeated string    // the tool to reflect on in it
	ladder   escalation
	strikes  int    // consecutive violations
	log      rawLog // for the compressor
	thrash   guard.Thrash
	spike    guard.Spike
	stall    guard.Stall
	breaker  guard.Breaker
	cache    guard.Dedupe[tool.Result]
}

// state is what the machine waits for.
type state int

const (
	stateNew state = iota
	stateAwaitingModel
	stateAwaitingTool
	stateAwaitingUser
	stateFinished
)

func (s state) String() string {
	return [...]string{"new", "awaiting model", "awaiting tool", "awaiting user", "finished"}[s]
}

// escalation is what was already tried in this episode against repetition and
// violations.
type escalation struct{ reflected, rescued bool }

func newContract(p Params) (Machine, error) {
	if err := onlyContracts(p); err != nil {
		return nil, err
	}
	goal := fenceLine(p.Request, maxGoal)
	p = told(p)
	prompts, err := newPrompts(p)
	if err != nil {
		return nil, err
	}
	format, err := newFormat(p)
	if err != nil {
		return nil, err
	}
	return &contractMachine{
		Params:  p,
		prompts: prompts,
		format:  format,
		next:    KindAct,
		cache:   guard.Dedupe[tool.Result]{TTL: guard.DedupeTTL},
		pad: scratchpad{
			goal:        goal,
			constraints: defuse(flat(p.Constraints)),
		},
	}, nil
}

// Step implements Machine.
func (m *contractMachine) Step(ev Event) Ready {
	m.out = Ready{}
	switch ev := ev.(type) {
	case Started:
		m.expect(ev, stateNew, 0)
		m.start = ev.At
		m.tick(ev.At)
		m.callModel()
	case ModelReplied:
		m.expect(ev, stateAwaitingModel, ev.ID)
		m.tick(ev.At)
		m.pay(ev)
		if m.kind == KindCompress {
			m.compressed(ev.Reply)
		} else {
			m.modelReplied(ev.Reply)
		}
	case ModelFailed:
		m.expect(ev, stateAwaitingModel, ev.ID)
		m.tick(ev.At)
		if m.kind == KindCompress && ev.Answered {
			m.callModel()
		} else {
			m.finish(Finish{Status: Failed, Err: ev.Err})
		}
	case ToolReturned:
		m.expect(ev, stateAwaitingTool, ev.ID)
		m.tick(ev.At)
		m.toolReturned(ev.Result)
		m.callModel()
	case UserReplied:
		m.expect(ev, stateAwaitingUser, ev.ID)
		m.tick(ev.At)
		m.userReplied(ev)
	case Deadline:
		m.expectUnfinished(ev)
		m.tick(ev.At)
		m.stop(MaxSeconds)
	case Cancelled:
		m.expectUnfinished(ev)
		m.tick(ev.At)
		m.finish(Finish{Status: Interrupted})
	default:
		panic(fmt.Sprintf("agent: contract machine: unknown event %T", ev))
	}
	m.out.Used = m.used
	return m.out
}

// expect panics unless the event answers the command outstanding.
func (m *contractMachine) expect(ev Event, want state, id int) {
	if m.state != want || id != m.lastID {
		panic(fmt.Sprintf("agent: contract machine: impossible event %T with id %d while %v with id %d", ev, id, m.state, m.lastID))
	}
}

func (m *contractMachine) expectUnfinished(ev Event) {
	if m.state == stateFinished {
		panic(fmt.Sprintf("agent: contract machine: impossible event %T while %v", ev, m.state))
	}
}

// tick ends the command outstanding and moves the clock, never backwards.
func (m *contractMachine) tick(at time.Time) {
	switch {
	case m.state == stateAwaitingModel && m.kind != KindCompress:
		m.used.Steps++
	case m.state == stateAwaitingTool && m.call.Given == nil:
		m.used.ToolCalls++
	}
	if m.start.IsZero() {
		m.start = at
	}
	if at.After(m.now) {
		m.now = at
	}
	m.used.Elapsed = max(m.used.Elapsed, m.now.Sub(m.start))
}

// becomeAwaiting moves to waiting for the command about to be issued.
func (m *contractMachine) becomeAwaiting(what state) (id, parent int) {
	if m.state == stateFinished || what == stateNew || what == stateFinished {
		panic(fmt.Sprintf("agent: contract machine: impossible move from %v to %v", m.state, what))
	}
	parent = m.parent
	m.lastID++
	m.parent = m.lastID
	m.state = what
	return m.lastID, parent
}

func (m *contractMachine) becomeFinished() {
	if m.state == stateFinished {
		panic("agent: contract machine: impossible move from finished to finished")
	}
	m.state = stateFinished
}

func (m *contractMachine) issue(c Command) { m.out.Commands = append(m.out.Commands, c) }

func (m *contractMachine) finish(f Finish) {
	m.becomeFinished()
	m.issue(f)
}

func (m *contractMachine) stop(why StopReason) { m.finish(Finish{Status: Stopped, StopReason: why}) }

// pay counts what a model call took beyond its time.
func (m *contractMachine) pay(ev ModelReplied) {
	m.used.Tokens = plus(m.used.Tokens, ev.Reply.Usage.Total())
	m.used.TokensUnknown = m.used.TokensUnknown || !ev.Reply.Usage.Reported
	if ev.CostNanoUSD == nil {
		m.used.CostUnknown = true
	} else {
		m.used.CostNanoUSD = plus(m.used.CostNanoUSD, *ev.CostNanoUSD)
	}
}

// outOf is why no model call may begin, empty if one may.
func (m *contractMachine) outOf() StopReason {
	switch {
	case m.Budgets.OutOfTime(m.used):
		return MaxSeconds
	case m.Budgets.OutOfSteps(m.used):
		return MaxSteps
	case m.Budgets.OutOfTokens(m.used):
		return MaxTokens
	case m.Budgets.OutOfCost(m.used):
		return MaxCost
	}
	return ""
}

// callModel begins the next turn, if the budgets allow one; before it, the log
// may be condensed.
func (m *contractMachine) callModel() {
	if why := m.outOf(); why != "" {
		m.stop(why)
		return
	}
	if m.compressDue() {
		m.compress()
		return
	}
	role := RoleMain
	if m.next == KindRescue {
		role = RoleRescue
	}
	m.ask(role, m.next, m.prompts.system(), shown(m.prompts.messages(m), m.Images), m.format)
	m.next, m.repeated = KindAct, ""
}

// ask issues a model call.
func (m *contractMachine) ask(role, kind, system string, messages []providers.Message, format *providers.Format) {
	temperature := m.Temperature
	whom := AskModel
	if role == RoleRescue {
		whom = AskRescue
	}
	id, parent := m.becomeAwaiting(stateAwaitingModel)
	m.issue(CallModel{
		ID: id, Parent: parent, Role: role, Kind: kind, Whom: whom,
		Call: providers.Call{
			System: system, Messages: messages, Format: format,
			MaxTokens: m.MaxTokens, Temperature: &temperature, Seed: m.Seed,
		},
		Timeout: m.Budgets.TimeLeft(m.used),
	})
	m.kind = kind
}

// observe remembers what happened, for the model to see.
func (m *contractMachine) observe(o observation) {
	m.pad.observe(o)
	m.prompts.observed(o)
	if m.Compress && o.class != obsReply { // which stays in full
		m.log.add(o.line)
	}
}

// askUser asks the one question of the turn.
func (m *contractMachine) askUser(question string) {
	m.question = question
	id, parent := m.becomeAwaiting(stateAwaitingUser)
	m.issue(AskUser{ID: id, Parent: parent, Question: question})
}

func (m *contractMachine) userReplied(ev UserReplied) {
	if ev.Silent {
		m.finish(Finish{Status: Clarify, Answer: m.question})
		return
	}
	m.clarified = true
	m.observe(sawReply(m.used.Steps, m.question, ev.Text))
	m.callModel()
}
