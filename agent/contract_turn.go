package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// truncated is the violation of an output that the token cap cut off.
const truncated = contract.Truncated

// maxConsecutiveViolations is how many consecutive violations end an episode; one less brings
// the rescue turn.
const maxConsecutiveViolations = 3

// The words of the contract that routing looks at.
const (
	typeClarify             = "clarify"
	reasonNeedClarification = "need_clarification"
)

// modelReplied judges a reply and does what it asks for.
func (m *contractMachine) modelReplied(r providers.Reply) {
	m.prompts.said(r.Text)
	v, j, fatal := judge(r, m.Tools)
	m.out.Judgement = &j
	if v.Actionable {
		m.violations = 0
		m.pad.replan(v.Turn.Plan)
		if m.Compress {
			m.log.add(noted(m.used.Steps, v.Turn.Observation))
		}
	}
	j.PlanRev = m.pad.planRev
	if m.Budgets.OutOfTime(m.used) {
		m.stop(MaxSeconds)
		return
	}
	answers := v.Disposition == contract.AnswerAndExit || v.Disposition == contract.CannotProceed
	if v.Actionable && !answers {
		j.Stall = m.stall.Turn(v.Turn.Type == typeClarify || v.Turn.Reason == reasonNeedClarification)
	}
	switch {
	case j.Stall:
		m.stop(stoppedStall)
	case !v.Actionable:
		m.violated(fatal)
	case v.Disposition == contract.RunTool:
		j.Thrash, j.Cycle = m.useTool(v.Turn)
	case v.Disposition == contract.RejectArgs:
		m.rejectArgs(v.Turn, v.ArgsViolations)
	case v.Disposition == contract.AskAndPause:
		m.askUser(v.Turn.Message)
	case v.Disposition == contract.CannotProceed:
		m.finish(Finish{Status: CannotProceed, Answer: v.Turn.Message})
	default:
		m.finish(Finish{Status: m.evidence.status(false), Answer: v.Turn.Message})
	}
	// What is planned already, a reflect turn, comes first in the order of escalation.
	if m.RescueOnContradiction && v.Actionable && v.Contradicts() && !m.over && m.next == turn.KindAct {
		m.escalate()
	}
}

// violated takes a turn that cannot be acted on.
func (m *contractMachine) violated(fatal []string) {
	m.violations++
	if m.violations >= maxConsecutiveViolations || m.kind == turn.KindRescue {
		m.stop(contractViolation)
		return
	}
	m.observe(sawViolation(m.used.Steps, fatal))
	if m.violations == maxConsecutiveViolations-1 {
		m.escalate()
	}
	m.callModel()
}

// escalate makes the next turn the rescue turn, if there is one left.
func (m *contractMachine) escalate() bool {
	if !m.Rescue || m.tried.rescued {
		return false
	}
	m.tried.rescued = true
	m.next = turn.KindRescue
	return true
}

// judge reads a reply, repaired if need be. The Judgement's three booleans are
// about the raw output; the Verdict, and the codes of its fatal violations, are
// about what there is to act on.
func judge(r providers.Reply, tools *tool.Set) (v contract.Verdict, j Judgement, fatal []string) {
	read := contract.Read(r.Text, r.Finish == providers.FinishLength, tools)
	v = read.Verdict
	j = Judgement{ValidJSON: read.Raw.ValidJSON, Actionable: read.Raw.Actionable, ContractValid: read.Raw.Valid, Repaired: read.Repaired()}
	violations := read.Raw.Violations
	if read.Repair != nil && read.Repair.Text != "" {
		violations = slices.Concat(violations, v.Violations)
	}
	for _, violation := range violations {
		j.Violations = append(j.Violations, violation.Code)
		if violation.Fatal {
			fatal = append(fatal, violation.Code)
		}
	}
	j.Warnings = v.WarningCodes()
	j.ActionType, j.ActionName = v.Turn.Type, oneLine(v.Turn.Name, maxName)
	if v.Turn.Name != "" {
		j.Asked = []tool.Call{{Name: v.Turn.Name, Args: v.Turn.Args}}
	}
	j.Confidence, j.Done, j.Reason = v.Turn.Confidence, v.Turn.Done, v.Turn.Reason
	return v, j, fatal
}

// Error codes of tool calls that were answered without running the tool.
const (
	codeArgs        = "E_ARGS"         // the arguments fail the schema
	codeBudget      = "E_BUDGET"       // no tool calls left
	codeCircuitOpen = "E_CIRCUIT_OPEN" // the tool keeps failing
)

