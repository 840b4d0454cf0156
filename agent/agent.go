// Package agent decides: one event of an episode goes in (a model's reply, a
// tool's result, a user's answer), the commands that follow from it come out.
//
// An agent is a pure step machine. It does no I/O, reads no clock, starts no
// goroutine and draws no random numbers; the driver in package harness carries
// out its commands, feeds the outcomes back in a deterministic order, and writes
// the ledger. Every strategy is another Machine.
package agent

import (
	"time"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// Machine is one episode of one strategy. It is not safe for concurrent use.
type Machine interface {
	// Step advances the machine by one event. The first event is Started. After
	// a Finish command the episode is over and Step must not be called again.
	// A Step that returns no command waits for an outstanding one.
	Step(Event) Ready
}

// Ready is what a Step wants done and what it made of the event.
type Ready struct {
	// Commands are to be carried out; several may run concurrently.
	Commands []Command
	// Judgement is non-nil exactly when the event was ModelReplied.
	Judgement *Judgement
	// Used are the counters after the event.
	Used guard.Used
}

// Params describe one episode to a strategy.
type Params struct {
	// Request is what the user asked; Constraints are standing rules of the task.
	Request, Constraints string
	// Tools are the tools on offer, in prompt order.
	Tools *tool.Set
	// Budgets are the hard caps.
	Budgets guard.Budgets
	// MaxTokens and Temperature go into every model call.
	MaxTokens   int
	Temperature float64
	// Seed goes into every model call whose provider takes one; nil sends none.
	Seed *int64
	// Profile names the prompt profile, Mode the output mode.
	Profile, Mode string
	// Rescue says that a stronger model may be asked once, after two
	// consecutive contract violations.
	Rescue bool
}

// Event is something that happened. The concrete types are Started,
// ModelReplied, ModelFailed, ToolReturned, UserReplied, Deadline and Cancelled.
type Event interface{ event() }

// Started opens the episode.
type Started struct{ At time.Time }

// ModelReplied answers the CallModel command with the same ID.
type ModelReplied struct {
	At    time.Time
	ID    int
	Reply providers.Reply
}

// ModelFailed says that the CallModel command with the same ID brought no reply.
type ModelFailed struct {
	At  time.Time
	ID  int
	Err error
}

// ToolReturned answers the CallTool command with the same ID.
type ToolReturned struct {
	At     time.Time
	ID     int
	Result tool.Result
}

// UserReplied answers the AskUser command with the same ID. At excludes the
// time spent waiting.
type UserReplied struct {
	At   time.Time
	ID   int
	Text string
	// Silent says that nobody answered; Text is then empty and the episode ends
	// with status clarify.
	Silent bool
}

// Deadline says that the time budget ran out while commands were outstanding.
type Deadline struct{ At time.Time }

// Cancelled says that the run is being stopped.
type Cancelled struct{ At time.Time }

func (Started) event()      {}
func (ModelReplied) event() {}
func (ModelFailed) event()  {}
func (ToolReturned) event() {}
func (UserReplied) event()  {}
func (Deadline) event()     {}
func (Cancelled) event()    {}

// Command is something to be done. The concrete types are CallModel, CallTool,
// AskUser and Finish. IDs count from 1 within the episode, in the order issued;
// Parent is the ID of the command whose outcome led to this one, 0 for none.
type Command interface{ command() }

// Roles of a turn, as written in the ledger.
const (
	RoleMain   = "main"
	RoleRescue = "rescue" // asked of the candidate's stronger model
)

// Kinds of a turn, as written in the ledger.
const (
	KindAct     = "act"
	KindReflect = "reflect"
	KindRescue  = "rescue"
)

// CallModel asks a model for one turn. The driver fills in Call.Model and
// Call.RequestID.
type CallModel struct {
	ID, Parent int
	Role, Kind string
	Call       providers.Call
	// Timeout is the time budget left; 0 means none is set.
	Timeout time.Duration
}

// CallTool asks for one tool execution.
type CallTool struct {
	ID, Parent int
	Call       tool.Call
	// Key is the idempotency key, ArgsHash the SHA-256 hex of the canonical arguments.
	Key, ArgsHash string
	// RetryIndex counts earlier executions with the same key that failed.
	RetryIndex int
	// Given is an answer decided before execution (a cached result or a
	// refusal): the driver records it and must not run the tool. nil: run it.
	Given *tool.Result
	// Deduped says that Given is an earlier result of the same key.
	Deduped bool
	// CircuitOpen says that Given is a refusal by the circuit breaker.
	CircuitOpen bool
}

// AskUser asks the human one question.
type AskUser struct {
	ID, Parent int
	Question   string
}

// Finish ends the episode.
type Finish struct {
	Status     Status
	StopReason StopReason // empty unless Status is Stopped
	// Answer is the final message to the user; the open question when Status
	// is Clarify; empty if there is none.
	Answer string
	// Err is the failure behind StatusError, nil otherwise.
	Err error
}

func (CallModel) command() {}
func (CallTool) command()  {}
func (AskUser) command()   {}
func (Finish) command()    {}

// Status is how an episode ended, as written in the ledger.
type Status string

// The statuses.
const (
	Answered             Status = "answered"
	AnsweredAfterClarify Status = "answered_after_clarify"
	RespondError         Status = "respond_error"  // answered by naming a bad input
	Clarify              Status = "clarify"        // paused on an unanswered question
	CannotProceed        Status = "cannot_proceed" // the model said so
	Stopped              Status = "stopped"        // a guard ended it: see StopReason
	Failed               Status = "error"          // infrastructure or harness failure, not the model's
	Interrupted          Status = "cancelled"      // the run was stopped
)

// StopReason says which guard ended a Stopped episode.
type StopReason string

// The stop reasons.
const (
	MaxSteps          StopReason = "max_steps"
	MaxSeconds        StopReason = "max_seconds"
	Thrash            StopReason = "thrash"
	Stall             StopReason = "stall"
	ContractViolation StopReason = "contract_violation"
	MaxToolCalls      StopReason = "max_tool_calls"
)

// Judgement is what a strategy made of one model reply. The three booleans
// judge the raw first output, before any repair.
type Judgement struct {
	ValidJSON, Actionable, ContractValid bool
	// Repaired says that the local repair pass made the output usable.
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
	// Thrash and Stall say that this turn's action raised the signal.
	Thrash, Stall bool
	// PlanRev counts changes of the normalised plan text so far, from 0.
	PlanRev int
}
