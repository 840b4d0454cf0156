package fleet

import (
	"context"
	"errors"
	"iter"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Executor executes the episodes of a run in other processes, each of which has a Worker.
type Executor interface {
	// Execute executes the units of w. It returns nil once every unit has ended or w.Drain is
	// closed, and the cause of ctx if ctx ends. Results that arrive later are for the Executor
	// of the resumed run.
	Execute(ctx context.Context, w Work) error
}

// Work is what an Executor executes.
type Work struct {
	// Manifest is that of the run in progress.
	Manifest manifest.Manifest
	// Lanes are the providers of the lanes, by Unit.Lane.
	Lanes []string
	// Units are in the order in which they should start. The Executor iterates over them once.
	Units iter.Seq2[Unit, error]
	// Ended stores the result of a unit, which may have been executed more than once: results
	// that the run already has are ignored. An error means that the run cannot continue. It is
	// safe for concurrent use.
	Ended func(UnitResult) error
	// Progress returns the state of the run. It is safe for concurrent use.
	Progress func() RunStatus
	// Drain, when closed, ends the work.
	Drain <-chan struct{}
}

// Unit is executed by one worker in one piece: an episode, or those of a session.
type Unit struct {
	// Lane is the place of its provider in Work.Lanes.
	Lane int `json:"lane"`
	// Episodes are TASK/CANDIDATE/TRIAL, in the order in which they are executed.
	Episodes []string `json:"episodes"`
	// Cassettes are the digests of their cassettes in a replay; nil otherwise.
	Cassettes []string `json:"cassettes,omitempty"`
	// Done are the rows of those that are not executed again.
	Done []ledger.EpisodeRows `json:"-"`
	// Journals are what an earlier process has recorded of the others, by name in Log.
	Journals map[string][]byte `json:"-"`
}

// UnitResult is the result of a unit.
type UnitResult struct {
	Rows []ledger.EpisodeRows
	// Days are those of the cassettes that the worker has opened in a replay.
	Days manifest.Days
	// Cassettes are the files that were recorded, by their paths in the folder of cassettes.
	Cassettes map[string][]byte
}

// ErrCancelled means that a unit was not executed to its end.
var ErrCancelled = errors.New("the unit was not executed to its end")

// Worker executes units of a run that another process coordinates. It is safe for concurrent
// use.
type Worker interface {
	// Slots is the number of units of a provider that it should execute at a time.
	Slots(provider string) int
	// Lanes are the limits in force; none in a replay.
	Lanes() []LaneStatus
	// Run executes a unit, from where its log ends. It fails with ErrCancelled if ctx or drain
	// ends first. Any other error means that the worker cannot execute the run.
	Run(ctx context.Context, u Unit, log Log, drain <-chan struct{}) (UnitResult, error)
	// Abandon returns the result of a unit that is not executed because of lost: harness errors.
	Abandon(ctx context.Context, u Unit, lost error) (UnitResult, error)
	// Close releases what the worker holds.
	Close() error
}
