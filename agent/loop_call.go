package agent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

// Error codes of calls that were answered without running a tool; contract's E_ARGS,
// E_BUDGET and E_CIRCUIT_OPEN are others.
const (
	codeUnknownTool = "E_UNKNOWN_TOOL" // no tool has that name
	codeIgnored     = "E_IGNORED"      // another call of the turn gave the answer
	codeOneQuestion = "E_ONE_QUESTION" // another call of the turn asks the user
)

// codeDenied is the driver's refusal of a call that the user rejected.
const codeDenied = "E_DENIED"

// maxCalls bounds how many calls of one turn are run.
const maxCalls = 64

// The special tools of a loop that may ask and give up.
var (
	askUserTool = providers.Tool{
		Name:        "ask_user",
		Description: "Asks the user one question. Only for what no tool can tell.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","description":"One concise question."}},"required":["question"],"additionalProperties":false}`),
	}
	cannotProceedTool = providers.Tool{
		Name:        "cannot_proceed",
		Description: "Gives up: the request cannot be fulfilled.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string","description":"Why, in one sentence."}},"required":["reason"],"additionalProperties":false}`),
	}
)

// detectRepetition finds repeated calls and repeated questions, and reports
// whether that ended the loop. A turn is compared as a whole: what it calls, in any
// order. The first repetition is pointed out, the second is the end.
func (l *loop) detectRepetition(j *Judgement) bool {
	l.prepareTurn()
	if j.Stall = l.stall.Turn(l.turnKey == ""); j.Stall {
		l.stop(stoppedStall)
		return true
	}
	if l.turnKey == "" || !l.repeats.Repeats(l.turnKey, l.repeatable) {
		return false
	}
	j.Thrash, j.Cycle = true, l.repeats.Alternates(l.turnKey)
	if l.reflected {
		l.stop(stoppedThrash)
		return true
	}
	l.reflected = true
	l.repeated = l.names()
	return false
}

// prepareTurn makes the commands of the calls that can be run, and the key of them
// all, empty if there are none. The turn is repeatable if all of it is.
func (l *loop) prepareTurn() {
	var keys []string
	l.repeatable = true
	for i := range l.slots {
		s := &l.slots[i]
		if s.kind != slotTool || len(s.faults) > 0 {
			continue
		}
		l.prepare(s)
		keys = append(keys, s.run.Key)
		l.repeatable = l.repeatable && s.spec.Repeatable
	}
	slices.Sort(keys)
	l.turnKey = strings.Join(slices.Compact(keys), "\n")
}

// names are the tools of the turn, each once.
func (l *loop) names() string {
	var names []string
	for _, s := range l.slots {
		if s.kind == slotTool && len(s.faults) == 0 && !slices.Contains(names, s.call.Name) {
			names = append(names, s.call.Name)
		}
	}
	return strings.Join(names, ", ")
}

// prepare makes the command of a call. Faulty arguments may have no key.
func (l *loop) prepare(s *slot) {
	args := json.RawMessage(s.call.Args)
	if !json.Valid(args) {
		args, _ = json.Marshal(clip.Fit(clean(s.call.Args), maxData)) // a string always encodes
	}
	s.run = CallTool{Parent: l.parent, Agent: l.agent, Suspend: l.host != nil, Call: tool.Call{Name: s.call.Name, Args: args}}
	if len(s.faults) > 0 {
		return
	}
	if key, hash, err := tool.Key(s.run.Call); err == nil {
		s.run.Key, s.run.ArgsHash, s.run.RetryIndex = key, hash, l.retries.RetryIndex(key)
	}
}

// runTurn issues the calls of the turn in parallel, in request order. A call that is
// made twice in the turn waits for the first.
func (l *loop) runTurn() {
	l.left, l.waiting = len(l.slots), map[int]*slot{}
	asked := false
	for i := range l.slots {
		s := &l.slots[i]
		switch {
		case l.Over(): // a sub-agent that an earlier call started could not be asked any more
			return
		case s.kind == slotTool:
			l.runCall(i)
			continue
		case len(s.faults) > 0:
			s.answer(failure(codeArgs, s.faults[0].Detail), true)
		case asked:
			s.answer(failure(codeOneQuestion, tellOneQuestion), true)
		default:
			asked = true
			c := l.User(AskUser{Parent: l.parent, Question: s.question, Suspend: l.host != nil})
			l.waiting[c.ID] = s
			l.issue(c, c.ID, l)
			continue
		}
		l.left--
	}
	if l.left == 0 && !l.Over() {
		l.turnOver()
	}
}

