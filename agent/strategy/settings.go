package strategy

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Range bounds a setting that is a number: from 0 to Most. Default is what it is
// where a candidate does not set it.
type Range struct{ Default, Most int }

// The numbers among the settings. 0 means Default, except of FinalRetries, of which a
// candidate may say 0.
var (
	MaxIterations     = Range{10, 1_000}
	FinalRetries      = Range{1, 10}
	BatchSize         = Range{1, 100}
	PlanAttempts      = Range{3, 20}
	PlanSteps         = Range{50, 1_000}
	PlanConcurrency   = Range{4, 100}
	PlanContextTokens = Range{100_000, 10_000_000}
	MemoryTurns       = Range{10, 1_000}
	MemoryTokens      = Range{2_000, 1_000_000}
)

// Fault says what is wrong with a number; "" if nothing is.
func (r Range) Fault(n int) string {
	if n < 0 || n > r.Most {
		return fmt.Sprintf("must be from 0 to %d, but is %d", r.Most, n)
	}
	return ""
}

// maxDelay bounds the virtual time between batches.
const maxDelay = time.Hour

// Batch says how the items of a task are worked on. The zero value takes one item at
// a time, without a pause, and continues when one fails.
type Batch struct {
	// Size is how many items are in progress at the same time; 0 means 1.
	Size int `yaml:"size,omitempty"`
	// Delay is the virtual time between batches.
	Delay time.Duration `yaml:"delay,omitempty"`
	// StopOnFail ends the episode with the first item that fails. Otherwise the result
	// of that item is its error.
	StopOnFail bool `yaml:"stop_on_fail,omitempty"`
}

// Faults says what is out of range.
func (b Batch) Faults() []string {
	out := named("size", BatchSize.Fault(b.Size))
	if d := b.Delay; d < 0 || d > maxDelay || d%time.Microsecond != 0 {
		out = append(out, fmt.Sprintf("delay must be at most %v, in whole microseconds, but is %v", maxDelay, d))
	}
	return out
}

// named puts the name of a number before its fault, if there is one.
func named(name, fault string) []string {
	if fault == "" {
		return nil
	}
	return []string{name + " " + fault}
}

// PlanBounds bound agent plan; a zero takes the default.
type PlanBounds struct {
	// Attempts is how often a valid plan is asked for; 0 means 3.
	Attempts int `yaml:"attempts,omitempty"`
	// Steps is the largest plan that may be run; 0 means 50.
	Steps int `yaml:"steps,omitempty"`
	// Concurrency is how many items of one step are in progress at the same time; 0
	// means 4.
	Concurrency int `yaml:"concurrency,omitempty"`
	// ContextTokens is the estimated size of a step's history from which on the step
	// must conclude; 0 means 100,000.
	ContextTokens int `yaml:"context_tokens,omitempty"`
	// ReasoningModel is the model, of the same provider, that makes the plan; empty means
	// the candidate's own, which carries out the steps in any case.
	ReasoningModel string `yaml:"reasoning_model,omitempty" json:",omitempty"`
}

// Faults says what is out of range.
func (b PlanBounds) Faults() []string {
	return slices.Concat(
		named("attempts", PlanAttempts.Fault(b.Attempts)), named("steps", PlanSteps.Fault(b.Steps)),
		named("concurrency", PlanConcurrency.Fault(b.Concurrency)), named("context_tokens", PlanContextTokens.Fault(b.ContextTokens)),
	)
}

// Input is a named JSON value that comes with a request.
type Input struct {
	Name  string
	Value json.RawMessage
}
