package agent

import (
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// Command is something to be done. The concrete types are CallModel, CallTool,
// AskUser, Wait and Finish. IDs count from 1 within the episode, in the order issued;
// Parent is the ID of the command whose outcome led to this one, 0 for none.
type Command interface{ command() }

// Roles of a turn, as written in the ledger.
const (
	RoleMain     = "main"
	RoleRescue   = "rescue"   // asked of the candidate's stronger model
	RoleFallback = "fallback" // asked of the candidate's second model, the first having failed
	RolePlanner  = "planner"  // makes the plan
	RoleStep     = "step"     // works on one step of the plan
	// RoleCompress is no turn of the main loop: it costs tokens, money and time, but
	// no step, and its output is not judged.
	RoleCompress = "compress"
)

// Kinds of a turn, as written in the ledger.
const (
	KindAct     = "act"
	KindReflect = "reflect"
	KindRescue  = "rescue"
	// KindCompress asks for a summary of the log.
	KindCompress = "compress"
	KindPlan     = "plan"     // asks for a plan
	KindFinal    = "final"    // asks again for a final answer that fits its schema
	KindConclude = "conclude" // the last turn of what is out of room: only an answer is left
)

// Whom says which of the candidate's models is asked.
type Whom string

// The candidate's models.
const (
	AskModel    Whom = ""
	AskRescue   Whom = "rescue"
	AskFallback Whom = "fallback"
)

// CallModel asks a model for one turn. The driver fills in Call.Model and
// Call.RequestID.
type CallModel struct {
	ID, Parent int
	Role, Kind string
	Whom       Whom
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
	// is Clarify; empty if there is none.
	Answer string
	// Err is the failure behind StatusError, nil otherwise.
	Err error
}

func (CallModel) command() {}
func (CallTool) command()  {}
func (AskUser) command()   {}
func (Wait) command()      {}
func (Finish) command()    {}
