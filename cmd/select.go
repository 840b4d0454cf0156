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

// selectFlags are the flags of run that select episodes by shard or by an earlier run.
type selectFlags struct {
	shard, failedIn, changedSince string
	// why names the conditions that narrow found on the command line.
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

// narrow adds the flags to the selection of o. If two runs are named, an episode must match
// both.
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
		return exit.Usage(errors.New("--failed-in and --changed-since select by task and candidate, and --fork names one episode; remove one of them"))
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

// nothing is the error that no episode was selected.
func (f selectFlags) nothing(err error) error {
	if f.why == nil {
		return err
	}
	return fmt.Errorf("nothing to run: no selected episode %s", strings.Join(f.why, " and "))
}

// episodeFilter says whether an episode is kept.
type episodeFilter func(task, candidate string, trial int) bool

// failedIn selects the episodes that a run did not solve or has no result of. If the run
// was interrupted, these include all without a row, because the manifest does not say
// which episodes its selection left out.
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

// digested refuses a run without digests of its tasks and candidates.
func digested(m manifest.Manifest) error {
	without := slices.ContainsFunc(m.Tasks, func(t manifest.Task) bool { return t.Digest == "" }) ||
		slices.ContainsFunc(m.Candidates, func(c manifest.Candidate) bool { return c.Digest == "" })
	if without {
		return exit.Usage(fmt.Errorf("run %s was made by an older cupel and has no task digests; make a new run with: cupel run", m.RunID))
	}
	return nil
}

// changedSince selects the episodes whose task or candidate changed since a run, and those
// that it has no result of.
func changedSince(m manifest.Manifest, episodes map[cell]outcome, o *harness.Options) episodeFilter {
	was := map[string]string{} // digests: tasks by id, candidates by / and name
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

// cell identifies an episode.
type cell struct {
	task, candidate string
	trial           int
}

// outcome is the result of an episode in an earlier run.
type outcome struct{ solved, result bool }

// earlier reads the outcomes of a run, which must be of the same suite.
func earlier(runs, name string, suite *goldens.Suite) (m manifest.Manifest, episodes map[cell]outcome, err error) {
	_, m, rows, err := rundir.Open(runs, name)
	switch {
	case err != nil:
		return m, nil, err
	case m.Suite != suite.Name:
		return m, nil, exit.Usage(fmt.Errorf("run %s is of suite %s, not of suite %s; name a run of the same suite", m.RunID, m.Suite, suite.Name))
	case m.Fork != nil:
		return m, nil, exit.Usage(fmt.Errorf("run %s is a fork, whose episodes are not those of the suite; name another run", m.RunID))
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
