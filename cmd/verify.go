package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/imports"
	"github.com/cupel-eval/cupel/cmd/internal/label"
	"github.com/cupel-eval/cupel/cmd/internal/listing"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/reports/model"
)

func newVerify(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify RUN",
		Short: "Re-execute a run from cassettes and compare ledgers",
		Long: `Re-executes the episodes of a recorded or replayed run from their cassettes, without
network, and compares all columns of all rows except run_id and replayed. Prints the
first episode and column that differ. Skips episodes without a result, because cassettes
do not contain them. If the rows are equal, it also compares run.json, except for
thresholds. Exits with 0 if everything matches and with 3 if anything differs.
Details: docs/runs.md.`,
		Example: `  cupel verify latest`,
		RunE: func(c *cobra.Command, args []string) error {
			dir, o, cleanup, err := optionsOf(c, p, args[0])
			if imported := new(imports.Imported); errors.As(err, &imported) {
				return imported.Verify(p.stdout)
			}
			if err != nil {
				return err
			}
			defer cleanup()
			v, err := rerun.Verify(c.Context(), o, dir)
			if err != nil {
				return err
			}
			return listing.Verified(p.stdout, v)
		},
	}
	runsFlags(cmd)
	cmd.Flags().String("pack", "", "pack to replay from, if the run was replayed from one")
	return cmd
}

// newImport is the verb import: runs of what other programs recorded.
func newImport(p *process) *cobra.Command {
	cmd := imports.Command(p.importHost, p.app.Importers)
	for _, sub := range cmd.Commands() {
		runsFlags(sub)
	}
	return cmd
}

func (p *process) importHost() imports.Host {
	return imports.Host{
		Load: func(c *cobra.Command) (string, error) {
			cfg, err := p.load(c)
			return cfg.Runs, err
		},
		Stdout: p.stdout, Stderr: p.stderr, Secrets: p.secrets, CodeVersion: version(), Suite: p.loadSuite,
		Report: func(dir string) error {
			_, err := writeReportOf(dir, p.detailsOf(context.Background(), p.cfg, dir))
			return err
		},
	}
}

func newLabel(p *process) *cobra.Command {
	cmd := label.Command(func() label.Host {
		return label.Host{
			Find: func(c *cobra.Command, name string) (dir, runs string, err error) {
				cfg, err := p.load(c)
				if err != nil {
					return "", "", err
				}
				dir, err = rundir.Find(cfg.Runs, name)
				return dir, cfg.Runs, err
			},
			Stdout: p.stdout, Redact: p.secrets.Redact,
			Options: func(ctx context.Context, m manifest.Manifest) (harness.Options, func(), error) {
				o, cleanup, err := p.replayOf(ctx, p.cfg, m)
				if err == nil {
					p.learn(o.Candidates, o.Suite)
				}
				return o, cleanup, err
			},
			Report: func(dir string) (model.Report, error) {
				return writeReportOf(dir, p.detailsOf(context.Background(), p.cfg, dir))
			},
		}
	})
	for _, verb := range cmd.Commands() {
		runsFlags(verb)
	}
	return cmd
}

func newRescore(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rescore RUN",
		Short: "Re-score a run with the current checks",
		Long: `Re-executes the episodes of a recorded or replayed run from their cassettes, applies the
current checks of the suite, and writes the result as a new run: ledger, report, and
rescore.json with both verdicts of every episode whose checks changed. The original run
is unchanged.

Only checks may have changed: if an episode would take another course now, it is named
and nothing is written. An imported run is scored as far as the checks of --suite need no
more than answers and calls. Details: docs/runs.md, docs/traces.md.`,
		Example: `  cupel rescore latest
  cupel rescore latest --suite suites/support     # an imported run
  cupel rescore latest && cupel gate latest`,
		RunE: func(c *cobra.Command, args []string) error {
			dir, o, cleanup, err := optionsOf(c, p, args[0])
			if imported := new(imports.Imported); errors.As(err, &imported) {
				return imported.Rescore(p.importHost(), p.cfg.Runs, p.cfg.Suite)
			}
			if err == nil && p.cfg.FromFlag("suite") {
				err = exit.Usage(errors.New("--suite is for imported runs: others are scored by the suite they were run with; leave it out"))
			}
			if err != nil {
				return err
			}
			defer cleanup()
			to, res, err := rerun.Rescore(c.Context(), o, dir)
			if err != nil {
				return err
			}
			if _, err := writeReportOf(to, p.detailsWith(c.Context(), o, to)); err != nil {
				return err
			}
			return listing.Rescored(p.stdout, to, res)
		},
	}
	runsFlags(cmd)
	cmd.Flags().String("suite", "", "suite whose checks score an imported run (default: the configuration's)")
	cmd.Flags().String("pack", "", "pack to replay from, if the run was replayed from one")
	return cmd
}

// optionsOf are what a run was made with, as far as its manifest and today's
// configuration tell, for executing it again.
func optionsOf(c *cobra.Command, p *process, name string) (dir string, o harness.Options, cleanup func(), err error) {
	cleanup = func() {}
	cfg, err := p.load(c)
	if err != nil {
		return "", o, cleanup, err
	}
	if dir, err = rundir.Find(cfg.Runs, name); err != nil {
		return dir, o, cleanup, err
	}
	m, _, err := ledger.Open(dir)
	if err != nil {
		return dir, o, cleanup, err
	}
	switch {
	case m.Imported.Format != "":
		return dir, o, cleanup, exit.Usage(&imports.Imported{Dir: dir, Manifest: m})
	case m.Status == "running":
		return dir, o, cleanup, rundir.Unfinished(dir, m)
	case m.Episodes > 0 && m.Outcomes.Solved+m.Outcomes.Failed == 0:
		return dir, o, cleanup, fmt.Errorf("none of the %d episodes of run %s has a result: there is nothing to execute again", m.Episodes, m.RunID)
	}
	o, cleanup, err = p.replayOf(c.Context(), cfg, m)
	return dir, o, cleanup, err
}

// replayOf are the options that execute a run again, from the pack of the configuration if it
// has one. cleanup is never nil.
func (p *process) replayOf(ctx context.Context, cfg config.Config, m manifest.Manifest) (o harness.Options, cleanup func(), err error) {
	cfg.Suite, cfg.Mode, cfg.Trials, cfg.Seed = m.SuitePath, string(recorder.Replay), m.Trials, m.Seed
	if o, cleanup, err = options(ctx, p, cfg, harness.Selection{}); err != nil {
		return o, cleanup, err
	}
	o.Fork, _ = forkOf(m, "")
	if cfg.Pack == "" {
		return o, cleanup, nil
	}
	closePack, err := packing.Use(&o, cfg.Pack)
	if err != nil {
		return o, cleanup, err
	}
	return o, closePack, nil // a replay started nothing else
}
