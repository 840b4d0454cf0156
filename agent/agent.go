// Package agent turns each event of an episode (a model's reply, a tool's
// result, a user's answer) into the commands that follow from it.
//
// An agent is a pure step machine. It does no I/O, reads no clock, starts no
// goroutine and draws no random numbers; the driver in package harness carries
// out its commands, feeds the outcomes back in a deterministic order, and writes
// the ledger. Every strategy is another Machine.
package agent

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/orchestrator/limits"
	"github.com/cupel-eval/cupel/agent/orchestrator/worklog"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// Machine is one episode of one strategy. It is not safe for concurrent use.
type Machine interface {
	// Step advances the machine by one event. The first event is Started. After
	// a Finish command the episode is over and Step must not be called again.
	// A Step that returns no command waits for an outstanding one. An impossible
	// event (an answer to no outstanding command, anything after Finish) is the
	// driver's mistake: Step panics, naming the state and the event.
	Step(Event) Ready
}

// Ready is the result of a Step: the commands to run and the record of the event.
type Ready struct {
	// Commands are to be carried out; several may run concurrently.
	Commands []Command
	// Judgement is non-nil exactly when the event was the ModelReplied of a turn;
	// a compress call is not one.
	Judgement *Judgement
	// DurationSpike reports that the tool call whose result the event brought took
	// unusually long. It is a signal: nothing follows from it.
	DurationSpike bool
	// Updates describe the strategy's progress, for people. They have no effect.
	Updates []Update
	// Background reports that the event started a task in the background, which a message
	// of the user may wait for.
	Background bool
	// Tasks are all that the agent has planned or handed over so far, in that order; nil if
	// nothing has changed since the last Step that returned them.
	Tasks []worklog.Task
	// Used are the counters after the event.
	Used guard.Used
}

// Update reports that a phase of a strategy, such as planning or one step of the
// plan, has come to a status: started, success or failed.
type Update struct{ Phase, Status, Content string }

// Params describe one episode to a strategy.
type Params struct {
	// Request is what the user asked; Constraints are standing rules of the task.
	Request, Constraints string
	// Tools are the available tools, in prompt order.
	Tools *tool.Set
	// Budgets are the hard caps.
	Budgets guard.Budgets
	// MaxTokens and Temperature go into every model call.
	MaxTokens   int
	Temperature float64
	// Seed goes into every model call whose provider takes one; nil sends none.
	Seed *int64
	// Profile names the prompt profile: seed (or empty), schema or conversation.
	Profile string
	// Mode names the output mode: prompt (or empty), or one of providers.Mode.
	Mode string
	// Rescue reports that a stronger model may be asked once: after two consecutive
	// contract violations, or when a reflect turn did not end a repetition.
	Rescue bool
	// RescueOnContradiction spends the same one rescue turn after a turn that
	// contradicts itself, too.
	RescueOnContradiction bool
	// Compress has a model condense the scratchpad now and then; without it, old
	// observations are folded by rule.
	Compress bool

	// System comes before the strategy's own instructions; not with contract.
	System string
	// Images are shown with the request.
	Images []providers.Image
	// AnswerSchema is the JSON Schema of the final answer, an object; nil means text.
	AnswerSchema json.RawMessage
	// Inputs are values that come with the request, each under its own name.
	Inputs []strategy.Input
	// Each names the input, a list, whose items are worked on one by one; empty
	// means the request is one.
	Each string
	// Memory is what was said before in the same session and fits its bounds, oldest
	// first.
	Memory []strategy.Exchange
	// Thread reports that the user has further messages: the machine listens when it is idle.
	Thread bool
	// CallsOnly reports that the first reply ends the episode, and that its calls are the
	// answer: none is carried out. Agent tools.
	CallsOnly bool
	// Fallback reports that a second model may be asked when a call of the first fails.
	Fallback bool
	// MaxIterations bounds the turns that call tools, of agent plan those of one
	// step; 0 means 10.
	MaxIterations int
	// FinalRetries is how often a final answer that does not fit AnswerSchema is
	// asked for again; nil means once.
	FinalRetries *int
	Batch        strategy.Batch
	Plan         strategy.PlanBounds
	Orchestrator limits.Bounds
}

// Judgement is what a strategy made of one model reply. The three booleans
// judge the raw first output, before any repair.
type Judgement struct {
	ValidJSON, Actionable, ContractValid bool
	// Repaired reports that the local repair pass made the output usable.
	Repaired bool
	// Violations and Warnings are codes such as next_action.type:enum, in
	// document order.
	Violations, Warnings []string
	// ActionType is tool, respond or clarify; ActionName the tool's name. Both
	// are empty when no action could be read.
	ActionType, ActionName string
	// Confidence is the model's own estimate in [0,1]; nil when absent or invalid.
	Confidence *float64
	Done       bool
	Reason     string
	// Asked are the tool calls that the turn asked for, whether they are carried out
	// or not, in order. Arguments are as the model wrote them, valid or not.
	Asked []tool.Call
	// Thrash and Stall say that this turn's action raised the signal; Cycle that the
	// repetition is one of two alternating actions.
	Thrash, Stall, Cycle bool
	// PlanRev counts changes of the normalised plan text so far, from 0.
	PlanRev int
}
