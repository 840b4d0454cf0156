// Package rerun processes runs that have ended: Verify executes one again and compares
// every column, Rescore scores it by the current checks, Merge joins the runs of shards,
// and a Replayer executes single episodes again for their traces. It does not use a
// network.
package rerun

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/recorder"
)

// Verification compares a run with its re-execution.
type Verification struct {
	// Episodes is the number of episodes in the ledger; Verified of them had equal rows when
	// executed again, Differing had not. The others had no result, so they cannot be replayed.
	Episodes, Verified, Differing int
	// First is the first difference in ledger order; nil when there is none.
	First *EpisodeDifference
	// Was and Is are the ledger digests of the episodes that were compared.
	Was, Is string
	// Manifest are the members of run.json that differ from the values computed from rows,
	// suite and re-execution, sorted by name. Thresholds are not checked.
	Manifest []ManifestDifference
}

// ManifestDifference is a member of run.json, such as outcomes.solved, that differs.
type ManifestDifference struct{ Member, Was, Is string }

// EpisodeDifference is a column in which an episode of a run and of its
// re-execution differ.
type EpisodeDifference struct {
	// Episode is TASK/CANDIDATE/TRIAL.
	Episode string
	// Agent is the strategy of its candidate.
	Agent string
	ledger.Difference
	// Err is the error of the re-execution; empty if it has a result.
	Err string
}

// errLive means that a run stored no texts.
var errLive = errors.New("a live run does not store texts, so it cannot be executed again; use record mode")

// Verify executes the episodes of a run again, from their cassettes and without a network,
// and compares the rows except run_id and replayed, and the reproducible members of the
// manifest. The options are those of the run; if the current suite or configuration cannot
// repeat it, the error is a *ConfigError.
func Verify(ctx context.Context, o harness.Options, dir string) (v Verification, err error) {
	var was, is ledger.Digester
	var rows rowTotals
	m, again, err := reexecute(ctx, o, dir, false, func(old, again ledger.EpisodeRows) error {
		v.Episodes++
		rows.add(old)
		if old.Episode.Excluded() != "" {
			return nil
		}
		was.Add(old)
		is.Add(again)
		d, same := old.Diff(again)
		if same {
			v.Verified++
			return nil
		}
		v.Differing++
		if v.First == nil {
			e := old.Episode
			v.First = &EpisodeDifference{Episode: drive.EpisodeName(e.TaskID, e.Candidate, int(e.Trial)), Agent: e.Agent, Difference: d, Err: again.Episode.ErrorText}
		}
		return nil
	})
	if err != nil {
		return v, err
	}
	v.Was, v.Is = was.Sum(), is.Sum()
	v.Manifest = manifestDifferences(m, rows.manifest(m, again))
	return v, nil
}

// reexecute replays the episodes of a run that have a result, and visits every episode with
// its old and new rows, in ledger order. It returns the old and new manifests. If changed
// is set, the suite may differ.
func reexecute(ctx context.Context, o harness.Options, dir string, changed bool, visit func(old, again ledger.EpisodeRows) error) (m, again manifest.Manifest, err error) {
	m, episodes, err := ledger.Open(dir)
	if err != nil {
		return m, again, err
	}
	if m.Mode == string(recorder.Live) {
		return m, again, &harness.ConfigError{Err: fmt.Errorf("run %s: %w", m.RunID, errLive)}
	}
	names, err := withResult(episodes)
	if err != nil {
		return m, again, err
	}
	tmp, remove, err := atomicfile.MkdirTemp("cupel-verify")
	if err != nil {
		return m, again, fmt.Errorf("make a folder for the re-execution: %w", err)
	}
	defer remove()
	if changed || m.RescoredFrom != "" { // its cassettes have the results of other programs
		o.Scoring = drive.ScoreAgain
	}
	o.Mode, o.Runs, o.Resume, o.Trials, o.Seed = recorder.Replay, tmp, "", max(m.Trials, 1), m.Seed
	base := func(candidate string) string { return candidate }
	if o.Fork != nil {
		base = o.Fork.Base
	}
	o.Select = harness.Selection{Exact: true}
	o.Select.Candidates, o.Select.Episode = names.Filter(base)
	plan, err := harness.NewPlan(o)
	if err == nil {
		plan.Close()
		err = checkSame(m, plan.Manifest(), changed)
	}
	if _, ok := errors.AsType[*harness.ConfigError](err); ok {
		return m, again, &harness.ConfigError{Err: fmt.Errorf("run %s cannot be executed again:\n%w", m.RunID, err)}
	}
	if err != nil {
		return m, again, err
	}
	res, err := harness.Run(ctx, o)
	if err != nil {
		return m, again, err
	}
	if res.Interrupted {
		return m, again, context.Canceled
	}
	return m, res.Manifest, sideBySide(episodes, ledger.Scan(res.Dir), func(old, again ledger.EpisodeRows) error {
		again.Episode.ConfigDigest = m.ConfigDigest // compared above
		again.Episode.Labels = old.Episode.Labels   // which no execution gives
		return visit(old, again)
	})
}

// withResult lists the episodes of a ledger that have one.
func withResult(episodes iter.Seq2[ledger.EpisodeRows, error]) (names drive.EpisodeList, err error) {
	for rows, err := range episodes {
		if err != nil {
			return names, err
		}
		if e := rows.Episode; e.Excluded() == "" {
			names.Add(e.TaskID, e.Candidate, int(e.Trial))
		}
	}
	return names, nil
}

// checkSame returns an error if a run cannot be repeated. Further candidates are allowed.
// Other changes of the policy show in the rows.
func checkSame(m, now manifest.Manifest, changed bool) error {
	var errs []error
	if m.SuiteDigest != now.SuiteDigest && !changed {
		errs = append(errs, fmt.Errorf("the suite %s changed since the run was made; to score its episodes with the suite of today: cupel rescore", m.SuitePath))
	}
	if m.PriceDigest != now.PriceDigest {
		errs = append(errs, fmt.Errorf("the price table changed since the run was made: %.12s → %.12s", m.PriceDigest, now.PriceDigest))
	}
	was := map[string]string{}
	for _, c := range m.Candidates {
		was[c.Name] = c.Digest
	}
	for _, c := range now.Candidates {
		if was[c.Name] != c.Digest {
			errs = append(errs, fmt.Errorf("candidate %s changed since the run was made", c.Name))
		}
	}
	if len(errs) > 0 {
		return &harness.ConfigError{Err: errors.Join(errs...)}
	}
	return nil
}

// sideBySide visits the episodes of a ledger with those of another; if that lacks one, its
// rows are empty.
func sideBySide(episodes, others iter.Seq2[ledger.EpisodeRows, error], visit func(a, b ledger.EpisodeRows) error) error {
	next, stop := iter.Pull2(others)
	defer stop()
	b, err, more := next()
	for a, errA := range episodes {
		if err := errors.Join(errA, err); err != nil {
			return err
		}
		found := ledger.EpisodeRows{Episode: ledger.Episode{ErrorText: "no such episode in the suite or the configuration"}}
		if more && a.Episode.Compare(b.Episode.Key) == 0 {
			found = b
			b, err, more = next()
		}
		if err := visit(a, found); err != nil {
			return err
		}
	}
	return err
}
