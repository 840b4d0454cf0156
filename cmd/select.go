package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// selectFlags are the flags of run that narrow it by number or by an earlier run.
type selectFlags struct {
	shard, failedIn, changedSince string
	// why says, once narrowed, what an episode must be to be kept.
	why []string
}

// noteSkippedRuns says on standard error which newer runs the command line's "latest" or
// "previous" does not mean, so that no verdict is taken for that of another run.
func (p *process) noteSkippedRuns(c *cobra.Command) {
	names := slices.Clone(c.Flags().Args())
	for _, name := range []string{"baseline", "failed-in", "changed-since", "from"} {
		if f := c.Flags().Lookup(name); f != nil && f.Changed {
			names = append(names, strings.Split(strings.Trim(f.Value.String(), "[]"), ",")...)
		}
	}
	for i, name := range names {
		names[i], _, _ = strings.Cut(strings.ReplaceAll(name, ":", "/"), "/")
		if note := rundir.Skipped(p.cfg.Runs, names[i]); note != "" && !slices.Contains(names[:i], names[i]) {
			_, _ = fmt.Fprintln(p.stderr, "cupel: "+note)
		}
	}
}

// selectionFlags select tasks and candidates by name.
func selectionFlags(fl *pflag.FlagSet, sel *harness.Selection) {
	fl.StringSliceVar(&sel.Tasks, "task", nil, "run these tasks only; patterns allowed, repeatable")
	fl.StringSliceVar(&sel.Candidates, "candidate", nil, "run these candidates only; patterns allowed, repeatable")
	fl.StringSliceVar(&sel.Tags, "tag", nil, "run tasks with this tag or tier only; repeatable")
}

func (f *selectFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.shard, "shard", "", "run only shard `i/n`, such as 1/4; adding tasks does not move an episode to another shard")
	fl.StringVar(&f.failedIn, "failed-in", "", "run only episodes that `RUN` did not solve or has no result for")
	fl.StringVar(&f.changedSince, "changed-since", "", "run only episodes whose task or candidate changed since `RUN`, or that it has no result for")
}

// narrow lays the flags over the selection of o. Of two runs both must keep an
// episode.
func (f *selectFlags) narrow(runs string, o *harness.Options) (err error) {
	if f.shard != "" {
		if o.Select.Shard, err = harness.ParseShard(f.shard); err != nil {
			return exit.Usage(fmt.Errorf("--%w", err))
		}
	}
	if f.failedIn == "" && f.changedSince == "" {
		return nil
	}
	if o.Fork != nil {
		return exit.Usage(errors.New("--failed-in and --changed-since select by task and candidate; --fork has one episode of its own: leave one out"))
	}
	var filters []episodeFilter
	if f.failedIn != "" {
		m, episodes, err := earlier(runs, f.failedIn, o.Suite)
		if err != nil {
			return fmt.Errorf("--failed-in: %w", err)
		}
		filters, f.why = append(filters, failedIn(m, episodes)), append(f.why, "failed in "+m.RunID)
	}
	if f.changedSince != "" {
		m, episodes, err := earlier(runs, f.changedSince, o.Suite)
		if err == nil {
			err = digested(m)
		}
		if err != nil {
			return fmt.Errorf("--changed-since: %w", err)
		}
		filters, f.why = append(filters, changedSince(m, episodes, o)), append(f.why, "has changed since "+m.RunID)
	}
	o.Select.Episode = func(task, candidate string, trial int) bool {
		return !slices.ContainsFunc(filters, func(keeps episodeFilter) bool { return !keeps(task, candidate, trial) })
	}
	return nil
}

// nothing says that no episode was left.
func (f selectFlags) nothing(err error) error {
	if f.why == nil {
		return err
	}
	return fmt.Errorf("nothing to run: of what is selected, nothing %s", strings.Join(f.why, " and "))
}

// episodeFilter says whether an episode is kept.
type episodeFilter func(task, candidate string, trial int) bool

// failedIn keeps what a run did not solve and what it has no result of. Where it
// was interrupted, that is what has no row: the manifest does not say which
// episodes its own selection had left out.
func failedIn(m manifest.Manifest, episodes map[cell]outcome) episodeFilter {
	tasks, candidates := map[string]bool{}, map[string]bool{}
	for _, t := range m.Tasks {
		tasks[t.ID] = true
	}
	for _, c := range m.Candidates {
		candidates[c.Name] = true
	}
	return func(task, candidate string, trial int) bool {
		if e, ok := episodes[cell{task, candidate, trial}]; ok {
			return !e.solved
		}
		return m.Outcomes.Unfinished > 0 && tasks[task] && candidates[candidate] && trial <= m.Trials
	}
}

// digested refuses a run that does not say what it was made from.
func digested(m manifest.Manifest) error {
	without := slices.ContainsFunc(m.Tasks, func(t manifest.Task) bool { return t.Digest == "" }) ||
		slices.ContainsFunc(m.Candidates, func(c manifest.Candidate) bool { return c.Digest == "" })
	if without {
		return exit.Usage(fmt.Errorf("run %s was made by an older cupel and has no task digests; make a new run with: cupel run", m.RunID))
	}
	return nil
}

// changedSince keeps what a run has no result of, and what its tasks and
// candidates are no longer.
func changedSince(m manifest.Manifest, episodes map[cell]outcome, o *harness.Options) episodeFilter {
	was := map[string]string{} // of tasks by id, of candidates by / and name
	for _, t := range m.Tasks {
		was[t.ID] = t.Digest
	}
	for _, c := range m.Candidates {
		was["/"+c.Name] = c.Digest
	}
	changed := map[string]bool{}
	for _, t := range o.Suite.Tasks {
		changed[t.ID] = was[t.ID] != o.Suite.TaskDigest(t)
	}
	for _, c := range o.Candidates {
		if sampling, err := o.Policy.Resolve(c.Provider, "action"); err == nil {
			c.Model = cmp.Or(c.Model, sampling.Model) // as the run had it
		}
		changed["/"+c.Name] = was["/"+c.Name] != harness.CandidateDigest(c)
	}
	return func(task, candidate string, trial int) bool {
		return changed[task] || changed["/"+candidate] || !episodes[cell{task, candidate, trial}].result
	}
}

// cell is an episode by what it is of.
type cell struct {
	task, candidate string
	trial           int
}

// outcome is what an earlier run says of an episode.
type outcome struct{ solved, result bool }

// earlier reads a run, which must be of the same suite, without holding its rows.
func earlier(runs, name string, suite *goldens.Suite) (m manifest.Manifest, episodes map[cell]outcome, err error) {
	_, m, rows, err := rundir.Open(runs, name)
	switch {
	case err != nil:
		return m, nil, err
	case m.Suite != suite.Name:
		return m, nil, exit.Usage(fmt.Errorf("run %s is of suite %s, and this is suite %s: name a run of the same suite", m.RunID, m.Suite, suite.Name))
	case m.Fork != nil:
		return m, nil, exit.Usage(fmt.Errorf("run %s is a fork: its episodes are none of the suite's; name another run", m.RunID))
	}
	episodes = map[cell]outcome{}
	for rec, err := range rows {
		if err != nil {
			return m, nil, err
		}
		e := rec.Episode
		episodes[cell{e.TaskID, e.Candidate, int(e.Trial)}] = outcome{solved: e.Solved, result: e.Excluded() == ""}
	}
	return m, episodes, nil
}
