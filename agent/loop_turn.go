package agent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// What the Judgement says that a turn did, besides contract's words.
const (
	typeTool    = "tool"
	typeRespond = "respond"
	typeFinish  = "finish"
	typePlan    = "plan"

	reasonOK            = "ok"
	reasonCannotProceed = "cannot_proceed"
)

// warnIgnored reports that a call was passed over, the answer being given.
const warnIgnored = "call.ignored"

// replied judges a reply and does what it asks for.
func (l *loop) replied(r providers.Reply) {
	l.turns++
	l.kind, l.whom = turn.KindAct, ""
	text := withoutThoughts(r.Text)
	if strings.TrimSpace(text) != "" {
		l.lastText = text
	}
	s := l.read(text, r.Calls)
	if l.react && s.parsedReply != r.Text {
		r.Text, r.Continuation = s.parsedReply, nil
	}
	cut := r.Finish == providers.FinishLength
	j := &Judgement{}
	l.out.Judgement = j
	l.slots = l.sort(s.calls, cut)
	l.asked(j, s.calls)
	switch {
	case l.params.CallsOnly:
		l.calledOnly(text, j)
	case len(r.Calls) == 0 && (r.Finish == providers.FinishRefusal || r.Refusal != "" && strings.TrimSpace(text) == ""):
		l.refused(cmp.Or(clean(r.Refusal), text), j)
	case len(l.slots) > 0:
		l.called(r, j)
	case s.fault != nil && cut:
		l.unusable(r, j, fault{truncated, tellCut})
	case s.fault != nil:
		l.unusable(r, j, *s.fault)
	default:
		l.answered(r, s.text, cut, j)
	}
	l.host.judge(l, j)
	j.conclude()
}

// calledOnly ends the loop with its first reply, whatever that is.
func (l *loop) calledOnly(text string, j *Judgement) {
	if len(l.slots) > 0 {
		l.judgeCalls(j)
	} else {
		j.Actionable, j.ActionType, j.Reason = true, typeRespond, reasonOK
	}
	j.Done = true
	l.end = &ending{Status: Answered, Text: text}
}

// asked lists the calls of tools.
func (l *loop) asked(j *Judgement, calls []providers.ToolCall) {
	for i, c := range calls {
		if l.slots[i].kind == slotTool {
			j.Asked = append(j.Asked, tool.Call{Name: c.Name, Args: json.RawMessage(c.Args)})
		}
	}
}

// conclude sets what follows from the violations.
func (j *Judgement) conclude() {
	j.ValidJSON, j.ContractValid = !slices.ContainsFunc(j.Violations, notJSON), len(j.Violations) == 0
}

// judgeCalls judges the calls of a turn.
func (l *loop) judgeCalls(j *Judgement) {
	for _, s := range l.slots {
		for _, f := range s.faults {
			j.Violations = append(j.Violations, f.Code)
		}
		j.Actionable = j.Actionable || len(s.faults) == 0
	}
	j.ActionName, j.Reason = oneLine(l.slots[0].call.Name, maxName), reasonOK
	if j.ActionType = l.actionType(l.slots[0].kind); j.ActionType == typeClarify {
		j.Reason = reasonNeedClarification
	}
}

// called takes a turn that calls tools.
func (l *loop) called(r providers.Reply, j *Judgement) {
	l.judgeCalls(j)
	if l.Budgets.OutOfTime(l.Used()) {
		l.stop(MaxSeconds)
		return
	}
	if i := slices.IndexFunc(l.slots, func(s slot) bool { return s.kind == slotFinal || s.kind == slotGiveUp }); i >= 0 {
		l.calledToEnd(r, j, i)
		return
	}
	l.iterations++
	if !j.Actionable {
		if l.countViolation() {
			return
		}
	} else {
		l.violations = 0
		if l.detectRepetition(j) {
			return
		}
	}
	l.addReply(r)
	l.runTurn()
}

// actionType is the action type of a call in the Judgement.
func (l *loop) actionType(k slotKind) string {
	switch k {
	case slotFinal:
		return l.final.action
	case slotAsk:
		return typeClarify
	case slotGiveUp:
		return typeRespond
	}
	return typeTool
}

// countViolation counts an unusable turn and reports whether it was the
// last.
func (l *loop) countViolation() bool {
	l.violations++
	if l.violations >= maxConsecutiveViolations {
		l.stop(contractViolation)
	}
	return l.end != nil
}

