package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness/rerun"
)

func newMerge(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "merge RUN…",
		Short: "Join the runs of a plan's shards into one",
		Long: `Joins runs made with "cupel run --shard i/n" into one run below the runs folder,
with the ledger and the report that a run of the whole plan would have. The
shards may come from other machines; their folders are only read.

Shards of another suite, configuration, price table, version of cupel or plan
are refused, with the reasons. Where shards are missing the run is partial: it
can be looked at, but never passes the gate.`,
		Example: `  cupel merge runs/01JA… runs/01JB… runs/01JC…
  cupel merge shards/*/ --runs merged`,
		Args: atLeast(1),
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
			report, err := writeReportOf(dir, p.detailsOf(c.Context(), cfg, dir, ""))
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
	return cmd
}
