package ledger

import (
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Roles of turns that are no decisions of the strategy's own. Turns of every other
// role, of whatever strategy, are: of the main loop, of a second model that stands
// in, of a planner, of a step.
const (
	// RoleRescue is asked of a stronger model than the one under test.
	RoleRescue = "rescue"
	// RoleCompress sums up a log: it costs tokens, money and time, but no step.
	RoleCompress = "compress"
)

// Roles whose turns reports count by name.
const (
	RoleMain     = "main"
	RoleFallback = "fallback"
	RolePlanner  = "planner"
	RoleStep     = "step"
)

// Statuses of episodes that say nothing about the model. Every other status is
// the agent's own.
const (
	// StatusInfraError: a provider, the network or a quota failed.
	StatusInfraError = "infra_error"
	// StatusHarnessError: cupel, the suite, a tool of ours or a cassette failed.
	StatusHarnessError = "harness_error"
	// StatusBudgetStop: a cap on the spending of the run refused a request.
	StatusBudgetStop = "budget_stop"
)

// Statuses that decide whether an episode counts, beside those of episodes that say
// nothing about the model.
const (
	// StatusStopped says that a guard of the strategy's ended the episode.
	StatusStopped = "stopped"
	// StatusCancelled says that the run was interrupted.
	StatusCancelled = "cancelled"
	// statusClarify says that the episode ended with a clarifying question.
	statusClarify = "clarify"
)

// Decides says that a turn is a decision of the strategy under test.
func (t *Turn) Decides() bool { return t.Role != RoleRescue && t.Role != RoleCompress }

// Judged says that a turn of a scored episode counts in rates: a decision with a
// reply. What the rates are of every strategy, this decides.
func (t *Turn) Judged() bool { return t.ErrorKind == "" && t.Decides() }

// Truncated says that the token cap cut the output off.
func (t *Turn) Truncated() bool {
	return t.FinishReason == "length" || slices.Contains(t.Violations, "truncated")
}

// Valid says that the first output of a judged turn keeps the strategy's own
// protocol. One that the token cap cut off does not, whatever could be read of it.
func (t *Turn) Valid() bool { return t.ContractValid && !t.Truncated() }

// Why an episode has no result.
const (
	LostToInfra   = "infrastructure error"
	LostToHarness = "harness error"
	LostToCap     = "budget stop"
	LostToUser    = "interrupted"
)

// Excluded says why an episode has no result, so that it says nothing about the model;
// empty when it has one. The turns of an excluded episode are in no rate.
func (e *Episode) Excluded() string { return ExcludedBy(e.Status, e.InfraError) }

// ExcludedBy is Episode.Excluded for a reader of the two columns that decide it.
func ExcludedBy(status string, infraError bool) string {
	switch {
	case status == StatusBudgetStop:
		return LostToCap
	case status == StatusHarnessError:
		return LostToHarness
	case infraError || status == StatusInfraError:
		return LostToInfra
	case status == StatusCancelled:
		return LostToUser
	}
	return ""
}

// AddTo counts the episode in the outcomes of its run.
func (e *Episode) AddTo(o *manifest.Outcomes) {
	switch why := e.Excluded(); {
	case why == LostToCap:
		o.BudgetStops++
	case why == LostToHarness:
		o.HarnessErrors++
	case why == LostToInfra:
		o.InfraErrors++
	case e.Solved:
		o.Solved++
	default:
		o.Failed++
	}
}

// Lost says that an episode failed outside the model, by Excluded's reason. A verdict
// tolerates a share of such episodes, unlike those that a cap or a user cut off.
func Lost(excluded string) bool { return excluded == LostToInfra || excluded == LostToHarness }

// CountsSteps says that the steps of a solved episode count in what solved tasks take.
// Those of an expected stop do not: the task asks for the budget to be used up.
func (e *Episode) CountsSteps() bool { return e.Solved && e.Status != StatusStopped }

// CountsClarifies says that the clarifying questions of a solved episode count.
// Neither an expected stop nor a task whose expected outcome is a question does.
func (e *Episode) CountsClarifies() bool { return e.CountsSteps() && e.ExpectedStatus != statusClarify }
