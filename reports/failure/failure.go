// Package failure sorts episodes that were not solved: the rows of one go in, the
// kind of failure and a signature that alike failures share come out.
package failure

// Kind is what went wrong, of a fixed taxonomy.
type Kind string

// The taxonomy, in the order in which kinds are shown. The first five are the
// model's failures, the last two say nothing about it.
const (
	// Contract: the model's output could not be used, and that ended the episode
	// or stood in its last turn.
	Contract Kind = "contract"
	// Answer: it ended as it should and said the wrong thing.
	Answer Kind = "answer"
	// Trajectory: the way there was wrong: calls that must not be, or must, be
	// made; another ending than the expected one; going in circles.
	Trajectory Kind = "trajectory"
	// Budget: steps, tool calls, tokens, cost or time of the episode ran out.
	Budget Kind = "budget"
	// ToolHandling: a tool failed or refused, and the model did not cope.
	ToolHandling Kind = "tool handling"
	// Infrastructure: provider, network or quota.
	Infrastructure Kind = "infrastructure"
	// Harness: cupel, the suite, a tool's program or a cassette.
	Harness Kind = "harness"
)

// Kinds are all kinds, in the order shown.
func Kinds() []Kind {
	return []Kind{Contract, Answer, Trajectory, Budget, ToolHandling, Infrastructure, Harness}
}

// Cause is why an episode was not solved.
type Cause struct {
	Kind Kind `json:"kind"`
	// Signature is the same for failures that are alike, whatever the task: it holds
	// no number, date, id or quoted text of the episode. At most 120 bytes.
	Signature string `json:"signature"`
}
