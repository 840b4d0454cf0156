package judges

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/goldens/labels"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/stat/judging"
	"github.com/cupel-eval/cupel/reports/words"
)

// calibrate compares the judges of a run with labels, and writes what it finds beside the suite.
func calibrate(w io.Writer, runs, run string, files []string) error {
	dir, m, rows, err := rundir.Load(runs, run)
	if err != nil {
		return err
	}
	if info, err := os.Stat(m.SuitePath); err != nil || !info.IsDir() {
		return exit.Usage(fmt.Errorf("the suite of run %s, %s, is not a folder here: run this where the suite is, because its calibrations are kept beside it", m.RunID, m.SuitePath))
	}
	if len(m.Judges) == 0 {
		return exit.Usage(fmt.Errorf("run %s in %s has no judge; name a run of a suite with judges by --run, or make one with: cupel run", m.RunID, dir))
	}
	known, err := judges.Read(m.SuitePath)
	if err != nil {
		return exit.Usage(err)
	}
	c := newComparison(m, rows)
	var problems []error
	for _, name := range files {
		text, err := regular.ReadFile(name)
		if err != nil {
			return exit.Usage(fmt.Errorf("read labels: %w", err))
		}
		list, err := labels.Read(name, text)
		problems = append(problems, err)
		for _, l := range list.List {
			problems = append(problems, c.add(l))
		}
		c.unlabelled += list.Unlabelled
	}
	if err := errors.Join(problems...); err != nil {
		return exit.Usage(err)
	}
	found, err := c.calibrations()
	if err != nil {
		return exit.Usage(err)
	}
	for _, f := range found {
		known = slices.DeleteFunc(known, func(k judges.Calibration) bool {
			return k.Judge.Check == f.Judge.Check && k.Judge.Threshold() == f.Judge.Threshold()
		})
		known = append(known, f)
	}
	if err := judges.Write(m.SuitePath, known); err != nil {
		return err
	}
	return c.print(w, found, filepath.Join(m.SuitePath, judges.File))
}

// place is an episode and a check of it.
type place struct {
	task, candidate string
	trial           int
	check           string
}

// votes are the verdicts of people on a place; from is where the first one was read.
type votes struct{ pass, fail int }

// comparison collects labels by what they are about.
type comparison struct {
	manifest manifest.Manifest
	episodes map[place]*ledger.Episode // without check
	votes    map[place]*votes
	// judged counts the verdicts in the run by judge and verdict: fail, pass.
	judged                       map[string][2]int
	unlabelled, others, disputed int
}

func newComparison(m manifest.Manifest, rows []ledger.Episode) *comparison {
	c := &comparison{manifest: m, episodes: map[place]*ledger.Episode{}, votes: map[place]*votes{}, judged: map[string][2]int{}}
	for i := range rows {
		e := &rows[i]
		c.episodes[place{task: e.TaskID, candidate: e.Candidate, trial: int(e.Trial)}] = e
		for _, s := range e.Scores {
			if e.Excluded() == "" && strings.HasPrefix(s.Name, manifest.JudgePrefix) {
				n := c.judged[s.Name+s.Digest]
				n[index(s.Pass)]++
				c.judged[s.Name+s.Digest] = n
			}
		}
	}
	return c
}

func index(pass bool) int {
	if pass {
		return 1
	}
	return 0
}

// add adds a label. The error says why it is not one of the run's judges.
func (c *comparison) add(l labels.Label) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", l.At(), fmt.Sprintf(format, args...))
	}
	if !strings.HasPrefix(l.Check, manifest.JudgePrefix) {
		c.others++
		return nil
	}
	if !slices.ContainsFunc(c.manifest.Judges, func(j manifest.Judge) bool { return j.Check == l.Check }) {
		var names []string
		for _, j := range c.manifest.Judges {
			names = append(names, j.Check)
		}
		slices.Sort(names)
		return fail("run %s has no check %q of a judge; it has: %s", c.manifest.RunID, l.Check, strings.Join(slices.Compact(names), ", "))
	}
	if l.Candidate == "" && len(c.manifest.Candidates) == 1 {
		l.Candidate = c.manifest.Candidates[0].Name
	}
	at := place{task: l.Task, candidate: l.Candidate, trial: l.Trial}
	e := c.episodes[at]
	switch {
	case e == nil && l.Candidate == "":
		return fail("has no candidate, and run %s has several", c.manifest.RunID)
	case e == nil:
		return fail("run %s has no episode of task %q, candidate %q, trial %d", c.manifest.RunID, l.Task, l.Candidate, l.Trial)
	case e.Excluded() != "":
		return fail("the episode of task %q, candidate %q, trial %d has no result (%s)", l.Task, l.Candidate, l.Trial, e.Excluded())
	case scoreOf(e, l.Check) == nil:
		return fail("%s did not judge task %q; remove the label", l.Check, l.Task)
	}
	at.check = l.Check
	if c.votes[at] == nil {
		c.votes[at] = &votes{}
	}
	if l.Pass {
		c.votes[at].pass++
	} else {
		c.votes[at].fail++
	}
	return nil
}

func scoreOf(e *ledger.Episode, check string) *ledger.Score {
	for i := range e.Scores {
		if e.Scores[i].Name == check {
			return &e.Scores[i]
		}
	}
	return nil
}

