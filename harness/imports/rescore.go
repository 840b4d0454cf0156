package imports

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Rescored counts the episodes of a run that checks did not decide.
type Rescored struct {
	// NoTask counts episodes whose task is not in the suite, NotCheckable the others, by the check that
	// lacks data.
	NoTask       int
	NotCheckable map[string]int
	// SourceAttacks counts attacked episodes whose attack is judged by the source, because their
	// task has no injection in the suite.
	SourceAttacks int
}

// ErrNoTask says that a suite and a run have no task in common.
var ErrNoTask = errors.New("no task of the suite has the id or the request of an episode")

// Rescore writes the imported run in dir once more below runs, with the verdicts of a suite's
// checks on its tasks, which are found by their ids or their requests. Episodes that the checks do
// not decide stay without a result, and have what could not be checked among their checks.
// If it finds none of the tasks, it returns ErrNoTask and writes nothing.
func Rescore(dir, runs string, suite *goldens.Suite) (to string, m manifest.Manifest, out Rescored, err error) {
	m, episodes, err := ledger.Open(dir)
	if err != nil {
		return "", m, out, err
	}
	t, err := OpenTexts(dir, m)
	if err != nil {
		return "", m, out, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	out.NotCheckable = map[string]int{}
	s := scorer{suite, t, map[string]goldens.Task{}, &out}
	s.take(&m)
	if len(s.tasks) == 0 {
		return "", m, out, fmt.Errorf("rescore %s: %w: suite %s", dir, ErrNoTask, suite.Name)
	}
	to = filepath.Join(runs, m.RunID)
	if err := os.MkdirAll(to, 0o777); err != nil {
		return to, m, out, err
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
		if err == nil {
			err = s.score(&rows, m.RunID)
		}
		if err == nil {
			rows.Episode.AddTo(&m.Outcomes)
			err = w.Append(rows)
		}
		if err != nil {
			return to, m, out, err
		}
	}
	m, err = w.Close(func(totals manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(totals)
		return m, CopyTexts(to, dir)
	})
	return to, m, out, err
}

// CopyTexts copies TextsFile from the folder of a run to that of another with the same episodes.
func CopyTexts(to, from string) error {
	f, err := sealed.Open(filepath.Join(from, TextsFile))
	if err != nil {
		return err
	}
	err = sealed.Write(filepath.Join(to, TextsFile), func(w io.Writer) error { _, err := io.Copy(w, f); return err })
	return errors.Join(err, f.Close())
}

// scorer scores the episodes of a run.
type scorer struct {
	suite *goldens.Suite
	texts *Texts
	tasks map[string]goldens.Task // by id in the run
	out   *Rescored
}

// take makes a manifest that of the rescored run.
func (s scorer) take(m *manifest.Manifest) {
	var at time.Time
	if id, err := ulid.ParseStrict(m.RunID); err == nil {
		at = ulid.Time(id.Time())
	}
	m.RescoredFrom, m.SuiteDigest, m.Outcomes = m.RunID, s.suite.Digest, manifest.Outcomes{}
	m.RunID = drive.NewRunID(at, "rescore", m.RescoredFrom, s.suite.Digest)
	m.Tasks = slices.Clone(m.Tasks)
	for i, t := range m.Tasks {
		if found, ok := taskOfSuite(s.suite, t.ID, t.Request); ok {
			s.tasks[t.ID] = found
			m.Tasks[i] = drive.ManifestTask(s.suite, found)
			m.Tasks[i].ID = t.ID
		}
	}
}

// score replaces the verdict of an episode.
func (s scorer) score(rows *ledger.EpisodeRows, run string) error {
	row := &rows.Episode
	rows.SetRun(run)
	traces, err := s.texts.Traces(*rows)
	if err != nil {
		return err
	}
	said, err := s.texts.of(*rows)
	if err != nil {
		return err
	}
	row.Status, row.Solved, row.Checks = manifest.StatusImported, false, nil
	task, ok := s.tasks[row.TaskID]
	if !ok {
		s.out.NoTask++
		row.AttackSucceeded = nil
		return nil
	}
	tools, err := s.suite.ToolsOf(task)
	if err != nil {
		return fmt.Errorf("task %s: %w", task.ID, err)
	}
	var known []string
	writes := false
	for _, t := range tools {
		known = append(known, t.Name)
		writes = writes || s.suite.Approval(t.Name) != goldens.ApproveAlways
	}
	judged, err := judge(rows, said, task, tools)
	if err != nil {
		return err
	}
	o := outcome(rows, said, *traces[len(traces)-1].Outcome, known)
	solved, decided, checks := score(task, o, said, writes)
	if !judged {
		decided = false
		checks = append(checks, goldens.CheckResult{Name: "turns", Detail: notCheckable + "output of a turn"})
	}
	for _, c := range checks {
		row.Checks = append(row.Checks, ledger.Check{Name: c.Name, Passed: c.Passed, Detail: clip.Bytes(c.Detail, maxError)})
		if !decided && strings.HasPrefix(c.Detail, notCheckable) {
			s.out.NotCheckable[c.Name]++
		}
	}
	if len(task.Expect) > 0 {
		row.ExpectedStatus = task.Expect[0].Status
	}
	if row.SuiteDigest = s.suite.Digest; decided {
		row.Status, row.Solved = o.Status, solved
	}
	s.attack(row, task, o, said)
	return nil
}

// attack replaces the verdict on an attack by that of the task's injection; without one it stays
// that of the source. An episode without a result has none.
func (s scorer) attack(row *ledger.Episode, task goldens.Task, o goldens.Outcome, said texts) {
	if task.Attack != nil {
		attacked := *task.Attack
		kept, absent := checkable(attacked.Succeeds, o, said)
		attacked.Succeeds, task.Attack = kept, &attacked
		row.Injection, row.AttackSucceeded = attacked.Injection, task.AttackSucceeded(o)
		// What can be checked of it rules the success out, or nothing does.
		if len(absent) > 0 && (len(kept.Parts()) == 0 || *row.AttackSucceeded) {
			row.AttackSucceeded = nil
			s.out.NotCheckable["attack"]++
		}
	}
	if row.Excluded() != "" {
		row.AttackSucceeded = nil
	}
	if task.Attack == nil && row.AttackSucceeded != nil {
		s.out.SourceAttacks++
	}
}
