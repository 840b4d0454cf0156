package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/join"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/rerun"
)

func newMerge(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge RUN…",
		Short: "Merge sharded runs into one run",
		Long: `Merges runs made with "cupel run --shard i/n" into one run, with the ledger and report of
an unsharded run. The shards may come from other machines; cupel only reads them.

It refuses shards of different suites, configurations, price tables, versions of cupel or
plans, and names the reasons. If a shard is missing, the merged run is partial: you can
read it, but it never passes the gate. Details: docs/runs.md.`,
		Example: `  cupel merge runs/01JA… runs/01JB… runs/01JC…
  cupel merge shards/*/ --runs merged`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, args []string) error {
			var dirs []string
			for _, name := range args {
				dir, err := rundir.Find(cfg.Runs, name)
				if err != nil {
					return err
				}
				dirs = append(dirs, dir)
			}
			dir, m, err := rerun.Merge(cfg.Runs, dirs)
			if err != nil {
				return err
			}
			report, err := writeReportOf(dir, p.detailsOf(c.Context(), cfg, dir))
			if err != nil {
				return err
			}
			if err := p.summary(report); err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.stdout, "\nmerged  %s, %s\nrun     %s\ngate    cupel gate %s\n", console.Count(len(dirs), "run"), console.Count(m.Episodes, "episode"), dir, dir)
			return err
		}),
	}
	runsFlags(cmd)
	packing.Flag(cmd)
	return cmd
}

// mostTrials is the largest trial that the name of a file adds to the plan: names of files
// are untrusted, and a plan is built in memory.
const mostTrials = 1000

func newCassetteJoin(p *process) *cobra.Command {
	var newest bool
	cmd := &cobra.Command{
		Use:   "join FOLDER…",
		Short: "Join recordings of shards into a suite's cassettes",
		Long: `Copies cassettes from folders laid out as CANDIDATE/TASK/TRIAL.yaml, or from packs, into
the suite's cassettes folder or its pack. A cassette is joined if it is fresh for the
current suite and the suite has none for its episode, a stale one, or one recorded on an
earlier day. Equal, stale and older ones are skipped, so folders may contain old ones.

If an episode has different fresh recordings of the same day, or several folders have
different ones, nothing is joined and exit code is 2. With --newest the latest day
decides, and on the same day a folder's recording replaces the suite's. A corrupt
cassette or one with a credential also stops the command, with exit code 3.`,
		Example: `  cupel cassette join recorded/*/suites/first/cassettes
  cupel cassette join --suite suites/mine night-1.pack night-2.pack`,
		RunE: func(c *cobra.Command, args []string) error {
			o, err := cassetteOptions(p, c, nil, harness.Selection{Candidates: []string{"*"}}) // the scripted one, too
			if err != nil {
				return err
			}
			if o.CassetteDir == "" && p.cfg.Pack == "" {
				return exit.Usage(fmt.Errorf("the cassettes of %s are read-only; name a suite folder with --suite", o.Suite.Path))
			}
			p.learn(o.Candidates, o.Suite)
			return joinCassettes(p, o, args, p.cfg.Pack, newest)
		},
	}
	suiteFlags(cmd)
	packing.Flag(cmd)
	trialsFlag(cmd)
	cmd.Flags().BoolVar(&newest, "newest", false, "choose the latest of different fresh recordings")
	return cmd
}

func joinCassettes(p *process, o harness.Options, folders []string, into string, newest bool) error {
	sources, closeSources, err := join.Open(folders)
	defer closeSources()
	if err != nil {
		return exit.Usage(err)
	}
	for _, s := range sources {
		for _, file := range s.Paths {
			if n, err := strconv.Atoi(strings.TrimSuffix(path.Base(file), ".yaml")); err == nil && n <= mostTrials {
				o.Trials = max(o.Trials, n)
			}
		}
	}
	files, pack, unlock, err := packing.Target(o, into)
	defer unlock()
	if err != nil {
		return err
	}
	suite := join.Suite{Files: files, Secrets: p.secrets, Newest: newest, States: func(files fs.FS) (map[string]cassettes.Status, error) {
		o.Cassettes = files
		list, err := harness.Cassettes(o)
		states := map[string]cassettes.Status{}
		for _, s := range list {
			states[s.Path] = s
		}
		return states, err
	}}
	plan, err := suite.Decide(sources)
	var conflict *join.ConflictError
	switch {
	case errors.As(err, &conflict):
		return exit.Usage(err)
	case err != nil:
		return exit.With(exit.Replay, fmt.Errorf("nothing was joined: %w", err))
	}
	switch {
	case plan.Joined() == 0:
	case pack != nil:
		if err = suite.WriteTo(plan, pack); err == nil {
			unlock() // Compact locks it again
			_, err = pack.Compact(false)
		}
	default:
		err = suite.Write(plan, o.CassetteDir)
	}
	if err != nil {
		return err
	}
	return printJoined(p, o, plan)
}

func printJoined(p *process, o harness.Options, plan *join.Plan) error {
	if len(plan.Skipped) > 0 {
		w := console.Table(p.stdout, "skipped", "in", "why")
		for _, s := range plan.Skipped {
			w.AppendRow(table.Row{console.Line(s.Path), console.Line(s.Source), console.Line(s.Why)})
		}
		w.Render()
		_, _ = fmt.Fprintln(p.stdout)
	}
	_, err := fmt.Fprintf(p.stdout, "%s: %d joined, %d already there, %d skipped\n", o.Suite.Path, plan.Joined(), plan.Same, len(plan.Skipped))
	return err
}