// calibrations are those of the judges that have labels. Of several labels of an episode the
// majority counts.
func (c *comparison) calibrations() (list []judges.Calibration, err error) {
	type of struct {
		task, key string
	}
	counts := map[of]judges.Count{}
	labelled := map[string][2]int{}
	for at, v := range c.votes {
		if v.pass == v.fail {
			c.disputed++
			continue
		}
		s := scoreOf(c.episodes[place{task: at.task, candidate: at.candidate, trial: at.trial}], at.check)
		key := of{at.task, s.Name + s.Digest}
		n := counts[key]
		switch people := v.pass > v.fail; {
		case people && s.Pass:
			n.PassPass++
		case people:
			n.PassFail++
		case s.Pass:
			n.FailPass++
		default:
			n.FailFail++
		}
		counts[key] = n
		by := labelled[key.key]
		by[index(s.Pass)]++
		labelled[key.key] = by
	}
	for _, j := range c.manifest.Judges {
		key := j.Check + j.Digest
		had, all := labelled[key], c.judged[key]
		if had == [2]int{} {
			continue
		}
		out := judges.Calibration{Judge: j, Labels: had[0] + had[1], PassWeight: weight(had, all, 1), FailWeight: weight(had, all, 0)}
		equal := map[judges.Count]int{}
		for k, n := range counts {
			if k.key == key {
				equal[n]++
				out.Tasks++
			}
		}
		for n, tasks := range equal {
			n.Tasks = tasks
			out.Counts = append(out.Counts, n)
		}
		slices.SortFunc(out.Counts, func(a, b judges.Count) int {
			return cmp.Or(cmp.Compare(b.PassPass, a.PassPass), cmp.Compare(b.FailFail, a.FailFail), cmp.Compare(b.PassFail, a.PassFail), cmp.Compare(b.FailPass, a.FailPass))
		})
		list = append(list, out)
	}
	if list == nil {
		return nil, fmt.Errorf("no row is the label of a judge: its check must be one of %s, and its verdict pass or fail", strings.Join(slices.Sorted(maps.Keys(c.checks())), ", "))
	}
	return list, nil
}

func (c *comparison) checks() map[string]bool {
	names := map[string]bool{}
	for _, j := range c.manifest.Judges {
		names[j.Check] = true
	}
	return names
}

// weight is what a label counts whose episode has a verdict of the judge: more than 1 if such
// episodes are rarer among the labels than in the run. Samples often have more of rare verdicts.
func weight(had, all [2]int, verdict int) float64 {
	labels, judged := float64(had[0]+had[1]), float64(all[0]+all[1])
	if had[0] == 0 || had[1] == 0 {
		return 1
	}
	w := (float64(all[verdict]) / judged) / (float64(had[verdict]) / labels)
	return math.Round(w*1e6) / 1e6
}

func (c *comparison) print(w io.Writer, found []judges.Calibration, file string) error {
	t := console.Table(w, "judge", "labels", "tasks", "agreement", "kappa", "sensitivity", "specificity")
	var advice []string
	for _, f := range found {
		a := f.Agreement()
		name := strings.TrimPrefix(f.Judge.Check, manifest.JudgePrefix)
		if f.Judge.AtLeast != nil {
			name += fmt.Sprintf(" (at least %g)", *f.Judge.AtLeast)
		}
		kappa := "–"
		if a.Kappa.Value != nil {
			kappa = fmt.Sprintf("%.2f", *a.Kappa.Value)
		}
		t.AppendRow(table.Row{name, f.Labels, f.Tasks, judges.Text(a.Agreement), kappa, judges.Text(a.Sensitivity), judges.Text(a.Specificity)})
		advice = append(advice, advise(name, f, a)...)
	}
	t.Render()
	for _, n := range []struct {
		n    int
		text string
	}{
		{c.unlabelled, "row without a verdict"}, {c.others, "label of something else than a judge"}, {c.disputed, "episode on which people disagree evenly"},
	} {
		if n.n > 0 {
			advice = append(advice, "Left out: "+words.Plural(n.n, n.text)+".")
		}
	}
	advice = append(advice, fmt.Sprintf("Wrote %s. It holds for this rubric, model and prompt; commit it with the suite.", file))
	_, err := fmt.Fprintln(w, strings.Join(advice, "\n"))
	return err
}

// advise says what labels are missing.
func advise(name string, f judges.Calibration, a judges.Agreement) (list []string) {
	var sum judging.Table
	for _, t := range f.Counts {
		sum.PassPass, sum.FailFail = sum.PassPass+float64(t.Tasks*(t.PassPass+t.PassFail)), sum.FailFail+float64(t.Tasks*(t.FailPass+t.FailFail))
	}
	const few = 20
	if sum.PassPass < few {
		list = append(list, fmt.Sprintf("Judge %s: only %.0f labels say pass, so the sensitivity is uncertain; label more such episodes.", name, sum.PassPass))
	}
	if sum.FailFail < few {
		list = append(list, fmt.Sprintf("Judge %s: only %.0f labels say fail, so the specificity is uncertain; label more such episodes.", name, sum.FailFail))
	}
	if s, p := a.Sensitivity.Value, a.Specificity.Value; s != nil && p != nil && *s+*p <= 1 {
		list = append(list, fmt.Sprintf("Judge %s: its verdicts say nothing, because sensitivity and specificity together do not exceed 100%%; change the rubric or the model.", name))
	}
	if f.PassWeight != 1 || f.FailWeight != 1 {
		list = append(list, fmt.Sprintf("Judge %s: labels are weighted by the judge's verdict (pass %.2f, fail %.2f), as the run has its verdicts in other shares than the labels.", name, f.PassWeight, f.FailWeight))
	}
	return list
}
