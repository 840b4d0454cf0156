// Package failure sorts episodes that were not solved: the rows of one go in, the
// kind of failure and a signature that similar failures share.
package failure

import (
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Kind is what went wrong, of a fixed taxonomy.
type Kind string

// The taxonomy, in the order in which kinds are shown. The first five are the
// model's failures, the last two say nothing about it.
const (
	// Contract: the model's outputs broke the strategy's protocol and could not be
	// used, and that ended the episode; or they were not as valid as the task demands.
	Contract Kind = "contract"
	// Answer: it ended as it should and said the wrong thing.
	Answer Kind = "answer"
	// Trajectory: the way there was wrong: calls that must not be, or must, be
	// made; another ending than the expected one; going in circles.
	Trajectory Kind = "trajectory"
	// Budget: steps, tool calls, tokens, cost or time of the episode ran out, or
	// were more than the task allows.
	Budget Kind = "budget"
	// ToolHandling: a tool failed or refused, and the model did not cope.
	ToolHandling Kind = "tool handling"
	// User: the simulated user broke its rules; what the agent did wrong afterwards is not counted.
	User Kind = "user"
	// Infrastructure: provider, network or quota.
	Infrastructure Kind = "infrastructure"
	// Harness: cupel, the suite, a tool's program or a cassette; also a run that was
	// cut off, by its own cap or by its user.
	Harness Kind = "harness"
)

// Kinds are all kinds, in the order shown.
func Kinds() []Kind {
	return []Kind{Contract, Answer, Trajectory, Budget, ToolHandling, User, Infrastructure, Harness}
}

// Cause is why an episode was not solved.
type Cause struct {
	Kind Kind `json:"kind"`
	// Signature is the same for similar failures, whatever the task: it holds
	// no number, date, id or quoted text of the episode. It begins with the kind and
	// has at most 120 bytes of printable UTF-8. Names of tools, checks and codes in
	// it are untrusted text.
	Signature string `json:"signature"`
}

// rule is a line of the taxonomy: the kind, and what the signature says after it,
// empty where the rule does not apply.
type rule struct {
	kind Kind
	says func(*episode) string
}

// Of says why an episode was not solved; ok is false for one that was.
//
// The first rule that applies decides. They go back to what went wrong first: an
// answer is wrong because the call it rests on was never made, and that because
// the tool before it failed. docs/evidence.md has them as a table. Of is pure and
// safe for concurrent use; it keeps no part of rows.
func Of(rows ledger.EpisodeRows) (c Cause, ok bool) {
	if rows.Episode.Solved || rows.Episode.Excluded() == manifest.NotScored {
		return Cause{}, false
	}
	return cause(rows), true
}

func cause(rows ledger.EpisodeRows) Cause {
	e := episode{Episode: &rows.Episode, turns: rows.Turns, calls: rows.ToolCalls}
	e.readChecks()
	for _, r := range rules() {
		if says := r.says(&e); says != "" {
			return Cause{r.kind, signature(r.kind, says)}
		}
	}
	panic("failure: the last rule always applies")
}

// rules are in the order in which they are tried.
func rules() [15]rule {
	return [...]rule{
		{Harness, (*episode).byHarness},
		{Infrastructure, (*episode).byProvider},
		{Harness, (*episode).cutOff},
		{User, (*episode).byUser},
		{Contract, (*episode).unusable},
		{ToolHandling, (*episode).failedCall},
		{Budget, (*episode).outOfBudget},
		{Trajectory, (*episode).stopped},
		{Trajectory, (*episode).otherEnding},
		{Trajectory, (*episode).wrongCalls},
		{Answer, (*episode).wrongAnswer},
		{Trajectory, (*episode).detour},
		{Budget, (*episode).overLimit},
		{Contract, (*episode).invalid},
		{Harness, (*episode).nothingSaid},
	}
}
