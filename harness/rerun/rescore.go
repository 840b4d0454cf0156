package rerun

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// RescoreFile is the file in a rescored run's folder with both verdicts of every changed
// episode.
const RescoreFile = "rescore.json"

// Rescored is the effect of changed checks on a run.
type Rescored struct {
	// From is the id of the run, FromSuite and Suite the digests of the suites.
	From      string `json:"from"`
	FromSuite string `json:"from_suite"`
	Suite     string `json:"suite"`
	// Episodes is the number of rescored episodes; the run's others had no result.
	Episodes int `json:"episodes"`
	// Changed are the episodes whose checks or verdict changed, in ledger order.
	Changed []RescoredEpisode `json:"changed"`
}

// RescoredEpisode has both verdicts of an episode.
type RescoredEpisode struct {
	Task      string         `json:"task"`
	Candidate string         `json:"candidate"`
	Trial     int            `json:"trial"`
	Was       bool           `json:"was_solved"`
	Is        bool           `json:"is_solved"`
	WasChecks []ledger.Check `json:"was_checks"`
	IsChecks  []ledger.Check `json:"is_checks"`
	// WasHarm and IsHarm name the change that did harm; absent if none did.
	WasHarm string `json:"was_harm,omitempty"`
	IsHarm  string `json:"is_harm,omitempty"`
	// WasAttack and IsAttack say whether the attack succeeded; absent without attack.
	WasAttack *bool `json:"was_attack_succeeded,omitempty"`
	IsAttack  *bool `json:"is_attack_succeeded,omitempty"`
}

// Rescore scores the episodes of a run by the current suite's checks, writes the result as
// a new run below the runs folder, with RescoreFile, and returns its folder. It executes
// the episodes again from their cassettes, without a model. If one differs in more than its
// checks, the error is a *DivergedError and no run is written. Rescore only reads the
// original run.
func Rescore(ctx context.Context, o harness.Options, dir string) (to string, out Rescored, err error) {
	m, err := manifest.Read(dir)
	if err != nil {
		return "", out, err
	}
	out = Rescored{From: m.RunID, FromSuite: m.SuiteDigest, Suite: o.Suite.Digest, Changed: []RescoredEpisode{}}
	m = rescoredManifest(m, o)
	to, done, err := derive(o.Runs, m.RunID)
	if err != nil {
		return "", out, err
	}
	defer func() { done(err) }()
	w, err := ledger.NewWriter(to)
	if err != nil {
		return "", out, err
	}
	defer w.Abort()
	_, _, err = reexecute(ctx, o, dir, true, func(old, again ledger.EpisodeRows) error {
		rows := old
		rows.SetRun(m.RunID)
		if old.Episode.Excluded() == "" {
			if err := rescore(&rows, again, &out); err != nil {
				return err
			}
		}
		rows.Episode.AddTo(&m.Outcomes)
		return w.Append(rows)
	})
	if err != nil {
		return "", out, err
	}
	_, err = w.Close(func(t manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(t)
		text, err := json.MarshalIndent(out, "", "  ")
		if err == nil {
			err = atomicfile.WriteBytes(filepath.Join(to, RescoreFile), append(text, '\n'))
		}
		if err != nil {
			return m, fmt.Errorf("write %s: %w", RescoreFile, err)
		}
		return m, episode.CopyAnswers(to, dir)
	})
	if err != nil {
		return "", out, err
	}
	return to, out, nil
}

// rescore replaces the verdict if nothing else differs.
func rescore(rows *ledger.EpisodeRows, again ledger.EpisodeRows, out *Rescored) error {
	old, now := rows.Episode, again.Episode
	name := drive.EpisodeName(old.TaskID, old.Candidate, int(old.Trial))
	took := &rows.Episode
	took.SuiteDigest, took.ExpectedStatus, took.Solved, took.Checks = now.SuiteDigest, now.ExpectedStatus, now.Solved, now.Checks
	took.Harm, took.HarmReason, took.AttackSucceeded, took.UserFaults = now.Harm, now.HarmReason, now.AttackSucceeded, now.UserFaults
	took.SetScores(now)
	if d, same := rows.Diff(again); !same {
		return &DivergedError{EpisodeDifference{Episode: name, Difference: d, Err: now.ErrorText}}
	}
	out.Episodes++
	attacked := func(e ledger.Episode) bool { return e.AttackSucceeded != nil && *e.AttackSucceeded }
	if old.Solved != now.Solved || old.HarmReason != now.HarmReason || attacked(old) != attacked(now) || !slices.Equal(old.Checks, now.Checks) {
		out.Changed = append(out.Changed, RescoredEpisode{
			Task: old.TaskID, Candidate: old.Candidate, Trial: int(old.Trial),
			Was: old.Solved, Is: now.Solved, WasChecks: old.Checks, IsChecks: now.Checks, WasHarm: old.HarmReason, IsHarm: now.HarmReason, WasAttack: old.AttackSucceeded, IsAttack: now.AttackSucceeded,
		})
	}
	return nil
}

// rescoredManifest is the run's manifest with the current suite.
func rescoredManifest(m manifest.Manifest, o harness.Options) manifest.Manifest {
	var at time.Time
	if id, err := ulid.ParseStrict(m.RunID); err == nil {
		at = ulid.Time(id.Time())
	}
	m.RescoredFrom = m.RunID
	m.RunID = drive.NewRunID(at, "rescore", m.RescoredFrom, o.Suite.Digest)
	unfinished := m.Outcomes.Unfinished
	m.SuiteDigest, m.Outcomes = o.Suite.Digest, manifest.Outcomes{Unfinished: unfinished}
	today := map[string]goldens.Task{}
	for _, t := range o.Suite.Tasks {
		today[t.ID] = t
	}
	tasks := m.Tasks
	m.Tasks, m.Judges = nil, nil
	for _, t := range tasks {
		if now, ok := today[t.ID]; ok {
			t, m.Judges = drive.ManifestTask(o.Suite, now), drive.AddJudges(m.Judges, now)
		}
		m.Tasks = append(m.Tasks, t)
	}
	return m
}

// DivergedError means that an episode differed from the ledger when it was executed again.
type DivergedError struct{ EpisodeDifference }

// Error names the episode, the column and both values.
func (e *DivergedError) Error() string {
	text := fmt.Sprintf("episode %s differs from the ledger: %s", e.Episode, e.Difference)
	if e.Err != "" {
		text += ": " + e.Err
	}
	return text
}
