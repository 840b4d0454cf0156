package agent

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/orchestrator"
	"github.com/cupel-eval/cupel/agent/orchestrator/role"
	"github.com/cupel-eval/cupel/providers"
)

// The stop reasons of agent orchestrator.
const (
	stoppedPlanDenied StopReason = "plan_denied"     // it insists on plans after the user denied one
	stoppedBlocked    StopReason = "blocked"         // it insists on a work item that is blocked
	stoppedSilent     StopReason = "silent"          // it ended without any visible text
	stoppedTurns      StopReason = "max_turns"       // the orchestrator's turns are used up
	stoppedBackground StopReason = "background_left" // a budget ended background tasks after its answer
)

// orchestratorMachine is the strategy of an orchestrator and its sub-agents: one loop for
// the orchestrator, which gets what the user says and what has ended, and one for each
// sub-agent. What it knows besides its conversations is a Thread.
type orchestratorMachine struct {
	Params
	loopBase
	thread *orchestrator.Thread
	system string // the fixed part of the orchestrator's
	final  *finisher
	event  int // the command whose outcome the current Step brings

	main   *loop
	agents map[*loop]*subAgent
	// review is the call of a plan that the user looks at, asked the command that asks.
	review *slot
	asked  int

	reflecting  bool // the memory call in progress condenses observations
	retryMemory int  // messages from which on memory is condensed again

	waker, timer, listening int // outstanding commands, 0 for none
	timerAt                 time.Time
	heard                   bool // the user has no more messages
}

// subAgent is a conversation of a sub-agent.
type subAgent struct {
	*orchestrator.Agent
	slot *slot // the call that it answers if it is inline
}

func newOrchestrator(p Params) (Machine, error) {
	if err := reserved(p.Tools, askUserTool.Name, cannotProceedTool.Name, finalTool); err != nil {
		return nil, err
	}
	m := &orchestratorMachine{
		Params: p, loopBase: loopBase{Tally: Tally{Budgets: p.Budgets}, evidence: newEvidence(p)}, agents: map[*loop]*subAgent{},
	}
	m.thread = orchestrator.New(p.Orchestrator, p.Tools, orchestrator.Quote{
		Clean: func(text string) string { return escapeFence(clean(text)) }, Line: oneLine,
		Fence: func(text string) string { return fence(bounded(text)) }, JSON: fenceJSON,
	}, m.Now)
	if len(p.AnswerSchema) > 0 {
		var err error
		if m.final, err = newFinalAnswer(p.AnswerSchema, finalRetries(p)); err != nil {
			return nil, err
		}
	}
	m.system = orchestratorSystem(p, m.final)
	return m, nil
}

// orchestratorSystem is the fixed part of the orchestrator's system message.
func orchestratorSystem(p Params, final *finisher) string {
	asks := askUserTool.Name
	if p.Tools.Has(orchestrator.AskUser) {
		asks = orchestrator.AskUser
	}
	system := orchestrator.System(p.System, escapeFence(singleLine(p.Constraints)), asks)
	if final != nil {
		system += "- IMPORTANT: give your final answer by a call of " + finalTool + ", with arguments that fit its schema.\n"
	}
	return system
}

// Step implements Machine.
func (m *orchestratorMachine) Step(ev Event) Ready {
	m.event = eventID(ev)
	l := m.take(ev)
	switch ev := ev.(type) {
	case Started:
		m.start()
	case UserSaid:
		if ev.ID > 0 {
			m.listening = 0
		}
		m.thread.Said(ev.Text)
	case UserReplied:
		switch {
		case l != nil:
		case ev.ID == m.asked:
			m.reviewed(ev)
		default:
			m.listening, m.heard = 0, true
		}
	case Waited:
		m.waited(ev)
	case Deadline:
		m.stop(MaxSeconds)
	case Cancelled:
		m.finish(Finish{Status: Interrupted})
	}
	if l != nil && !m.Over() {
		if a := m.agents[l]; a != nil {
			m.thread.Touch(a.Agent, false)
		}
		m.onLoopEnd(l)
	}
	if !m.Over() {
		m.proceed()
	}
	if m.out.Judgement != nil {
		m.out.Judgement.PlanRev = max(0, m.thread.Plans-1)
	}
	if m.thread.Changed && !m.Over() {
		m.showTasks(m.thread.Checklist())
	}
	m.out.Tasks = m.thread.Work()
	m.thread.Changed = false
	return m.ready()
}

