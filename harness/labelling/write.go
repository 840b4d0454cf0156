package labelling

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/cupel-eval/cupel/goldens/labels"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/work"
)

// maxProblems bounds the labels that are listed as bad.
const maxProblems = 50

// Written says what became of labels.
type Written struct {
	// New labels were added, Replaced ones were given again by the same person, Same ones were
	// there already. Kept are those of the run on which the files say nothing.
	New, Replaced, Same, Kept int
}

// ProblemsError has what is wrong with labels, a line for each.
type ProblemsError struct{ err error }

func (e *ProblemsError) Error() string { return e.err.Error() }

// Unwrap returns the problems.
func (e *ProblemsError) Unwrap() error { return e.err }

type episodeKey struct {
	task, candidate string
	trial           int
}

// Write writes the run in dir once more below runs, with labels, and returns the folder. The run
// itself is not changed. Labels of a labelled run are kept; one that the same person gives again
// replaces the earlier one. Labels that fit no episode or check of the run are a *ProblemsError, and
// nothing is written then.
func Write(dir, runs string, list []labels.Label, files []manifest.SourceFile) (to string, m manifest.Manifest, out Written, err error) {
	m, episodes, err := ledger.Open(dir)
	if err != nil {
		return "", m, out, err
	}
	by, err := assign(m, list)
	if err == nil {
		err = check(dir, m, by)
	}
	if err != nil {
		return "", m, out, err
	}
	var at time.Time
	if id, err := ulid.ParseStrict(m.RunID); err == nil {
		at = ulid.Time(id.Time())
	}
	parts := []string{"label", m.RunID}
	for _, f := range files {
		parts = append(parts, f.Digest)
	}
	m.LabelledFrom = m.RunID
	m.RunID = drive.NewRunID(at, parts...)
	m.Labels = append(slices.Clip(m.Labels), files...)
	to = filepath.Join(runs, m.RunID)
	if err := os.MkdirAll(to, 0o777); err != nil {
		return to, m, out, fmt.Errorf("make run folder %s: %w", to, err)
	}
	unlock, err := ledger.Lock(to)
	if err != nil {
		return to, m, out, err
	}
	defer unlock()
	w, err := ledger.NewWriter(to)
	if err != nil {
		return to, m, out, err
	}
	defer w.Abort()
	for rows, err := range episodes {
		if err != nil {
			return to, m, out, err
		}
		rows.SetRun(m.RunID)
		e := &rows.Episode
		e.Labels = out.merge(e.Labels, by[episodeKey{e.TaskID, e.Candidate, int(e.Trial)}])
		if err := w.Append(rows); err != nil {
			return to, m, out, err
		}
	}
	m, err = w.Close(func(t manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(t)
		err := episode.CopyAnswers(to, dir)
		if m.Imported.Format != "" {
			err = errors.Join(err, imports.CopyTexts(to, dir))
		}
		return m, err
	})
	return to, m, out, err
}

// assign sorts labels by their episodes. Labels without a candidate are those of the only one.
func assign(m manifest.Manifest, list []labels.Label) (map[episodeKey][]labels.Label, error) {
	by := map[episodeKey][]labels.Label{}
	var errs []error
	type rating struct {
		episodeKey
		check, labeller string
	}
	first := map[rating]labels.Label{}
	for _, l := range list {
		if l.Candidate == "" {
			if len(m.Candidates) != 1 {
				errs = append(errs, fmt.Errorf("%s: names no candidate, and the run has %d", l.At(), len(m.Candidates)))
				continue
			}
			l.Candidate = m.Candidates[0].Name
		}
		key := episodeKey{l.Task, l.Candidate, l.Trial}
		r := rating{key, l.Check, l.Labeller}
		if before, twice := first[r]; twice {
			if before.Pass != l.Pass {
				errs = append(errs, fmt.Errorf("%s: %q labelled this in %s already, with the other verdict", l.At(), l.Labeller, before.At()))
			}
			continue
		}
		first[r] = l
		by[key] = append(by[key], l)
	}
	return by, bounded(errs)
}

// check says which labels fit no episode of a run, or none of its checks.
func check(dir string, m manifest.Manifest, by map[episodeKey][]labels.Label) error {
	type problem struct {
		labels.Label
		text string
	}
	var bad []problem
	left := map[episodeKey]bool{}
	for key := range by {
		left[key] = true
	}
	for rows, err := range ledger.Scan(dir) {
		if err != nil {
			return err
		}
		e := &rows.Episode
		key := episodeKey{e.TaskID, e.Candidate, int(e.Trial)}
		delete(left, key)
		for _, l := range by[key] {
			if why := e.Excluded(); why != "" && why != manifest.NotScored {
				bad = append(bad, problem{l, "the episode has no result: " + why})
			} else if _, known := e.Automatic(l.Check); !known && l.Check != "" {
				bad = append(bad, problem{l, fmt.Sprintf("the episode has no check %q; it has: %s", l.Check, strings.Join(checksOf(e), ", "))})
			}
		}
	}
	for key := range left {
		for _, l := range by[key] {
			bad = append(bad, problem{l, fmt.Sprintf("run %s has no episode of task %q, candidate %q, trial %d", m.RunID, l.Task, l.Candidate, l.Trial)})
		}
	}
	slices.SortFunc(bad, func(a, b problem) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	var errs []error
	for _, p := range bad {
		errs = append(errs, fmt.Errorf("%s: %s", p.At(), p.text))
	}
	return bounded(errs)
}

// bounded joins errors, of which not all are listed if there are many.
func bounded(errs []error) error {
	if more := len(errs) - maxProblems; more > 0 {
		errs = append(errs[:maxProblems], fmt.Errorf("%d more problems are not listed", more))
	}
	if len(errs) == 0 {
		return nil
	}
	return &ProblemsError{errors.Join(errs...)}
}

// checksOf names the checks of an episode, those with scores first.
func checksOf(e *ledger.Episode) (names []string) {
	for _, s := range e.Scores {
		names = append(names, s.Name)
	}
	for _, c := range e.Checks {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if names == nil {
		names = []string{"none"}
	}
	return names
}

// merge adds labels to those that an episode has, in the order of the column.
func (w *Written) merge(has []work.Label, list []labels.Label) []work.Label {
	has = slices.Clone(has)
	w.Kept += len(has)
	for _, l := range list {
		row := work.Label{Check: l.Check, Labeller: l.Labeller, Pass: l.Pass, Score: l.Score}
		at := slices.IndexFunc(has, func(h work.Label) bool { return h.Check == l.Check && h.Labeller == l.Labeller })
		switch {
		case at < 0:
			w.New++
			has = append(has, row)
			continue
		case equal(has[at], row):
			w.Same++
		default:
			w.Replaced++
		}
		w.Kept--
		has[at] = row
	}
	slices.SortFunc(has, func(a, b work.Label) int {
		return cmp.Or(cmp.Compare(a.Check, b.Check), cmp.Compare(a.Labeller, b.Labeller))
	})
	return has
}

func equal(a, b work.Label) bool {
	return a.Pass == b.Pass && (a.Score == nil) == (b.Score == nil) && (a.Score == nil || *a.Score == *b.Score)
}
