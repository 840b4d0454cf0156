package rundir

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/parallel"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/trend"
)

// Limits of the earlier runs that a report reads.
const (
	// historyFolders are those whose run.json changed last, historyBytes what their
	// run.json may have in all.
	historyFolders = 1000
	historyBytes   = 64 << 20
	// historyRuns is the largest number of runs in which changes are searched for, with the
	// run itself; a report shows the newest trend.Shown of them. Of more, the oldest
	// historyStep are left out together, so the search starts at the same run for as many
	// nights, and what it finds stays.
	historyRuns, historyStep = 200, 50
)

// Past returns the figures of earlier runs comparable to the one in dir, oldest first, and
// a note on those that cannot be read. A replay has no time, so it has no earlier runs and
// is not one.
func Past(dir string, m manifest.Manifest) (runs []trend.Run, note string) {
	if !timed(m) {
		return nil, ""
	}
	found, problems := pastRuns(filepath.Join(dir, ".."), m)
	each, errs := make([][]trend.Run, len(found)), make([]error, len(found))
	parallel.Each(len(found), func(i int) {
		each[i], errs[i] = model.ReadTrendRuns(found[i].dir, found[i].Manifest)
	})
	for i, err := range errs {
		if err != nil {
			problems = append(problems, problem(found[i].dir, err))
			continue
		}
		runs = append(runs, each[i]...)
	}
	if len(problems) > 0 {
		note = fmt.Sprintf("Past runs left out of the trend because they cannot be read: %d. The first: %s", len(problems), problems[0])
	}
	return runs, note
}

// pastRun is an earlier run and its folder.
type pastRun struct {
	manifest.Manifest
	dir string
}

// origins are the ids of the runs with these episodes: scoring again and labels copy them to a new
// run.
func origins(m manifest.Manifest) []string {
	return slices.DeleteFunc([]string{m.RunID, m.RescoredFrom, m.LabelledFrom}, func(id string) bool { return id == "" })
}

// pastRuns returns the newest runs below a folder that started before that of m and are
// comparable, oldest first. It counts no episode twice: it leaves out the shards of a
// merged run, and of a run, its rescorings and those with labels keeps only the one scored by
// m's suite, or else the run itself.
func pastRuns(folder string, m manifest.Manifest) (runs []pastRun, problems []string) {
	all, problems := manifests(folder, m)
	parts := map[string]bool{}
	take := func(m manifest.Manifest) {
		for _, id := range origins(m) {
			parts[id] = true
		}
	}
	take(m)
	for _, r := range append(all, pastRun{Manifest: m}) {
		for _, id := range r.MergedFrom {
			parts[id] = true
		}
	}
	slices.SortFunc(all, func(a, b pastRun) int {
		own := func(r pastRun) int { // which of a run and its rescorings comes first
			switch {
			case r.SuiteDigest == m.SuiteDigest:
				return 0
			case r.RescoredFrom == "" && r.LabelledFrom == "":
				return 1
			}
			return 2
		}
		return cmp.Or(cmp.Compare(own(a), own(b)), cmp.Compare(a.RunID, b.RunID))
	})
	for _, r := range all {
		if !slices.ContainsFunc(origins(r.Manifest), func(id string) bool { return parts[id] }) {
			take(r.Manifest)
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b pastRun) int { return byTime(a.Manifest, b.Manifest) })
	excess := max(0, len(runs)+1-historyRuns)
	return runs[(excess+historyStep-1)/historyStep*historyStep:], problems
}

// manifests returns those of the runs below a folder that started before that of m and are
// comparable. A run without a readable manifest is a problem.
func manifests(folder string, m manifest.Manifest) (all []pastRun, problems []string) {
	folders, err := manifest.Newest(folder, "", historyFolders, historyBytes)
	if err != nil {
		return nil, []string{problem(folder, err)}
	}
	for _, f := range folders {
		past, _, err := harness.ReadRun(f.Dir)
		switch {
		case err != nil:
			problems = append(problems, problem(f.Dir, err))
		case timed(past) && byTime(past, m) < 0 && sameTaskSet(past, m):
			past.Candidates = slices.DeleteFunc(past.Candidates, func(c manifest.Candidate) bool {
				return !slices.ContainsFunc(m.Candidates, func(own manifest.Candidate) bool { return own.Name == c.Name })
			})
			all = append(all, pastRun{past, f.Dir})
		}
	}
	return all, problems
}

// problem is the text of an error, without the path that leads to the run folder.
func problem(dir string, err error) string {
	return filepath.Base(dir) + ": " + strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
}

// timed says that a run has a start time, has ended, and is neither a shard nor a fork.
func timed(m manifest.Manifest) bool {
	_, err := time.Parse(time.RFC3339Nano, m.Started)
	return err == nil && m.Status != "running" && m.Shard == "" && m.Fork == nil
}

func byTime(a, b manifest.Manifest) int {
	s, _ := time.Parse(time.RFC3339Nano, a.Started) // both are timed
	t, _ := time.Parse(time.RFC3339Nano, b.Started)
	return cmp.Or(s.Compare(t), cmp.Compare(a.RunID, b.RunID))
}

// sameTaskSet says that two runs can be in one trend: they are of one suite and share at
// least nine of ten tasks, because a rate of a few tasks is not comparable to that of all.
func sameTaskSet(a, b manifest.Manifest) bool {
	known := map[string]bool{}
	for _, t := range a.Tasks {
		known[t.ID] = true
	}
	common := 0
	for _, t := range b.Tasks {
		if known[t.ID] {
			common++
		}
	}
	return a.Suite == b.Suite && 10*common >= 9*max(len(a.Tasks), len(b.Tasks))
}