// calledToEnd takes a turn whose call i gives the answer, or gives up. Nothing else
// of the turn is run.
func (l *loop) calledToEnd(r providers.Reply, j *Judgement, i int) {
	s := &l.slots[i]
	if len(l.slots) > 1 {
		j.Warnings = []string{warnIgnored}
	}
	j.ActionType, j.ActionName, j.Reason = l.actionType(s.kind), oneLine(s.call.Name, maxName), reasonOK
	j.Actionable = len(s.faults) == 0
	switch {
	case len(s.faults) == 0 && s.kind == slotGiveUp:
		j.Done, j.Reason = true, reasonCannotProceed
		l.end = &ending{Status: CannotProceed, Text: s.question}
		return
	case len(s.faults) == 0:
		j.Done = true
		l.end = &ending{Status: Answered, Text: string(s.value), Value: s.value}
		return
	case s.kind == slotGiveUp && l.countViolation(), s.kind == slotFinal && l.missed():
		return
	}
	l.addReply(r)
	for k := range l.slots {
		l.slots[k].answer(failure(codeIgnored, tellIgnored), true)
	}
	message := list(s.faults)
	if s.kind == slotGiveUp {
		message = s.faults[0].Detail
	}
	s.answer(failure(codeArgs, message), true)
	l.show()
	l.next()
}

// missed counts a final answer that does not fit and reports whether it was the last.
// The next turn is asked for another.
func (l *loop) missed() bool {
	if l.tries++; l.tries > l.final.tries {
		l.stop(l.final.stop)
		return true
	}
	l.kind = turn.KindFinal
	return false
}

// refused takes the refusal of the model, or of whoever watches over it. What was
// said before one is not an answer.
func (l *loop) refused(text string, j *Judgement) {
	j.Actionable, j.ActionType, j.Done, j.Reason = true, typeRespond, true, reasonCannotProceed
	if l.Budgets.OutOfTime(l.Used()) {
		l.stop(MaxSeconds)
		return
	}
	l.end = &ending{Status: CannotProceed, Text: cmp.Or(strings.TrimSpace(text), "the model refused to answer")}
}

// answered takes a reply without a call.
func (l *loop) answered(r providers.Reply, text string, wasCut bool, j *Judgement) {
	if invisible.Blank(text) {
		f := fault{violationEmpty, tellEmpty}
		if wasCut { // while it was thinking
			f = fault{truncated, tellCut}
		}
		l.unusable(r, j, f)
		return
	}
	j.ActionType, j.Reason = typeRespond, reasonOK
	var value json.RawMessage
	var faults []fault
	if l.final != nil {
		value, faults = l.final.check(text, false)
	}
	if wasCut && value == nil {
		l.unusable(r, j, fault{truncated, tellCut})
		return
	}
	if len(faults) > 0 {
		l.wrongText(r, j, faults)
		return
	}
	j.Actionable, j.Done = true, true
	switch {
	case l.Budgets.OutOfTime(l.Used()):
		l.stop(MaxSeconds)
	case value != nil:
		j.ActionType = l.final.action
		l.end = &ending{Status: Answered, Text: string(value), Value: value}
	default:
		l.end = &ending{Status: Answered, Text: text}
	}
}

// wrongText handles a text instead of a value.
func (l *loop) wrongText(r providers.Reply, j *Judgement, faults []fault) {
	for _, f := range faults {
		j.Violations = append(j.Violations, f.Code)
	}
	if l.Budgets.OutOfTime(l.Used()) {
		l.stop(MaxSeconds)
		return
	}
	if l.missed() {
		return
	}
	l.addReply(r)
	l.tell(tellWrongText(faults, l.final.tool.Name))
	l.next()
}

// unusable handles an unusable reply.
func (l *loop) unusable(r providers.Reply, j *Judgement, f fault) {
	j.Violations = append(j.Violations, f.Code)
	switch {
	case l.Budgets.OutOfTime(l.Used()):
		l.stop(MaxSeconds)
	case l.countViolation():
	default:
		l.addReply(r)
		l.tell(tellUnusable(f, l.react))
		l.next()
	}
}

// addReply adds what the model said to the conversation, as it is to be sent back.
func (l *loop) addReply(r providers.Reply) {
	m := providers.Message{Role: providers.RoleAssistant, Text: r.Text, Continuation: r.Continuation}
	if !l.react {
		for _, s := range l.slots {
			m.Calls = append(m.Calls, s.call)
		}
	}
	if len(m.Calls) == 0 && invisible.Blank(m.Text) {
		m.Text, m.Continuation = noOutput, nil
	}
	l.add(m)
}
