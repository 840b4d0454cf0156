package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/orchestrator"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// Violations and warnings of agent orchestrator, besides those of calls and of its tools.
const (
	violationRole = "orch.role"
	violationIDs  = "orch.ids"
	warnClaim     = "orch.claim"
)

// codeNotForRole refuses a call of a tool that is not for the role of a conversation.
const codeNotForRole = "E_NOT_FOR_ROLE"

const tellRole = "this agent may not call the tool; it was not run"

// forbids reports a tool that exists, and is not for the role of the conversation. m may be
// nil, here and in the methods below that a loop calls.
func (m *orchestratorMachine) forbids(l *loop, name string) bool {
	return m != nil && m.thread.Forbidden(l.tools, name)
}

// judge adds to the judgement of a turn what only an orchestrator can do wrong.
func (m *orchestratorMachine) judge(l *loop, j *Judgement) {
	if m == nil {
		return
	}
	if slices.ContainsFunc(l.slots, func(s slot) bool {
		return s.kind == slotTool && len(s.faults) == 0 && m.thread.Unseen(json.RawMessage(s.call.Args))
	}) {
		j.Violations = append(j.Violations, violationIDs)
	}
	if l == m.main && l.end != nil && l.end.Status == Answered && m.thread.Claims(l.end.Text) {
		j.Warnings = append(j.Warnings, warnClaim)
	}
}

// takes carries out a call of a tool of the strategy, and reports whether it was one.
func (m *orchestratorMachine) takes(l *loop, s *slot) bool {
	if m == nil || l != m.main {
		return false
	}
	args := json.RawMessage(s.call.Args)
	o, own := m.thread.Call(s.call.Name, args)
	if !own {
		return false
	}
	if s.call.Name == orchestrator.UpdateTasks {
		var list struct{ Tasks json.RawMessage }
		_ = json.Unmarshal(args, &list) // which fits the schema
		m.showTasks(string(list.Tasks))
	}
	if o.Insists != "" {
		l.stop(StopReason(o.Insists))
	}
	if o.Ask != nil {
		c := m.User(AskUser{Parent: s.run.Parent, Request: o.Ask, Suspend: true})
		m.review, m.asked = s, c.ID
		m.issue(c, c.ID, nil)
	}
	m.follow(s, o)
	return true
}

// follow does what follows from a call of a tool of the strategy.
func (m *orchestratorMachine) follow(s *slot, o orchestrator.Outcome) {
	if m.out.Judgement != nil {
		m.out.Judgement.Violations = append(m.out.Judgement.Violations, o.Violations...)
	}
	for _, id := range o.Abandon {
		if a := m.abandon(id); a != nil {
			m.thread.Abandoned(a.Agent)
		}
	}
	if o.Result.Outcome != "" {
		m.answer(s, o.Result)
	}
	if o.Start != nil {
		m.begin(o.Start, s)
	}
}

// answer answers a call without running a tool.
func (m *orchestratorMachine) answer(s *slot, r tool.Result) {
	s.run.Parent = max(s.run.Parent, m.event)
	s.run.Given = &r
	m.main.issueCall(s)
}

// saw looks at the result of a call, and may add to what the model sees.
func (m *orchestratorMachine) saw(l *loop, s *slot, r tool.Result) {
	if m == nil {
		return
	}
	var a *orchestrator.Agent
	if sub := m.agents[l]; sub != nil {
		a = sub.Agent
	}
	s.text = m.thread.Saw(a, s.run.Call, r, s.run.Given != nil, s.text)
}

// prepareTurn shows a conversation what happened since its last turn; false if there is no
// turn now: its turns are used up, or its memory is condensed first.
func (m *orchestratorMachine) prepareTurn(l *loop) bool {
	a := m.agents[l]
	if l.turns >= l.maxIterations {
		l.stop(stoppedTurns)
		return false
	}
	if a == nil {
		l.pending = m.thread.Notices()
	} else {
		if why := m.thread.Blocked(a.Agent); why != "" {
			l.end = &ending{Status: CannotProceed, Text: why}
			return false
		}
		l.pending = append(l.pending, m.thread.Corrections(a.Agent)...)
	}
	for _, text := range l.pending {
		l.tell(text)
	}
	if l.pending = nil; a != nil {
		return true
	}
	if m.condense(); l.condensing {
		return false
	}
	l.system = m.system + m.thread.State()
	return true
}

