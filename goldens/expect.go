package goldens

import (
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/human"
	custom "github.com/cupel-eval/cupel/goldens/scorer"
)

// Expect is one accepted outcome of a task. Every field that is set is a check;
// an empty string, nil pointer or empty slice checks nothing.
type Expect struct {
	Status     string
	StopReason string
	// Numbers must all appear in the answer, written in plain decimal and
	// compared by exact value: 25 equals 25.0, 1,234,567 equals 1234567 and
	// ٤٤٩ equals 449; a percent sign is a unit. Dates, clock times and digits
	// attached to letters (G01, 3rd, 12k) are not numbers of the answer, and
	// neither are number words.
	Numbers []string
	// NotNumbers must not appear in the answer, by the same rules. Where
	// OnlyNumbers is not nil, every number of the answer is one of these; an empty
	// slice allows none.
	NotNumbers  []string `json:",omitzero"`
	OnlyNumbers []string `json:",omitzero"`
	// Near maps a name to the number that the answer must put next to it. The
	// distance between the two is measured in characters, and a number counts for
	// one name.
	Near map[string]string `json:",omitzero"`
	// ContainsAny, ContainsAll and NotContains look for text in the answer,
	// ignoring case, the kind of apostrophe and the kind of space.
	ContainsAny, ContainsAll, NotContains []string
	// Matches and NotMatches are expressions of RE2 on the answer as it was written:
	// every one of Matches is found in it, and none of NotMatches.
	Matches    []string `json:",omitzero"`
	NotMatches []string `json:",omitzero"`
	// MaxToolCalls counts executed calls: neither rejected nor answered from an
	// earlier result.
	MaxClarifies, MaxSteps, MaxToolCalls *int
	Trajectory                           Trajectory
	// Before are tools of which each must have succeeded before a call of the next one.
	Before []string `json:",omitzero"`
	// Approvals is what people must have been asked for.
	Approvals human.Approvals `json:",omitzero"`
	// State is what the world's final state must be. Below the paths of Unchanged nothing
	// may differ from the initial state. StateHash is the SHA-256 hex of the final state.
	State     []StateCheck `json:",omitzero"`
	Unchanged []string     `json:",omitzero"`
	StateHash string       `json:",omitzero"`
	// Workflow and Effects, JSON each, are what the kind of the world checks: see package judge.
	Workflow, Effects string `json:",omitempty"`
	// BFCL is the accepted answer, as JSON, of a task with Functions: see package bfcl.
	BFCL string `json:",omitempty"`
	// Scores are checks that users bring. Outcomes of a task that name equal ones share a result.
	Scores []custom.Spec `json:",omitempty"`
	// Judges are checks by models; each names a judge of the suite.
	Judges []helper.Check `json:",omitempty"`
	// Signals maps a signal's name to a condition: true or false for
	// all_turns_valid_json, cycle_pattern, stall and thrash; N, ==N, >=N, <=N, >N or
	// <N for the others, see signalOf.
	Signals map[string]string
	// TableLabel, when set, demands that the answer name a date that an earlier call
	// returned as start_date or end_date (2026-05-13, May 13, 13 May 2026, 5月13日), and
	// the number that a table of dates in the world's state has for it under this label.
	TableLabel string
	Note       string
}

// Order says how required calls must relate to the calls made. A rejected call
// was not made; one that failed, and one answered from an earlier result, was.
type Order string

// The orders.
const (
	// Strict is exactly the required calls, in order. It looks at executed
	// calls only, regardless of the result: a call answered from an earlier result
	// is not a breach, a retry after an error is.
	Strict   Order = "strict"
	InOrder  Order = "in_order"  // all required calls in order, others between
	AnyOrder Order = "any_order" // all required calls, others too
	Subset   Order = "subset"    // no call but required ones, not all needed
)

// Trajectory constrains the tool calls of an episode. A call made meets one
// required call at most; which one is chosen so that as many as possible are met.
// Forbidden calls must not even be asked for: a refused call breaks the
// prohibition, too, unless the match has Executed set.
type Trajectory struct {
	Order     Order // empty means AnyOrder
	Required  []CallMatch
	Forbidden []CallMatch
}

// CallMatch matches tool calls by name and arguments.
type CallMatch struct {
	Tool string
	// Args, when non-nil, must match the call's arguments exactly: same keys,
	// equal values, numbers by exact value. A value {"$regex": RE2, found
	// anywhere in a string}, {"$in": […]}, {"$any": true}, {"$gte": N},
	// {"$lte": N} or {"$normalize": …} is a matcher; the key must still be there,
	// except with {"$optional": true}, or {"$optional": value or matcher}. nil
	// matches any arguments.
	Args map[string]any
	// Role, if not empty, is that of the conversation that calls.
	Role string `json:",omitempty"`
	// Executed narrows a forbidden call to one that ran its tool.
	Executed bool `json:",omitempty"`
}
