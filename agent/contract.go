package agent

import (
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// contractMachine is the strategy of one JSON object per turn. It has one
// command outstanding at any time.
type contractMachine struct {
	Params
	loopBase
	prompts prompts
	format  *providers.Format // of the main loop's calls
	pad     scratchpad
	parent  int // of the next command

	kind       string    // of the current turn
	call       CallTool  // the current tool call
	rejected   []string  // its field errors
	spec       tool.Spec // its tool
	question   string    // the current question
	next       string    // kind of the next turn
	repeated   string    // the tool to reflect on in it
	tried      escalation
	violations int    // consecutive ones
	log        rawLog // for the compressor
	thrash     guard.Thrash
	stall      guard.Stall
	cache      guard.Dedupe[tool.Result]
}

// escalation is what was already tried in this episode against repetition and
// violations.
type escalation struct{ reflected, rescued bool }

func newContract(p Params) (Machine, error) {
	goal, shown := fenceLine(p.Request, maxGoal), newEvidence(p)
	p = withContext(p)
	prompts, err := newPrompts(p)
	if err != nil {
		return nil, err
	}
	format, err := newFormat(p)
	if err != nil {
		return nil, err
	}
	return &contractMachine{
		Params:   p,
		loopBase: loopBase{Tally: Tally{Budgets: p.Budgets}, evidence: shown},
		prompts:  prompts,
		format:   format,
		next:     turn.KindAct,
		cache:    guard.Dedupe[tool.Result]{TTL: guard.DedupeTTL},
		pad: scratchpad{
			goal:        goal,
			constraints: escapeFence(singleLine(p.Constraints)),
		},
	}, nil
}

// Step implements Machine.
func (m *contractMachine) Step(ev Event) Ready {
	m.take(ev)
	switch ev := ev.(type) {
	case Started:
		m.callModel()
	case ModelReplied:
		if m.kind == turn.KindCompress {
			m.compressed(ev.Reply)
		} else {
			m.modelReplied(ev.Reply)
		}
	case ModelFailed:
		if m.kind == turn.KindCompress && ev.Answered {
			m.callModel()
		} else {
			m.finish(Finish{Status: Failed, Err: ev.Err})
		}
	case ToolReturned:
		m.toolReturned(ev.Result)
		m.callModel()
	case UserReplied:
		m.userReplied(ev)
	case Deadline:
		m.stop(MaxSeconds)
	case Cancelled:
		m.finish(Finish{Status: Interrupted})
	}
	return m.ready()
}

// send issues the command that the next one follows.
func (m *contractMachine) send(c Command, id int) {
	m.parent = id
	m.issue(c, id, nil)
}

func (m *contractMachine) stop(why StopReason) { m.finish(Finish{Status: Stopped, StopReason: why}) }

// callModel begins the next turn, if the budgets allow one; before it, the log
// may be condensed.
func (m *contractMachine) callModel() {
	if why := m.Spent(); why != "" {
		m.stop(why)
		return
	}
	if m.compressDue() {
		m.compress()
		return
	}
	role := turn.RoleMain
	if m.next == turn.KindRescue {
		role = turn.RoleRescue
	}
	m.ask(role, m.next, m.prompts.system(), shown(m.prompts.messages(m), m.Images), m.format)
	m.next, m.repeated = turn.KindAct, ""
}

// ask issues a model call.
func (m *contractMachine) ask(role, kind, system string, messages []providers.Message, format *providers.Format) {
	temperature := m.Temperature
	whom := ""
	if role == turn.RoleRescue {
		whom = turn.RoleRescue
	}
	c := m.Model(CallModel{
		Parent: m.parent, Role: role, Kind: kind, Whom: whom,
		Call: providers.Call{
			System: system, Messages: messages, Format: format,
			MaxTokens: m.MaxTokens, Temperature: &temperature, Seed: m.Seed,
		},
	})
	m.send(c, c.ID)
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
	c := m.User(AskUser{Parent: m.parent, Question: question})
	m.send(c, c.ID)
}

func (m *contractMachine) userReplied(ev UserReplied) {
	if ev.Silent {
		m.finish(Finish{Status: Clarify, Answer: m.question})
		return
	}
	m.evidence.replied(ev.Text)
	m.observe(sawReply(m.used.Steps, m.question, ev.Text))
	m.callModel()
}
