package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// Violations of native tool calling; truncated is one, too.
const (
	violationUnknownTool = "call.unknown_tool"
	violationNotJSON     = "call.not_json"
	violationArgs        = "call.args"
	violationEmpty       = "empty"
	violationNotFinal    = "final.not_json"
	violationFinal       = "final.schema"
	violationReact       = "react.format"
	violationConclude    = "conclude.call" // a tool call where only an answer was left
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

// warnIgnored says that a call was passed over, the answer being given.
const warnIgnored = "call.ignored"

// fault is what is wrong with a reply or a call: a violation, and for the model what
// is to be mended.
type fault struct{ Code, Detail string }

func (f fault) String() string {
	if f.Detail == "" {
		return f.Code
	}
	return f.Code + ": " + f.Detail
}

// slotKind is what a call is for.
type slotKind int

const (
	slotTool slotKind = iota
	slotFinal
	slotAsk
	slotGiveUp
)

// slot is one call of a turn and what is shown for it.
type slot struct {
	kind   slotKind
	call   providers.ToolCall // its ID is unique in the loop
	faults []fault
	value  json.RawMessage // of slotFinal
	// question is what slotAsk asks, and why slotGiveUp gives up.
	question string

	spec     tool.Spec
	run      CallTool
	deferred bool // until another of the same key has returned

	ran    bool // it was executed
	failed bool // it ran and failed

	text string // the observation
	bad  bool   // it tells of a failure
}

// answer fills in the observation.
func (s *slot) answer(text string, bad bool) { s.text, s.bad = text, bad }

// said is a reply as the loop reads it.
type said struct {
	said  string // what of it is kept; of ReAct only
	text  string // the answer where nothing is called
	calls []providers.ToolCall
	fault *fault // why it cannot be read at all
}

// read takes a reply apart.
func (l *loop) read(text string, calls []providers.ToolCall) said {
	if l.react {
		return readReact(text)
	}
	return said{text: text, calls: calls}
}

// addressed is a text without the thoughts that some models write into it, which are
// no part of any answer.
func addressed(text string) string {
	if !strings.Contains(text, "<think") {
		return text
	}
	return strings.TrimSpace(plan.WithoutThinking(text))
}

// replied judges a reply and does what it asks for.
func (l *loop) replied(r providers.Reply) {
	l.turns++
	l.kind, l.whom = KindAct, AskModel
	text := addressed(r.Text)
	if strings.TrimSpace(text) != "" {
		l.lastText = text
	}
	s := l.read(text, r.Calls)
	if l.react && s.said != r.Text {
		r.Text, r.Continuation = s.said, nil
	}
	cut := r.Finish == providers.FinishLength
	j := &Judgement{}
	l.out.Judgement = j
	l.slots = l.sort(s.calls, cut)
	for i, c := range s.calls {
		if l.slots[i].kind == slotTool {
			j.Asked = append(j.Asked, tool.Call{Name: c.Name, Args: json.RawMessage(c.Args)})
		}
	}
	switch {
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
	j.ValidJSON = !slices.ContainsFunc(j.Violations, notJSON)
	j.ContractValid = len(j.Violations) == 0
}

// notJSON says that a violation leaves nothing that could be read.
func notJSON(code string) bool {
	return strings.HasSuffix(code, "not_json") || code == truncated || code == violationEmpty || code == violationReact
}

// sort tells the calls of a turn apart and finds what is wrong with each. A cut
// reply's arguments that are no JSON are the cut's fault.
func (l *loop) sort(calls []providers.ToolCall, cut bool) []slot {
	slots := make([]slot, len(calls))
	turn := fmt.Sprintf("call_t%d", l.turns)
	for i, c := range calls {
		if strings.TrimSpace(c.Args) == "" {
			c.Args = "{}"
		}
		s := slot{call: c}
		s.call.ID = l.ids.unique(c.ID, turn, i)
		switch {
		case l.final != nil && c.Name == l.final.tool.Name:
			s.kind = slotFinal
			s.value, s.faults = l.final.check(c.Args, true)
		case l.asks && c.Name == askUserTool.Name:
			s.kind = slotAsk
			s.question, s.faults = textArg(c.Args, "question")
		case l.asks && c.Name == cannotProceedTool.Name:
			s.kind = slotGiveUp
			s.question, s.faults = textArg(c.Args, "reason")
		default:
			var known bool
			if s.spec, known = l.tools.Spec(c.Name); !known {
				s.call.Name = l.unknownName(c.Name)
			}
			s.faults = l.callFaults(c)
		}
		if cut && len(s.faults) > 0 && notJSON(s.faults[0].Code) {
			s.faults = []fault{{truncated, tellCut}}
		}
		slots[i] = s
	}
	return slots
}

// callIDs are the ids of a conversation's calls.
type callIDs map[string]bool

// unique returns an id that no other call has, call i of a turn's own if it is one:
// providers may send one twice, and wires make theirs up anew for every reply.
func (ids callIDs) unique(id, turn string, i int) string {
	for n := i + 1; id == "" || ids[id]; n++ {
		id = fmt.Sprintf("%s_%d", turn, n)
	}
	ids[id] = true
	return id
}

// textArg is the one argument of a special tool.
func textArg(args, name string) (string, []fault) {
	object, _, ok := tool.ParseJSON(args)
	if !ok || object.Kind != '{' {
		return "", []fault{{violationNotJSON, tellNoObject}}
	}
	value, _ := object.Get(name)
	if text := strings.TrimSpace(clean(value.Text())); text != "" {
		return text, nil
	}
	return "", []fault{{violationArgs, "args." + name + " must be a text"}}
}

// callFaults is what is wrong with a call of an ordinary tool.
func (l *loop) callFaults(c providers.ToolCall) []fault {
	if l.concluding {
		return []fault{{violationConclude, tellTooLate}}
	}
	if !l.tools.Has(c.Name) {
		return []fault{{violationUnknownTool, tellUnknown(tool.Label(c.Name), l.known())}}
	}
	fields := l.tools.Validate(tool.Call{Name: c.Name, Args: json.RawMessage(c.Args)})
	switch {
	case len(fields) == 0:
		return nil
	case fields[0] == "args:not_json" || fields[0] == "args:not_object":
		return []fault{{violationNotJSON, tellNoObject}}
	}
	return []fault{{violationArgs, strings.Join(fields, ", ")}}
}

// known lists what may be called.
func (l *loop) known() string {
	var names []string
	for _, t := range l.offer() {
		names = append(names, t.Name)
	}
	return cut(strings.Join(names, ", "), maxData)
}

// called takes a turn that calls tools.
func (l *loop) called(r providers.Reply, j *Judgement) {
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
		if l.strike() {
			return
		}
	} else {
		l.strikes = 0
		if l.circles(j) {
			return
		}
	}
	l.remember(r)
	l.runTurn()
}

// actionType is what the Judgement says of a call.
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

// strike counts a turn that nothing can be made of and reports whether it was the
// last.
func (l *loop) strike() bool {
	l.strikes++
	if l.strikes >= maxStrikes {
		l.stop(ContractViolation)
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
	case s.kind == slotGiveUp && l.strike(), s.kind == slotFinal && l.missed():
		return
	}
	l.remember(r)
	for k := range l.slots {
		l.slots[k].answer(failure(codeIgnored, tellIgnored), true)
	}
	told := list(s.faults)
	if s.kind == slotGiveUp {
		told = s.faults[0].Detail
	}
	s.answer(failure(codeArgs, told), true)
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
	l.kind = KindFinal
	return false
}

// refused takes the refusal of the model, or of whoever watches over it. What was
// said before one is no answer.
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

// wrongText takes a text where a value is wanted.
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
	l.remember(r)
	l.tell(tellWrongText(faults, l.final.tool.Name))
	l.next()
}

// unusable takes a reply that nothing can be made of.
func (l *loop) unusable(r providers.Reply, j *Judgement, f fault) {
	j.Violations = append(j.Violations, f.Code)
	switch {
	case l.Budgets.OutOfTime(l.Used()):
		l.stop(MaxSeconds)
	case l.strike():
	default:
		l.remember(r)
		l.tell(tellUnusable(f, l.react))
		l.next()
	}
}

// remember adds what the model said to the conversation, as it is to be sent back.
func (l *loop) remember(r providers.Reply) {
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

// unknownName is the name of a call that no tool answers to, as wires take it; it is
// not that of a tool, which was not called.
func (l *loop) unknownName(name string) string {
	said := sayable(name)
	if l.tools.Has(said) {
		said = said[:min(len(said), maxName-1)] + "_"
	}
	return said
}

// sayable makes a name that no tool has one that wires take.
func sayable(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(name[:min(len(name), maxName)], "_")
}
