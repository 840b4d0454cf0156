package agent

// Status is how an episode ended, as written in the ledger.
type Status string

// The statuses.
const (
	Answered             Status = "answered"
	AnsweredAfterClarify Status = "answered_after_clarify"
	RespondError         Status = "respond_error"  // answered, but the input was bad: see evidence
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
	MaxTokens         StopReason = "max_tokens"     // also when a capped number of tokens is unknown
	MaxCost           StopReason = "max_cost"       // also when a capped cost is unknown
	MaxToolCalls      StopReason = "max_tool_calls" // of no strategy here: they refuse the call and let the model respond
	MaxIterations     StopReason = "max_iterations" // agent tools: turns that call tools
	FinalSchema       StopReason = "final_schema"   // the final answer does not fit its schema, retries included
	InvalidPlan       StopReason = "invalid_plan"   // agent plan: no valid plan in all attempts
	FailedStep        StopReason = "failed_step"    // agent plan: a step failed, and what depends on it was cancelled
)