// useTool runs a valid tool call past the guards and reports whether it is thrash, and
// whether of two alternating calls. The first time, the repetition is answered and a
// reflect turn follows; the second time a rescue turn, if there is one left; then the
// episode ends.
func (m *contractMachine) useTool(t contract.Turn) (thrash, cycle bool) {
	m.prepare(t)
	thrash = m.thrash.Repeats(m.call.Key, m.spec.Repeatable)
	cycle = thrash && m.thrash.Alternates(m.call.Key)
	switch {
	case !thrash:
	case !m.tried.reflected:
		m.tried.reflected = true
		m.next, m.repeated = turn.KindReflect, t.Name
	case !m.escalate():
		m.stop(stoppedThrash)
		return thrash, cycle
	}
	m.call.Given = m.given()
	m.issueCall()
	return thrash, cycle
}

// rejectArgs puts a call whose arguments fail the schema on record.
func (m *contractMachine) rejectArgs(t contract.Turn, fields []string) {
	m.prepare(t)
	m.rejected = fields
	m.call.Given = &tool.Result{Outcome: tool.Rejected, Code: codeArgs, Message: strings.Join(fields, ", ")}
	m.issueCall()
}

// prepare makes the turn's tool call the current one. Rejected arguments may
// have no canonical form and so no key; valid ones always have.
func (m *contractMachine) prepare(t contract.Turn) {
	m.call = CallTool{Call: tool.Call{Name: t.Name, Args: t.Args}}
	m.rejected = nil
	m.spec, _ = m.Tools.Spec(t.Name)
	key, hash, err := tool.Key(m.call.Call)
	if err != nil {
		return
	}
	m.call.Key, m.call.ArgsHash, m.call.RetryIndex = key, hash, m.thrash.RetryIndex(key)
}

// given is the answer to the current call that needs no execution, or nil.
func (m *contractMachine) given() *tool.Result {
	if m.cacheable() {
		switch earlier, decision := m.cache.Gate(m.call.Key, m.now); decision {
		case guard.Cached:
			earlier.Duration = 0
			m.call.Deduped = true
			return &earlier
		case guard.InFlight:
			panic(fmt.Sprintf("agent: contract machine: call %q is still in flight", m.call.Key))
		}
	}
	switch {
	case m.Budgets.OutOfToolCalls(m.used):
		m.settle(tool.Result{})
		return &tool.Result{Outcome: tool.Rejected, Code: codeBudget, Message: "no tool calls left"}
	case !m.breaker.Allows(m.spec.Name, m.now):
		m.settle(tool.Result{})
		m.call.CircuitOpen = true
		return &tool.Result{Outcome: tool.Error, Code: codeCircuitOpen, Message: "the tool keeps failing and is not called for now"}
	}
	return nil
}

func (m *contractMachine) cacheable() bool { return !m.spec.Repeatable && !m.spec.Uncacheable }

// settle ends the cache's waiting for the current call.
func (m *contractMachine) settle(r tool.Result) {
	if m.cacheable() {
		m.cache.Settle(m.call.Key, r, r.Outcome == tool.OK && r.Value != nil)
	}
}

func (m *contractMachine) issueCall() {
	m.call.Parent = m.parent
	m.call = m.Tool(m.call)
	m.send(m.call, m.call.ID)
}

// toolReturned takes the outcome of the current call.
func (m *contractMachine) toolReturned(r tool.Result) {
	executed := m.call.Given == nil
	if !executed {
		r = *m.call.Given
	}
	if executed {
		failed := r.Outcome == tool.Error || r.Outcome == tool.Timeout
		m.breaker.Record(m.call.Call.Name, failed, m.now)
		m.out.DurationSpike = m.spike.Record(m.call.Call.Name, r.Duration)
		m.settle(r)
		m.thrash.Record(m.call.Key, m.spec.Repeatable, failed)
	} else if m.call.Deduped {
		m.thrash.Record(m.call.Key, m.spec.Repeatable, false)
	}
	m.evidence.called(r)
	m.observe(m.sawCall(r))
}

// sawCall shows the result of the current call.
func (m *contractMachine) sawCall(r tool.Result) observation {
	turn, name := m.used.Steps, m.call.Call.Name
	switch {
	case m.rejected != nil:
		return sawRejected(turn, name, m.rejected)
	case r.Outcome == tool.Rejected && r.Code == codeBudget:
		return sawNoBudget()
	}
	args := strings.TrimPrefix(m.call.Key, name+"|")
	return sawResult(turn, name, args, r, m.call.Deduped)
}
