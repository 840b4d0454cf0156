// Package strategy says what the built-in agent strategies are, and holds the types
// of their settings. It imports nothing, so that suites and reports can ask it without
// linking what carries a strategy out.
package strategy

import (
	"encoding/json"
	"time"
)

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
}

// Input is a named JSON value that comes with a request.
type Input struct {
	Name  string
	Value json.RawMessage
}