// Conversations of the calls that condense the thread, and what one may write.
const (
	agentObserver  = "observer"
	agentReflector = "reflector"
	memoryTokens   = 4_000 // a reflector writes half of the observations, which may be more
)

// condense shortens the thread and its observations where they are too long: by a rule, or by
// asking for it.
func (m *orchestratorMachine) condense() {
	l := m.main
	if len(l.messages) < m.retryMemory {
		return
	}
	if older := l.olderThan(); m.thread.TooLong(l.size) && older > len(l.opening) {
		if m.thread.Memory.Observe {
			m.askMemory(agentObserver, orchestrator.ObserverSystem, l.condensePrompt())
			return
		}
		m.thread.Fold(l.messages[len(l.opening):older])
		l.forget()
	}
	if m.thread.TooMany() {
		m.askMemory(agentReflector, orchestrator.ReflectorSystem, fence(strings.Join(m.thread.Observations(), "\n")))
	}
}

// forget drops the older messages.
func (l *loop) forget() {
	kept := append(slices.Clone(l.opening), l.messages[l.olderThan():]...)
	l.shown -= len(l.messages) - len(kept)
	l.messages, l.size = nil, 0
	for _, m := range kept {
		l.add(m)
	}
}

// askMemory asks for observations.
func (m *orchestratorMachine) askMemory(who, system, text string) {
	l := m.main
	l.condensing, m.reflecting = true, who == agentReflector
	temperature := m.Temperature
	most := map[string]int{agentObserver: memoryTokens, agentReflector: max(memoryTokens, m.thread.Memory.Observations/2)}
	c := m.Model(CallModel{
		Parent: l.parent, Role: turn.RoleCompress, Kind: turn.KindCompress, Agent: who,
		Call: providers.Call{
			System: system, Messages: []providers.Message{{Role: providers.RoleUser, Text: "TIME: " + m.Now().Format("15:04") + "\n" + text}},
			MaxTokens: most[who], Temperature: &temperature, Seed: m.Seed,
		},
	})
	m.issue(c, c.ID, l)
}

// takeAside takes an outcome that is not part of a conversation: of a memory call, or of one
// that was abandoned, whose reply is judged and changes nothing.
func (m *orchestratorMachine) takeAside(l *loop, ev Event) {
	replied, ok := ev.(ModelReplied)
	if l.abandoned {
		if ok {
			n := native{loop: newLoop(l.loopBase, l.conversationSpec)}
			m.out.Judgement = n.judge(replied.Reply)
		}
		return
	}
	l.condensing, m.retryMemory = false, len(l.messages)+condenseKeeps
	if failed, is := ev.(ModelFailed); is && !failed.Answered {
		l.end = &ending{Status: Failed, Text: l.lastText, Err: failed.Err, Unanswered: true}
		return
	}
	if replied.Reply.Finish != providers.FinishLength && m.thread.Observe(replied.Reply.Text, m.reflecting) {
		if !m.reflecting {
			l.forget()
		}
		if !m.reflecting || !m.thread.TooMany() { // else it is not asked again at once
			m.retryMemory = 0
		}
	}
	l.next()
}

// orchestratorVersion names the rules by which outputs are judged.
const orchestratorVersion = "orchestrator/1"

// orchestratorSample shows everything the prompts can say once.
func orchestratorSample(p Params) string {
	var final *finisher
	if len(p.AnswerSchema) > 0 {
		final, _ = newFinalAnswer([]byte(`{"type":"object"}`), 0) // which is a schema
	}
	shown := Params{System: "s", Constraints: "c", Tools: p.Tools, Request: "r"}
	return orchestratorSystem(shown, final) + orchestrator.Sample(p.Tools) + loopSample(conversationSpec{asks: true, givesUp: true, final: final})
}
