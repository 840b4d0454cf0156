package episode

import "fmt"

// Kinds of errors that are not a provider's, as written in the ledger.
const (
	KindCassetteMissing = "cassette_missing"
	KindCassetteCorrupt = "cassette_corrupt"
	KindCassetteStale   = "cassette_stale"
	KindReplayMiss      = "replay_miss"
	KindHarness         = "harness"
	KindRunBudget       = "run_budget" // a cap on the spending of the run
	// KindAbandoned is of a turn whose answer came after the episode had ended.
	KindAbandoned = "abandoned"
)

// KindSession is the kind of error of an episode whose session lacks an earlier one.
const KindSession = "session"

// SessionError says that an episode was not run: an earlier one of its session,
// which it would remember, has no result.
type SessionError struct {
	Session string
	// Earlier is TASK/CANDIDATE/TRIAL, Kind its kind of error.
	Earlier, Kind string
}

// Error names the earlier episode and says what to do.
func (e *SessionError) Error() string {
	return fmt.Sprintf("session %s: the earlier episode %s has no result (%s); resume the run, or record that one again, and this one follows", e.Session, e.Earlier, e.Kind)
}

// StaleError says that a replayed episode ended before its cassette did: it was
// recorded with other code or another suite.
type StaleError struct {
	Path    string
	Unused  int
	Command string
}

// Error names the cassette and how to renew it.
func (e *StaleError) Error() string {
	return fmt.Sprintf("cassette %s is stale: the episode ended with %d of its recordings unused; record it again with: %s", e.Path, e.Unused, e.Command)
}

// ScriptedCandidate is the candidate that scripted tasks, and only they, are
// run with. A run includes it when it is selected by name.
const ScriptedCandidate = "scripted"
