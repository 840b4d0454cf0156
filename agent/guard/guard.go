// Package guard keeps an episode within bounds: counters, actions and outcomes
// go in; whether to go on, reflect, answer from cache or stop comes out. Pure:
// time arrives as a parameter.
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
}

// Used are the counters of an episode so far.
type Used struct {
	Steps, ToolCalls int
	// Tokens counts all classes of all model calls, rescue turns included.
	Tokens int64
	// Elapsed is virtual time since the start, waiting for the user excluded.
	Elapsed time.Duration
}
