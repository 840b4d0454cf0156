// Package guard bounds an episode: from counters, actions and outcomes it decides
// whether to continue, reflect, answer from cache or stop. It reads no clock:
// time is a parameter. Its types serve one episode each and are not safe
// for concurrent use.
package guard

import "time"

// Budgets are the hard caps of an episode. A zero cap means no limit.
type Budgets struct {
	// MaxSteps caps model turns of the main loop, reflect and rescue turns included.
	MaxSteps int
	// MaxToolCalls caps executed tool calls.
	MaxToolCalls int
	// MaxTime caps elapsed virtual time, waiting for the user excluded.
	MaxTime time.Duration
	// MaxTokens caps the tokens of all classes of all model calls.
	MaxTokens int64 `json:",omitempty"`
	// MaxCostNanoUSD caps what all model calls cost, in nano-USD.
	MaxCostNanoUSD int64 `json:",omitempty"`
}

// Used are the counters of an episode so far.
type Used struct {
	Steps, ToolCalls int
	// Tokens counts all classes of all model calls, rescue turns included, as far
	// as they are known.
	Tokens int64
	// CostNanoUSD is what all model calls cost, in nano-USD, as far as that is known.
	CostNanoUSD int64
	// TokensUnknown and CostUnknown report that a model call has no usage or no
	// price: the sum is then a lower bound.
	TokensUnknown, CostUnknown bool
	// Elapsed is virtual time since the start, waiting for the user excluded.
	Elapsed time.Duration
}

// OutOfSteps reports that no further model turn may begin.
func (b Budgets) OutOfSteps(u Used) bool { return b.MaxSteps > 0 && u.Steps >= b.MaxSteps }

// OutOfToolCalls reports that no further tool may be executed.
func (b Budgets) OutOfToolCalls(u Used) bool {
	return b.MaxToolCalls > 0 && u.ToolCalls >= b.MaxToolCalls
}

// OutOfTokens reports that no further model call may begin. Where tokens are
// capped, an unknown number uses up the cap: what cannot be counted is not let
// run on.
func (b Budgets) OutOfTokens(u Used) bool {
	return b.MaxTokens > 0 && (u.TokensUnknown || u.Tokens >= b.MaxTokens)
}

// OutOfCost reports that no further model call may begin. Where the cost is
// capped, an unknown one uses up the cap.
func (b Budgets) OutOfCost(u Used) bool {
	return b.MaxCostNanoUSD > 0 && (u.CostUnknown || u.CostNanoUSD >= b.MaxCostNanoUSD)
}

// OutOfTime reports that the time is used up: nothing more may be started.
func (b Budgets) OutOfTime(u Used) bool { return b.MaxTime > 0 && u.Elapsed >= b.MaxTime }

// TimeLeft is the time budget left; 0 means that none is set or none is left,
// which OutOfTime tells apart.
func (b Budgets) TimeLeft(u Used) time.Duration {
	if b.MaxTime <= 0 {
		return 0
	}
	return max(0, b.MaxTime-u.Elapsed)
}
