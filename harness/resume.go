package harness

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/recorder"
)

// ErrComplete means that the run to be resumed is already complete.
var ErrComplete = errors.New("already complete; nothing to resume")

// ErrNothingSelected means that Selection.Episode did not accept any episode.
var ErrNothingSelected = errors.New("the selection leaves no episode")

// resumption is the interrupted run that is resumed.
type resumption struct {
	manifest manifest.Manifest
	episodes drive.EpisodeList // its plan, in ledger order
}

// lockRun locks a resumed run against other processes.
func lockRun(o Options) (unlock func(), err error) {
	if o.Resume != filepath.Base(o.Resume) || o.Runs == "" {
		return nil, &ConfigError{fmt.Errorf("resume %.60q: must be the id of a run below the runs folder", o.Resume)}
	}
	dir := filepath.Join(o.Runs, o.Resume)
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("resume run: %w", err)
	}
	return ledger.Lock(dir)
}

// loadResumed reads the run that is resumed. Its plan replaces the selection, because the
// inputs of the selection, such as another run or stale cassettes, may have changed since.
func loadResumed(r *runner) error {
	if r.Resume == "" {
		return nil
	}
	dir := filepath.Join(r.Runs, r.Resume)
	m, err := manifest.Read(dir)
	if err == nil {
		err = resumable(m)
	}
	var episodes drive.EpisodeList
	if err == nil {
		episodes, err = readPlan(dir)
	}
	planned := 0
	for _, c := range m.Candidates {
		planned += c.Planned
	}
	if err == nil && m.Decide == nil && planned != len(episodes.Cells) {
		err = fmt.Errorf("%s is damaged: it has %d of %d episodes; start a new run", planFile, len(episodes.Cells), planned)
	}
	if err == nil && m.Mode != string(recorder.Replay) {
		r.today, err = time.Parse(time.RFC3339Nano, m.Started)
	}
	if err != nil {
		return fmt.Errorf("resume run %s: %w", r.Resume, err)
	}
	r.resumed = &resumption{m, episodes}
	r.Stale, r.Select = false, selectionOf(&episodes, r.Fork)
	return nil
}

// resumable returns an error if a run cannot be resumed itself.
func resumable(m manifest.Manifest) error {
	switch {
	case m.Status == "complete":
		return ErrComplete
	case m.MergedFrom != nil:
		return &ConfigError{errors.New("merged from shards; resume the incomplete shards, run the missing ones, and merge again")}
	case m.RescoredFrom != "":
		return &ConfigError{fmt.Errorf("rescored from run %s; resume that run, then rescore", m.RescoredFrom)}
	case m.LabelledFrom != "":
		return &ConfigError{fmt.Errorf("run %s with labels; resume that run, then import the labels", m.LabelledFrom)}
	}
	return nil
}

// selectionOf selects exactly these episodes.
func selectionOf(episodes *drive.EpisodeList, fork *Fork) Selection {
	base := func(candidate string) string { return candidate }
	if fork != nil {
		base = fork.Base
	}
	s := Selection{Exact: true}
	s.Candidates, s.Episode = episodes.Filter(base)
	return s
}

// checkResumed returns an error if the plan differs from that of the resumed run.
func checkResumed(r *runner) error {
	if r.resumed == nil {
		if r.plan.len() == 0 && r.Select.Shard.Count <= 1 {
			return ErrNothingSelected
		}
		return nil
	}
	m := r.resumed.manifest
	errs := differences(r, m)
	if was, is := decisionKey(m.Decide), decisionKey(r.decision()); was != is {
		errs = append(errs, changed("the rounds, the baselines or the thresholds", was, is))
	}
	if len(errs) == 0 && (!samePlan(r) || m.Decide != nil && m.PlanDigest != r.plan.digest) {
		errs = append(errs, errors.New("the plan cannot be rebuilt from the current suite and configuration"))
	}
	if len(errs) > 0 {
		return &ConfigError{fmt.Errorf("run %s cannot be resumed; undo these changes or start a new run:\n%w", r.Resume, errors.Join(errs...))}
	}
	return nil
}

