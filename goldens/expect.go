package goldens

// Expect is one accepted outcome of a task. Every field that is set is a check;
// a nil pointer or empty slice checks nothing.
type Expect struct {
	Status     string
	StopReason string
	// Numbers must all appear in the answer, compared by value: 25 equals 25.0,
	// 1,234,567 equals 1234567. Dates in the answer are not numbers.
	Numbers []string
	// ContainsAny, ContainsAll and NotContains look for text in the answer,
	// ignoring case.
	ContainsAny, ContainsAll, NotContains []string
	MaxClarifies, MaxSteps, MaxToolCalls  *int
	Trajectory                            Trajectory
	// Signals maps a signal's name to a condition such as "true", "2" or ">=1".
	Signals map[string]string
	// TableLabel, when set, demands that the answer name a date that
	// today_range returned, and that date's count of this label in the world.
	TableLabel string
	Note       string
}

// Order says how required calls must relate to the calls made.
type Order string

// The orders.
const (
	Strict   Order = "strict"    // exactly the required calls, in order
	InOrder  Order = "in_order"  // all required calls in order, others between
	AnyOrder Order = "any_order" // all required calls, others too
	Subset   Order = "subset"    // no call but required ones, not all needed
)

// Trajectory constrains the tool calls of an episode.
type Trajectory struct {
	Order     Order // empty means AnyOrder
	Required  []CallMatch
	Forbidden []CallMatch
}

// CallMatch matches tool calls by name and arguments.
type CallMatch struct {
	Tool string
	// Args, when non-nil, must match the call's arguments exactly: same keys,
	// equal values. A value {"$regex": …}, {"$in": […]}, {"$any": true},
	// {"$gte": …} or {"$lte": …} is a matcher. nil matches any arguments.
	Args map[string]any
}