// runCall issues the call of slot i.
func (l *loop) runCall(i int) {
	s := &l.slots[i]
	switch {
	case len(s.faults) > 0:
		l.prepare(s)
		code := cmp.Or(map[string]string{violationUnknownTool: codeUnknownTool, violationRole: codeNotForRole}[s.faults[0].Code], codeArgs)
		s.run.Given = &tool.Result{Outcome: tool.Rejected, Code: code, Message: s.faults[0].Detail}
	case i >= maxCalls:
		s.run.Given = &tool.Result{Outcome: tool.Rejected, Code: codeBudget, Message: tellTooMany}
	case l.host.takes(l, s):
		return
	default:
		if l.given(s); s.deferred {
			return
		}
	}
	l.issueCall(s)
}

func (l *loop) issueCall(s *slot) {
	s.run = l.Tool(s.run)
	l.waiting[s.run.ID] = s
	l.issue(s.run, s.run.ID, l)
}

// given answers a call without running it, or defers it, where that is called for.
func (l *loop) given(s *slot) {
	if cacheable(s.spec) {
		switch earlier, decision := l.cache.Gate(s.run.Key, l.Now()); decision {
		case guard.Cached:
			earlier.Duration = 0
			s.run.Given, s.run.Deduped = &earlier, true
			return
		case guard.InFlight:
			s.deferred = true
			return
		}
	}
	switch {
	case !l.MayCallTool():
		l.settle(s, tool.Result{})
		s.run.Given = &tool.Result{Outcome: tool.Rejected, Code: codeBudget, Message: tellNoCalls}
	case !l.breaker.Allows(s.spec.Name, l.Now()):
		l.settle(s, tool.Result{})
		s.run.CircuitOpen = true
		s.run.Given = &tool.Result{Outcome: tool.Error, Code: codeCircuitOpen, Message: tellCircuitOpen}
	}
}

func cacheable(s tool.Spec) bool { return !s.Repeatable && !s.Uncacheable }

// settle ends the cache's waiting for a call.
func (l *loop) settle(s *slot, r tool.Result) {
	if cacheable(s.spec) {
		l.cache.Settle(s.run.Key, r, r.Outcome == tool.OK && r.Value != nil)
	}
}

// returned takes the outcome of a call, for its twins, too.
func (l *loop) returned(ev ToolReturned) {
	s := l.waiting[ev.ID]
	r := ev.Result
	if s.run.Given == nil {
		l.breaker.Record(s.spec.Name, isFailure(r), l.Now())
		l.out.DurationSpike = l.spike.Record(s.spec.Name, r.Duration)
		l.settle(s, r)
	} else {
		r = *s.run.Given
	}
	l.evidence.called(r)
	s.answer(shownResult(r))
	l.host.saw(l, s, r)
	s.failed, s.ran = isFailure(r), s.run.Given == nil
	for i := range min(len(l.slots), maxCalls) { // no other is ever deferred
		if duplicate := &l.slots[i]; duplicate.deferred && duplicate.run.Key == s.run.Key {
			same := r
			same.Duration = 0
			duplicate.deferred, duplicate.run.Deduped, duplicate.run.Given = false, true, &same
			l.issueCall(duplicate)
		}
	}
	l.answeredOne()
}

func isFailure(r tool.Result) bool { return r.Outcome == tool.Error || r.Outcome == tool.Timeout }

func (l *loop) answeredOne() {
	if l.left--; l.left == 0 {
		l.turnOver()
	}
}

// turnOver shows the result of the turn's calls and continues.
func (l *loop) turnOver() {
	l.recordTurn()
	if l.silent != "" {
		l.end = &ending{Status: Clarify, Text: l.silent}
		return
	}
	l.show()
	if l.repeated != "" {
		l.kind = turn.KindReflect
		l.tell(tellRepeated(l.repeated))
		l.repeated = ""
	}
	l.next()
}

// recordTurn reports to the guards against repetition what was run, or answered from
// memory.
func (l *loop) recordTurn() {
	acted, failed := false, false
	for _, s := range l.slots {
		if s.ran {
			l.retries.Record(s.run.Key, s.spec.Repeatable, s.failed)
		}
		acted = acted || s.ran || s.run.Deduped
		failed = failed || s.failed
	}
	if acted {
		l.repeats.Record(l.turnKey, l.repeatable, failed)
	}
}

// show adds the answer to every call, in request order.
func (l *loop) show() {
	for _, s := range l.slots {
		if l.react {
			l.tell(reactObservation + s.text)
			continue
		}
		l.add(providers.Message{Role: providers.RoleTool, CallID: s.call.ID, Name: s.call.Name, Text: s.text, Failed: s.bad})
	}
}