// differences returns what rules out that r continues the run of m.
func differences(r *runner, m manifest.Manifest) (errs []error) {
	for _, d := range []struct{ what, was, is string }{
		{"the mode", m.Mode, string(r.Mode)},
		{"the suite", m.SuiteDigest, r.Suite.Digest},
		{"the candidates, the policy or the seed", m.ConfigDigest, r.configDigest},
		{"the price table", m.PriceDigest, r.priceDigest},
		{"cupel itself", m.CodeVersion, r.CodeVersion},
	} {
		if d.was != d.is {
			errs = append(errs, changed(d.what, d.was, d.is))
		}
	}
	return errs
}

func changed(what, was, is string) error {
	return fmt.Errorf("%s changed since the run began: %.12s → %.12s", what, was, is)
}

func samePlan(r *runner) bool {
	was := &r.resumed.episodes
	if r.plan.len() != len(was.Cells) {
		return false
	}
	for i := range was.Cells {
		if at, ok := r.plan.find(was.At(i)); !ok || at != i {
			return false
		}
	}
	return true
}

// The plan file of an incomplete run has one line TASK/CANDIDATE/TRIAL per episode, in
// ledger order.

var episodeLine = lazyregexp.New(`^([^/\n]+)/([^/\n]+)/([1-9][0-9]{0,8})$`)

// splitEpisode is the inverse of episodeName for the lines of a plan.
func splitEpisode(name string) (task, candidate string, trial int) {
	parts := strings.Split(name, "/")
	trial, _ = strconv.Atoi(parts[2]) // digits
	return parts[0], parts[1], trial
}

// writePlan writes the plan and the caller's settings to the run folder. Both must be on
// disk before the manifest, because any run with a manifest can be resumed.
func writePlan(r *runner, dir string) error {
	err := sealed.Write(filepath.Join(dir, planFile), func(w io.Writer) error {
		for i := range r.plan.len() {
			if _, err := fmt.Fprintln(w, r.plan.name(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return writeSettings(r, dir)
}

// writeSettings replaces the caller's settings in the run folder, so that a cap raised on
// resuming applies to later resumes.
func writeSettings(r *runner, dir string) error {
	err := sealed.Write(filepath.Join(dir, settingsFile), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\n", r.Settings)
		return err
	})
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

func readPlan(dir string) (list drive.EpisodeList, err error) {
	f, err := sealed.Open(filepath.Join(dir, planFile))
	if err != nil {
		return list, fmt.Errorf("read plan: %w", err)
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewScanner(f)
	for in.Scan() {
		if !episodeLine.MatchString(in.Text()) {
			return list, fmt.Errorf("%s, line %d: %.80q is not TASK/CANDIDATE/TRIAL", planFile, len(list.Cells)+1, in.Text())
		}
		list.Add(splitEpisode(in.Text()))
	}
	return list, in.Err()
}

// maxSettings bounds Options.Settings, in bytes.
const maxSettings = 1 << 20

// ReadSettings returns the Options.Settings of an incomplete run from its folder, and
// ErrComplete for a complete one.
func ReadSettings(dir string) ([]byte, error) {
	m, err := manifest.Read(dir)
	if err != nil {
		return nil, err
	}
	if err := resumable(m); err != nil {
		atomicfile.Sweep(dir) // temporary files of a killed repetition of a replay
		return nil, fmt.Errorf("run %s: %w", m.RunID, err)
	}
	text, err := sealed.Read(filepath.Join(dir, settingsFile), maxSettings)
	if err != nil {
		return nil, fmt.Errorf("read settings of run %s: %w", m.RunID, err)
	}
	return bytes.TrimSuffix(text, []byte{'\n'}), nil
}

// loadAnswers loads the human answers of the episodes that are not run again.
func loadAnswers(r *runner, s *store) error {
	list, err := episode.ReadAnswers(s.dir)
	if err != nil || len(list) == 0 {
		return err
	}
	done := map[string]bool{}
	for i := range s.plan.len() {
		done[s.plan.name(i)] = !s.todo[i]
	}
	for _, a := range list {
		if done[drive.EpisodeName(a.Task, a.Candidate, a.Trial)] {
			r.answers.Take(a)
		}
	}
	return nil
}
