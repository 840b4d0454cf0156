package rerun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// Replayer executes single episodes of a run again, from their cassettes and without a
// network. Suite, candidates and cassettes are opened only once. It is safe for concurrent
// use.
type Replayer struct {
	plan     *harness.Plan
	manifest manifest.Manifest
}

// NewReplayer prepares to execute episodes of the run of a manifest again. The options are
// those of the run; mode, seed, trials and selection come from the manifest, and options
// that start or resume a run are ignored. Missing tasks and candidates are errors of their
// episodes only. The caller must call Close.
func NewReplayer(o harness.Options, m manifest.Manifest) (*Replayer, error) {
	o.Mode, o.Runs, o.Resume, o.Stale, o.ReplaySpeed, o.WithAgent = recorder.Replay, "", "", false, 0, false
	o.Scoring = drive.ScoreNothing
	o.Trials, o.Seed, o.Select = max(m.Trials, 1), m.Seed, harness.Selection{}
	known := map[string]bool{episode.ScriptedCandidate: true}
	for _, c := range o.Candidates {
		known[c.Name] = true
	}
	if o.Candidates == nil {
		for _, c := range o.Suite.Candidates {
			known[c.Name] = true
		}
	}
	for _, c := range m.Candidates {
		name := c.Name
		if o.Fork != nil {
			name = o.Fork.Base(name)
		}
		if known[name] {
			o.Select.Candidates = append(o.Select.Candidates, name)
		}
	}
	if len(o.Select.Candidates) == 0 {
		return nil, &harness.ConfigError{Err: errors.New("the suite and the configuration no longer have any of the run's candidates")}
	}
	plan, err := harness.NewPlan(o)
	if err != nil {
		return nil, err
	}
	return &Replayer{plan, m}, nil
}

// Close closes the cassettes.
func (p *Replayer) Close() { p.plan.Close() }

// NoReplayError means that an episode cannot be shown.
type NoReplayError struct {
	// Kind is one of those below or an error kind of episodes, such as KindCassetteMissing.
	// KindReplayMiss includes an episode that differs now.
	Kind string
	Err  error
}

// Kinds of NoReplayError besides those of episodes.
const (
	// KindLive is an episode of a live run, which stores no texts.
	KindLive = "live"
	// KindLost is an episode without a result.
	KindLost = "lost"
	// KindGone is an episode that the suite or the configuration no longer has.
	KindGone = "gone"
)

// Error names the episode and the reason.
func (e *NoReplayError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NoReplayError) Unwrap() error { return e.Err }

// Again executes an episode of the run again and returns its trace. If it cannot, or the
// rows differ from was, the error is a *NoReplayError; columns that texts cannot change,
// such as prices, suite digests and checks, do not count. If ctx ends, its error is
// returned as it is.
func (p *Replayer) Again(ctx context.Context, was ledger.EpisodeRows) ([]episode.Trace, error) {
	e := was.Episode
	refuse := func(kind string, err error) error {
		return &NoReplayError{kind, fmt.Errorf("%s: %w", drive.EpisodeName(e.TaskID, e.Candidate, int(e.Trial)), err)}
	}
	switch {
	case p.manifest.Mode == string(recorder.Live) && e.Provider != episode.ScriptedCandidate:
		return nil, refuse(KindLive, errLive)
	case e.Excluded() != "":
		return nil, refuse(KindLost, errors.New("no result was recorded, so the episode cannot be replayed"))
	}
	is, traces, err := p.plan.Execute(ctx, e.TaskID, e.Candidate, int(e.Trial))
	if err != nil {
		return nil, refuse(KindGone, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if is.Episode.InfraError {
		return nil, refuse(is.Episode.ErrorKind, errors.New(is.Episode.ErrorText))
	}
	if d, same := textual(was).Diff(textual(is)); !same {
		return nil, refuse(episode.KindReplayMiss, fmt.Errorf("it differs now: %s", d))
	}
	return traces, nil
}

// textual returns an episode's rows without the columns that texts cannot change.
func textual(rows ledger.EpisodeRows) ledger.EpisodeRows {
	e := &rows.Episode
	e.SuiteDigest, e.ConfigDigest, e.ExpectedStatus, e.CostNanoUSD = "", "", "", nil
	e.Solved, e.Checks, e.Harm, e.HarmReason, e.AttackSucceeded, e.UserFaults = false, nil, nil, "", nil, ""
	e.SetScores(ledger.Episode{})
	e.UserCostNanoUSD, e.Labels = nil, nil
	rows.Turns = slices.Clone(rows.Turns)
	for i := range rows.Turns {
		rows.Turns[i].CostNanoUSD, rows.Turns[i].PriceDigest = nil, ""
	}
	return rows
}
