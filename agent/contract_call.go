package agent

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
)

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

// prepare makes the turn's tool call the one under way. Rejected arguments may
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

// given is the answer to the call under way that needs no execution, or nil.
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

// settle ends the cache's waiting for the call under way.
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

// toolReturned takes the outcome of the call under way.
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

// sawCall shows what came of the call under way.
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