// showTasks tells people the tasks of the plan, or of a list of the model's.
func (m *orchestratorMachine) showTasks(list string) {
	if !m.thread.Shown() {
		list = "[]"
	}
	m.out.Updates = append(m.out.Updates, Update{"tasks", statusStarted, bounded(clean(list))})
}

// start begins the orchestrator's conversation.
func (m *orchestratorMachine) start() {
	t := conversationSpec{
		params: &m.Params, tools: m.thread.Tools(), final: m.final, host: m,
		asks: !m.Tools.Has(orchestrator.AskUser), givesUp: true,
		role: string(role.Orchestrator), maxIterations: m.thread.Turns, opening: m.opening(),
	}
	for _, said := range t.opening {
		m.thread.Show(said.Text)
	}
	if m.Fallback {
		t.fallback = t.role
	}
	m.main = newLoop(&m.loopBase, t)
	m.main.begin(0)
	m.onLoopEnd(m.main)
}

// opening is what was said before, and the request.
func (m *orchestratorMachine) opening() []providers.Message {
	request := m.Params
	if request.Each = ""; m.Each != "" {
		request.Request += "\n\nDo this for each item of INPUT " + m.Each + "."
	}
	return append(m.remembered(), providers.Message{Role: providers.RoleUser, Text: requestPrompt(request, nil), Images: m.Images})
}

// remembered is what was said before in the same session.
func (p Params) remembered() []providers.Message {
	out := make([]providers.Message, 0, 2*len(p.Memory)+1)
	for _, x := range p.Memory {
		out = append(out, providers.Message{Role: providers.RoleUser, Text: x.Request}, providers.Message{Role: providers.RoleAssistant, Text: x.Answer})
	}
	return out
}

// stop ends the episode by a guard; the answer is what the orchestrator said last.
func (m *orchestratorMachine) stop(why StopReason) {
	f := Finish{Status: Stopped, StopReason: why}
	if m.main != nil {
		f.Answer = m.main.lastText
	}
	m.finish(f)
}

// onLoopEnd continues where a conversation has ended.
func (m *orchestratorMachine) onLoopEnd(l *loop) {
	switch {
	case l.end == nil || m.Over():
	case l != m.main:
		m.subAgentEnded(l)
	default:
		m.mainEnded(*l.end)
	}
}

// mainEnded takes the end of a turn of the orchestrator. With an answer it is idle, and
// continues with what comes; whatever else ends it ends the episode.
func (m *orchestratorMachine) mainEnded(e ending) {
	j := m.out.Judgement
	switch {
	case e.Status == Answered || e.Status == CannotProceed:
		m.thread.Answered(e.Text, e.Status == Answered)
		return
	case e.Reason == contractViolation && invisible.Blank(m.main.lastText) && j != nil && slices.Contains(j.Violations, violationEmpty):
		e.Reason = stoppedSilent
	}
	m.finish(Finish{Status: e.Status, StopReason: e.Reason, Answer: e.Text, Err: e.Err})
}

// subAgentEnded takes the end of a sub-agent. A correction that it was not shown makes one
// more turn.
func (m *orchestratorMachine) subAgentEnded(l *loop) {
	a, e := m.agents[l], *l.end
	if a == nil {
		return // its end answers nothing any more
	}
	if e.Status == Answered {
		l.pending = append(l.pending, m.thread.Corrections(a.Agent)...)
	}
	switch {
	case e.Status == Failed && e.Unanswered:
		m.finish(Finish{Status: Failed, Answer: m.main.lastText, Err: e.Err})
	case e.ofEpisode() && m.main.end != nil:
		m.stop(stoppedBackground)
	case e.ofEpisode():
		m.stop(e.Reason)
	case len(l.pending) > 0:
		l.resume(m.event)
		m.onLoopEnd(l)
	case e.Status == Answered:
		m.settle(l, "", e.Text)
	case e.Reason == stoppedTurns:
		m.settle(l, orchestrator.MaxTurns, strings.TrimSpace("max_turns: "+e.Text))
	default:
		m.settle(l, orchestrator.Broken, e.problem())
	}
}

// settle ends a sub-agent: the call that started it is answered, or the orchestrator gets a notice.
func (m *orchestratorMachine) settle(l *loop, why, text string) {
	a := m.agents[l]
	delete(m.agents, l)
	if result := m.thread.Settle(a.Agent, why, text); result != nil {
		m.answer(a.slot, orchestrator.Result(result))
	}
}

