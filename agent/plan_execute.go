package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

// execute begins a valid plan.
func (m *planMachine) execute(p plan.Plan) {
	p, m.last = p.Ending(m.AnswerSchema)
	ids := make([]string, len(p.Steps))
	for i, s := range p.Steps {
		ids[i] = s.ID
	}
	m.tell(phasePlanning, statusSuccess, fmt.Sprintf("%s: %s", p.Title, strings.Join(ids, ", ")))
	m.progress = plan.NewProgress(p)
	m.startReady()
}

// startReady begins every step that is ready; the episode ends when no step is left.
func (m *planMachine) startReady() {
	for {
		ready := m.progress.Ready()
		if len(ready) == 0 || m.Over() {
			break
		}
		for _, s := range ready {
			m.progress.Start(s.ID)
			m.tell(s.ID, statusStarted, s.Instructions)
			run, err := m.newStepRun(s)
			if err != nil {
				m.stepFailed(s.ID, err.Error())
				continue
			}
			if m.advance(run); m.Over() {
				return
			}
		}
	}
	if !m.Over() && m.progress.Over() {
		m.conclude()
	}
}

// advance begins items as long as there is room, and ends the step after the last.
func (m *planMachine) advance(r *stepRun) {
	most := 1
	if r.Mode == plan.Process {
		most = m.bounds.Concurrency
	}
	for r.failed == "" && r.begun < len(r.texts) && r.active < most {
		i := r.begun
		r.begun++
		r.active++
		l := newLoop(&m.loopBase, m.stepSpec(r, i))
		m.running[l] = work{r, i}
		l.begin(m.event)
		if l.end != nil {
			m.itemEnded(l)
		}
		if m.Over() {
			return
		}
	}
	if r.active == 0 {
		m.stepEnded(r)
	}
}

// stepSpec is the conversation about a step, or about item i of it.
func (m *planMachine) stepSpec(r *stepRun, i int) conversationSpec {
	id, item := r.ID, json.RawMessage(nil)
	if r.Mode == plan.Process {
		id, item = fmt.Sprintf("%s[%d]", r.ID, i+1), r.items[i]
	}
	t := conversationSpec{
		params: &m.Params, system: stepSystem(m.Params, m.Now(), r.final != nil), tools: r.tools, final: r.final,
		opening: []providers.Message{{Role: providers.RoleUser, Text: m.stepPrompt(r.Step, r.texts[i], item), Images: m.Images}},
		role:    turn.RoleStep, step: id, maxIterations: m.MaxIterations, room: m.bounds.ContextTokens, condense: true,
	}
	if m.Fallback {
		t.fallback = turn.RoleStep
	}
	return t
}

// onLoopEnd continues where a loop has ended.
func (m *planMachine) onLoopEnd(l *loop) {
	if l.end == nil {
		return
	}
	run := m.running[l].run
	if m.itemEnded(l); m.Over() {
		return
	}
	if m.advance(run); m.Over() {
		return
	}
	m.startReady()
}

// itemEnded keeps the result of a conversation. What ends more than that, a budget or
// a failure that is not the model's, ends the episode.
func (m *planMachine) itemEnded(l *loop) {
	w, e := m.running[l], *l.end
	delete(m.running, l)
	w.run.active--
	switch {
	case e.Status == Failed:
		m.finish(Finish{Status: Failed, Answer: m.findings(), Err: e.Err})
	case e.Status == Answered && e.Value != nil:
		w.run.results[w.item] = e.Value
		m.ignoreOthers(l)
	case e.Status == Answered:
		w.run.results[w.item] = textResult(e.Text)
	case e.ofEpisode():
		m.stop(e.Reason)
	case e.Reason == stoppedFinalSchema && w.run.ID == m.last && m.answer != nil:
		m.tell(w.run.ID, statusFailed, e.problem())
		m.finish(Finish{Status: Stopped, StopReason: stoppedFinalSchema, Answer: e.Text})
	default:
		why := e.problem()
		if w.run.Mode == plan.Process {
			why = fmt.Sprintf("item %d: %s", w.item+1, why)
		}
		w.run.failed = cmp.Or(w.run.failed, why)
	}
}

// ignoreOthers answers the calls beside the one that finished the step: none is run.
func (m *planMachine) ignoreOthers(l *loop) {
	for i := range l.slots {
		if s := &l.slots[i]; s.kind == slotTool {
			l.prepare(s)
			s.run.Given = &tool.Result{Outcome: tool.Rejected, Code: codeIgnored, Message: "ignored: step finished"}
			c := m.Tool(s.run)
			m.issue(c, c.ID, nil)
		}
	}
}

// textResult is the result of a step that ends with a text.
func textResult(text string) json.RawMessage {
	value, _ := json.Marshal(strings.TrimSpace(text)) // a string always encodes
	return value
}

// stepEnded ends a step of which nothing is active any more.
func (m *planMachine) stepEnded(r *stepRun) {
	if r.failed == "" && r.Mode == plan.Process {
		list, err := r.joined()
		if err != nil {
			r.failed = err.Error()
		}
		r.results = []json.RawMessage{list}
	}
	if r.failed != "" {
		m.stepFailed(r.ID, r.failed)
		return
	}
	m.results[r.ID] = r.results[0]
	m.progress.Done(r.ID)
	m.tell(r.ID, statusSuccess, string(r.results[0]))
}

// stepFailed fails a step, and what depends on it with it.
func (m *planMachine) stepFailed(id, why string) {
	m.tell(id, statusFailed, why)
	for _, lost := range m.progress.Fail(id, why) {
		m.tell(lost, statusFailed, m.progress.Why(lost))
	}
}

// conclude ends the episode after the last step.
func (m *planMachine) conclude() {
	if m.progress.State(m.last) != plan.Done {
		m.stop(stoppedFailedStep)
		return
	}
	text, fits := string(m.results[m.last]), true
	if value, _, _ := tool.ParseJSON(text); value.Kind == '"' && m.AnswerSchema == nil {
		text, fits = value.Text(), false
	}
	m.finish(Finish{Status: m.evidence.status(fits), Answer: text})
}

// maxFinding bounds what an unfinished episode says of one step, in characters.
const maxFinding = 2000

// findings returns the result of every step, for an episode that did not finish.
func (m *planMachine) findings() string {
	if m.progress == nil {
		return m.lastText
	}
	var lines []string
	for _, s := range m.progress.Steps() {
		switch m.progress.State(s.ID) {
		case plan.Done:
			lines = append(lines, s.ID+": "+clip.Fit(string(m.results[s.ID]), maxFinding))
		case plan.Failed:
			lines = append(lines, s.ID+": failed: "+m.progress.Why(s.ID))
		case plan.Cancelled:
			lines = append(lines, s.ID+": "+m.progress.Why(s.ID))
		}
	}
	return strings.Join(lines, "\n")
}
