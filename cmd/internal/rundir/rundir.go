// Package rundir finds run folders, reads them, and makes reports of them, with the
// figures of earlier runs beside them.
package rundir

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/model"
)

// Find resolves RUN: a run folder, an id or its unique beginning below the runs folder,
// or one of these names. "latest" is the run of a whole suite whose manifest was written
// last, "previous" the one of the same suite before it. Both skip forks, shards and
// selections of tasks or episodes unless there are only such runs; "latest-any" and
// "previous-any" do not.
func Find(runs, name string) (string, error) {
	if _, ok := isRun(name); ok {
		return name, nil
	}
	folders, err := runFolders(runs)
	if err != nil {
		return "", err
	}
	want, isAge := ages[name]
	var found []string
	for _, f := range folders {
		if isAge || strings.HasPrefix(f, name) {
			found = append(found, f)
		}
	}
	switch {
	case len(found) == 0:
		return "", exit.Usage(notFound(runs, name, folders))
	case isAge:
		dir, _, err := byAge(runs, found, want)
		return dir, err
	case len(found) == 1:
		return filepath.Join(runs, found[0]), nil
	}
	return "", exit.Usage(fmt.Errorf("run %q is ambiguous%s; give more characters of its id", name, listed(": ", found)))
}

// notFound says why a name is not that of a run. folders are those of the runs folder.
func notFound(runs, name string, folders []string) error {
	inside, _ := runFolders(name)
	info, err := os.Stat(name)
	switch {
	case strings.ContainsAny(name, "*?"):
		return fmt.Errorf("no folder matches %q, so the shell did not replace the pattern; make runs in a folder with: cupel run --runs FOLDER", name)
	case strings.Contains(name, "://"):
		return fmt.Errorf("%s is in a store, and this needs the folder of a run; docs/scale.md names the verbs of cupel-fleet that read stores", name)
	case len(inside) > 0:
		return fmt.Errorf("%s is a folder of runs, not a run; name its runs: %s", name, filepath.Join(name, inside[0]))
	case err == nil && info.IsDir():
		return fmt.Errorf("%s has no run.json, so it is not a run folder; name one, or make one with: cupel run", name)
	case err == nil:
		return fmt.Errorf("%s is a file, not a run folder; name the folder that has run.json", name)
	case len(folders) > 0:
		return fmt.Errorf("no run %q below %s; use latest, or %s", name, runs, listed("", folders))
	}
	return fmt.Errorf("no run %q below %s; make one with: cupel run", name, runs)
}

// isRun says whether a folder is a run folder, and when its manifest was written. A folder
// with a table but no manifest is one: reading it reports what is missing.
func isRun(dir string) (written time.Time, ok bool) {
	for _, name := range []string{"run.json", "episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return info.ModTime(), true
		}
	}
	return written, false
}

// Open finds a run that has ended. It reads the episodes only when they are iterated.
func Open(runs, name string) (dir string, m manifest.Manifest, episodes iter.Seq2[ledger.EpisodeRows, error], err error) {
	if dir, err = Find(runs, name); err != nil {
		return dir, m, nil, err
	}
	if m, episodes, err = harness.ReadRun(dir); err == nil && m.Status == "running" {
		err = Unfinished(dir, m)
	}
	return dir, m, episodes, err
}

// Load reads a run's manifest and the rows of its episodes, without their turns.
func Load(runs, name string) (string, manifest.Manifest, []ledger.Episode, error) {
	dir, m, episodes, err := Open(runs, name)
	if err != nil {
		return dir, m, nil, err
	}
	var rows []ledger.Episode
	for e, err := range episodes {
		if err != nil {
			return dir, m, nil, err
		}
		rows = append(rows, e.Episode)
	}
	return dir, m, rows, nil
}

// Unfinished is the error about a run that has no ledger yet.
func Unfinished(dir string, m manifest.Manifest) error {
	return fmt.Errorf("run %s has not ended, so it has no ledger: if it was interrupted, resume with: %s", m.RunID, ResumeHint(dir))
}

// Report builds the report of a run from its ledger, of some of its candidates
// if any are named, and by other thresholds if any are given, as NAME=VALUE.
func Report(runs, name string, thresholds []string, candidates ...string) (string, model.Report, error) {
	dir, m, episodes, err := Open(runs, name)
	if err != nil {
		return dir, model.Report{}, err
	}
	acceptance, err := m.Acceptance.With(thresholds)
	if err != nil {
		return dir, model.Report{}, exit.Usage(fmt.Errorf("--%w", err))
	}
	if thresholds != nil && m.Decide != nil {
		return dir, model.Report{}, exit.Usage(fmt.Errorf("--threshold: the rounds of run %s were decided by its own thresholds; leave the flag out", m.RunID))
	}
	if m.Candidates, err = Only(m, candidates); err != nil {
		return dir, model.Report{}, err
	}
	b := reports.NewBuilder(m)
	b.JudgeBy(acceptance)
	calibrations, err := Calibrations(m)
	if err != nil {
		return dir, model.Report{}, err
	}
	b.SetJudges(calibrations)
	b.SetPast(Past(dir, m))
	for rows, err := range episodes {
		if err != nil {
			return dir, model.Report{}, err
		}
		if len(candidates) == 0 || slices.Contains(candidates, rows.Episode.Candidate) {
			b.Add(rows)
		}
	}
	return dir, b.Report(), nil
}

// Calibrations are those of the judges of a run, in the folder of its suite; none where that is
// not on this machine.
func Calibrations(m manifest.Manifest) ([]judges.Calibration, error) {
	if info, err := os.Stat(m.SuitePath); len(m.Judges) == 0 || err != nil || !info.IsDir() {
		return nil, nil
	}
	list, err := judges.Read(m.SuitePath)
	if err != nil {
		return nil, exit.Usage(err)
	}
	return list, nil
}

// Only returns the candidates with these names, or all if there are no names.
func Only(m manifest.Manifest, names []string) ([]manifest.Candidate, error) {
	if len(names) == 0 {
		return m.Candidates, nil
	}
	var known []string
	for _, c := range m.Candidates {
		known = append(known, c.Name)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, exit.Usage(fmt.Errorf("run %s has no candidate %q; it has: %s", m.RunID, n, strings.Join(known, ", ")))
		}
	}
	return slices.DeleteFunc(m.Candidates, func(c manifest.Candidate) bool { return !slices.Contains(names, c.Name) }), nil
}
