package agent

import (
	"time"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// Command is something to be done. The concrete types are CallModel, CallTool,
// AskUser, Listen, Wait and Finish. IDs count from 1 within the episode, in the order issued;
// Parent is the ID of the command whose outcome led to this one, 0 for none.
type Command interface{ command() }

// CallModel asks a model for one turn. The driver fills in Call.Model and
// Call.RequestID.
type CallModel struct {
	ID, Parent int
	Role, Kind string
	// Whom says which of the candidate's models is asked: empty is its own, RoleRescue
	// the stronger one, RoleFallback the second one. Of Role RolePlanner, its own is the
	// one that makes plans, if it has one.
	Whom string
	// Agent is the conversation that asks, ParentAgent the one that started it; both are
	// empty for the main one, ParentAgent also for those that the main one started.
	Agent, ParentAgent string
	// Step names the step of the plan that the turn works on, and with [n] the item
	// of it, from 1; empty outside of plans.
	Step string
	Call providers.Call
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
	// Agent and ParentAgent are as in CallModel.
	Agent, ParentAgent string
	// Suspend has an approval without an answer stay open, as in AskUser.
	Suspend bool
	// Given is an answer decided before execution (a cached result or a
	// refusal): the driver records it and must not run the tool. nil: run it.
	Given *tool.Result
	// Deduped reports that Given is an earlier result of the same key.
	Deduped bool
	// CircuitOpen reports that Given is a refusal by the circuit breaker.
	CircuitOpen bool
	// OnlyProposed reports a call that a model proposed to another program, which did not
	// make it here; Given says nothing. Unproposed reports a call that no model proposed.
	OnlyProposed, Unproposed bool
}

// AskUser asks the human one question.
type AskUser struct {
	ID, Parent int
	Question   string
	// Request is what is asked for; nil is a clarifying question.
	Request *person.Request
	// Suspend has a request without an answer stay open while other commands go on. Once
	// nothing else is outstanding or due, the episode ends with status AwaitingInput. Without
	// it, a UserReplied that is Silent comes immediately.
	Suspend bool
	// Agent and ParentAgent are as in CallModel.
	Agent, ParentAgent string
}

// Listen says that the machine is idle and would finish: the outcome is a UserSaid with the
// next message of the user or, if none is due any more, a UserReplied that is Silent.
// Said is what it has answered.
type Listen struct {
	ID, Parent int
	Said       string
}

// Wait passes virtual time, which counts as elapsed.
type Wait struct {
	ID, Parent int
	For        time.Duration
}

// Finish ends the episode.
type Finish struct {
	Status     Status
	StopReason StopReason // empty unless Status is Stopped
	// Answer is the final message to the user; the open question when Status
	// is Clarify; empty for other commands.
	Answer string
	// Err is the failure behind StatusError, nil otherwise.
	Err error
}

func (CallModel) command() {}
func (CallTool) command()  {}
func (AskUser) command()   {}
func (Listen) command()    {}
func (Wait) command()      {}
func (Finish) command()    {}

// Status is how an episode ended, as written in the ledger.
type Status string

// The statuses.
const (
	Answered             Status = "answered"
	answeredAfterClarify Status = "answered_after_clarify"
	respondError         Status = "respond_error"  // answered, but the input was bad: see evidence
	Clarify              Status = "clarify"        // paused on an unanswered question
	AwaitingInput        Status = "awaiting_input" // suspended on requests without an answer: the driver's
	CannotProceed        Status = "cannot_proceed" // the model said so
	Stopped              Status = "stopped"        // a guard ended it: see StopReason
	Failed               Status = "error"          // infrastructure or harness failure, not the model's
	Interrupted          Status = "cancelled"      // the run was stopped
)

// StopReason says which guard ended a Stopped episode.
type StopReason string

// The stop reasons.
const (
	MaxSteps           StopReason = "max_steps"
	MaxSeconds         StopReason = "max_seconds"
	stoppedThrash      StopReason = "thrash"
	stoppedStall       StopReason = "stall"
	contractViolation  StopReason = "contract_violation"
	MaxTokens          StopReason = "max_tokens"     // also when a capped number of tokens is unknown
	MaxCost            StopReason = "max_cost"       // also when a capped cost is unknown
	stoppedIterations  StopReason = "max_iterations" // agent tools: turns that call tools
	stoppedFinalSchema StopReason = "final_schema"   // the final answer does not fit its schema, retries included
	stoppedInvalidPlan StopReason = "invalid_plan"   // agent plan: no valid plan in all attempts
	stoppedFailedStep  StopReason = "failed_step"    // agent plan: a step failed, and what depends on it was cancelled
)