// abandon forgets the conversation of a background task: what it waits for changes nothing.
func (m *orchestratorMachine) abandon(id string) (a *subAgent) {
	for l, other := range m.agents { // one at most
		if other.ID == id {
			a, l.abandoned = other, true
			delete(m.agents, l)
		}
	}
	return a
}

// begin starts the conversation of a sub-agent, which answers a call if there is one.
func (m *orchestratorMachine) begin(a *orchestrator.Agent, s *slot) {
	t := conversationSpec{
		params: &m.Params, system: a.System, tools: a.Tools, host: m, agent: a.ID, givesUp: true,
		opening: []providers.Message{{Role: providers.RoleUser, Text: a.Opening}}, role: string(a.Role), maxIterations: a.Turns,
	}
	if m.Fallback {
		t.fallback = t.role
	}
	l := newLoop(&m.loopBase, t)
	m.agents[l] = &subAgent{a, s}
	m.out.Background = m.out.Background || !a.Inline
	l.begin(m.event)
	m.onLoopEnd(l)
}

// proceed starts what may be started, and ends the episode when nothing is left.
func (m *orchestratorMachine) proceed() {
	for more := true; more && !m.Over(); {
		var start []*orchestrator.Agent
		start, more = m.thread.Next()
		for _, a := range start {
			if m.begin(a, nil); m.Over() {
				return
			}
		}
	}
	if !m.Over() {
		m.idle()
	}
	if m.Over() {
		return
	}
	for l, a := range m.agents { // what is set does not depend on the order
		if l.waitsForPerson() {
			m.thread.Touch(a.Agent, true)
		}
	}
	if at, ok := m.thread.Due(); ok && (m.timer == 0 || at.Before(m.timerAt)) {
		w := m.Wait(Wait{Parent: m.event, For: at.Sub(m.Now())})
		m.timer, m.timerAt = w.ID, at
		m.issue(w, w.ID, nil)
	}
}

// waitsForPerson reports that a call of the loop may be waiting for an approval.
func (l *loop) waitsForPerson() bool {
	for id, s := range l.waiting {
		if l.owners[id] == l && s.run.Given == nil && s.spec.Approval == "ask" {
			return true
		}
	}
	return false
}

// idle waits once the orchestrator has answered: a notice wakes it, with all that happens at the same time, and when nothing is left it listens.
func (m *orchestratorMachine) idle() {
	switch {
	case m.main.end == nil:
	case m.thread.Waiting():
		if m.waker == 0 {
			w := m.Wait(Wait{Parent: m.event})
			m.waker = w.ID
			m.issue(w, w.ID, nil)
		}
	case m.thread.Busy() || m.waker > 0 || m.listening > 0:
	case m.Thread && !m.heard:
		c := m.Listen(Listen{Parent: m.event, Said: m.main.end.Text})
		m.listening = c.ID
		m.issue(c, c.ID, nil)
	default:
		e := *m.main.end
		f := Finish{Status: e.Status, Answer: e.Text}
		if e.Status == Answered {
			f.Status = m.evidence.status(e.Value != nil)
		}
		m.finish(f)
	}
}

// waited wakes the orchestrator, or ends what has taken too long.
func (m *orchestratorMachine) waited(ev Waited) {
	if ev.ID == m.timer {
		m.timer = 0
	}
	late := m.thread.Sweep()
	for _, id := range slices.Sorted(maps.Keys(late)) {
		for l, a := range m.agents { // one at most
			if a.ID == id {
				l.abandoned = true
				m.settle(l, late[id], "timed out: "+late[id])
			}
		}
	}
	if ev.ID != m.waker {
		return
	}
	if m.waker = 0; m.main.end != nil && m.thread.Waiting() {
		m.main.reflected = false
		m.main.resume(m.event)
		m.onLoopEnd(m.main)
	}
}

// resume continues a conversation that has ended with an answer.
func (l *loop) resume(parent int) {
	l.parent = max(parent, l.parent)
	l.add(providers.Message{Role: providers.RoleAssistant, Text: l.end.Text})
	l.end = nil
	l.next()
}

// reviewed takes what the user says of a plan.
func (m *orchestratorMachine) reviewed(ev UserReplied) {
	s := m.review
	if m.review, m.asked = nil, 0; ev.Silent {
		m.finish(Finish{Status: Clarify, Answer: "the plan was not reviewed"})
		return
	}
	var planned []*orchestrator.Agent
	for _, a := range m.agents { // each is abandoned
		if a.Task != "" {
			planned = append(planned, a.Agent)
		}
	}
	m.follow(s, m.thread.Reviewed(ev.Answer, planned))
}
