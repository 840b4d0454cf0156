package ledger

import (
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Roles of turns that are not decisions of the strategy under test. Turns of all other roles
// are, such as those of the main loop, a fallback model, a planner or a step.
const (
	// roleRescue is a call of a stronger model than the one under test.
	roleRescue = "rescue"
	// RoleCompress summarises a log. It costs tokens, money and time, but no step.
	RoleCompress = "compress"
)

// Roles whose turns reports count separately.
const (
	RoleMain     = "main"
	RoleFallback = "fallback"
	RolePlanner  = "planner"
	RoleStep     = "step"
)

// Statuses of episodes that say nothing about the model. All other statuses come from the agent.
const (
	// StatusInfraError means that a provider, the network or a quota failed.
	StatusInfraError = "infra_error"
	// StatusHarnessError means that cupel, the suite, one of its tools or a cassette failed.
	StatusHarnessError = "harness_error"
	// StatusBudgetStop means that a spending cap of the run refused a request.
	StatusBudgetStop = "budget_stop"
)

// Further statuses that decide whether an episode counts.
const (
	// StatusStopped means that a guard of the strategy ended the episode.
	StatusStopped = "stopped"
	// StatusCancelled means that the run was interrupted.
	StatusCancelled = "cancelled"
	// statusClarify means that the episode ended with a clarifying question.
	statusClarify = "clarify"
)

// Decides reports whether the turn is a decision of the strategy under test.
func (t *Turn) Decides() bool { return t.Role != roleRescue && t.Role != RoleCompress }

// Judged reports whether the turn of a scored episode counts in rates, whatever the strategy: it
// must be a decision with a reply.
func (t *Turn) Judged() bool { return t.ErrorKind == "" && t.Decides() }

// agentImported is the agent of episodes that another harness made: strategy.Imported.
const agentImported = "imported"

// Timed reports whether the times of the turn are known. Those of a batched one are not, and those
// of an imported one may not be: its source has neither a start nor a duration.
func (t *Turn) Timed() bool {
	return t.DurationUs != nil && (t.Agent != agentImported || t.TsStart != 0 || *t.DurationUs != 0)
}

// Timed reports whether the times of the episode are known, as of Turn.
func (e *Episode) Timed() bool {
	return e.ElapsedUs != nil && (e.Agent != agentImported || e.TsStart != 0 || *e.ElapsedUs != 0)
}

// Micros returns the duration of the turn in µs, and 0 for one that is not known.
func (t *Turn) Micros() int64 {
	if t.DurationUs == nil {
		return 0
	}
	return *t.DurationUs
}

// Micros returns the time of the episode in µs, and 0 for one that is not known.
func (e *Episode) Micros() int64 {
	if e.ElapsedUs == nil {
		return 0
	}
	return *e.ElapsedUs
}

// Truncated reports whether the output ended at the token limit.
func (t *Turn) Truncated() bool {
	return t.FinishReason == "length" || slices.Contains(t.Violations, "truncated")
}

// Valid reports whether the first output of a judged turn follows the protocol of its strategy.
// A truncated output does not, even if it can be parsed.
func (t *Turn) Valid() bool { return t.ContractValid && !t.Truncated() }

// Reasons why an episode has no result.
const (
	LostToInfra   = "infrastructure error"
	LostToHarness = "harness error"
	LostToCap     = "budget stop"
	LostToUser    = "interrupted"
)

// Excluded returns the reason why the episode has no result, so that it says nothing about the
// model; it is empty if there is a result. Rates do not count the turns of an excluded episode.
func (e *Episode) Excluded() string { return ExcludedBy(e.Status, e.InfraError) }

// ExcludedBy is Episode.Excluded for readers of only the two columns that decide it.
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
	case status == manifest.StatusImported:
		return manifest.NotScored
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
	case why == manifest.NotScored:
		o.NotScored++
	case e.Solved:
		o.Solved++
	default:
		o.Failed++
	}
}

// SetScores takes over what scorers and judges found in another execution of the episode, and
// what the judges used for that.
func (e *Episode) SetScores(of Episode) {
	e.Scores, e.JudgeCalls = of.Scores, of.JudgeCalls
	e.JudgeTokensIn, e.JudgeTokensOut, e.JudgeCostNanoUSD = of.JudgeTokensIn, of.JudgeTokensOut, of.JudgeCostNanoUSD
}

// Automatic is the verdict that the program gave beside a label: that of the check in Scores or
// Checks, or Solved if check is empty. ok is false if there is none.
func (e *Episode) Automatic(check string) (pass, ok bool) {
	if e.Excluded() != "" {
		return false, false
	}
	if check == "" {
		return e.Solved, true
	}
	for _, s := range e.Scores {
		if s.Name == check {
			return s.Pass, true
		}
	}
	for _, c := range e.Checks {
		if c.Name == check {
			return c.Passed, true
		}
	}
	return false, false
}

// Lost reports whether an episode with this reason of Excluded failed outside the model. A
// verdict tolerates a share of such episodes, but not those that a cap or a user stopped.
func Lost(excluded string) bool { return excluded == LostToInfra || excluded == LostToHarness }

// CountsSteps reports whether the steps of the episode count in the steps per solved task. Those
// of an expected stop do not, because its task requires the budget to be used up.
func (e *Episode) CountsSteps() bool { return e.Solved && e.Status != StatusStopped }

// CountsClarifies reports whether the clarifying questions of the episode count in those per
// success. They do not in an expected stop, nor if the expected outcome is a question.
func (e *Episode) CountsClarifies() bool { return e.CountsSteps() && e.ExpectedStatus != statusClarify }
