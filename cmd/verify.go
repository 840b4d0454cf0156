package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/recorder"
)

func newVerify(p *process) *cobra.Command {
	var pack string
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
			dir, o, cleanup, err := optionsOf(c, p, args[0], pack)
			if err != nil {
				return err
			}
			defer cleanup()
			v, err := rerun.Verify(c.Context(), o, dir)
			if err != nil {
				return err
			}
			return printVerified(p, v)
		},
	}
	runsFlags(cmd)
	cmd.Flags().StringVar(&pack, "pack", "", "pack to replay from, if the run was replayed from one")
	return cmd
}

func printVerified(p *process, v rerun.Verification) error {
	again := v.Verified + v.Differing
	_, _ = fmt.Fprintf(p.stdout, "%d of %d episodes executed again, %d equal, %d different\n", again, v.Episodes, v.Verified, v.Differing)
	if n := v.Episodes - again; n > 0 {
		_, _ = fmt.Fprintf(p.stdout, "%d had no result: there is nothing to compare\n", n)
	}
	if v.First == nil {
		if _, err := fmt.Fprintf(p.stdout, "ledger digest %s\n", v.Is); err != nil || v.Manifest == nil {
			return err
		}
		var lines []string
		for _, d := range v.Manifest[:min(len(v.Manifest), maxShownChanges)] {
			lines = append(lines, fmt.Sprintf("  %s: %s → %s", d.Member, d.Was, d.Is))
		}
		return exit.With(exit.Replay, fmt.Errorf("run.json does not say what its rows, its suite and its cassettes say, in %s:\n%s",
			console.Count(len(v.Manifest), "member"), strings.Join(lines, "\n")))
	}
	text := fmt.Sprintf("first difference: episode %s: %s", v.First.Episode, v.First.Difference)
	if v.First.Err != "" {
		text += ": " + v.First.Err
	}
	return exit.With(exit.Replay, fmt.Errorf("%s\nledger digest was %s, is %s: code or cassettes changed since the run", text, v.Was, v.Is))
}

func newRescore(p *process) *cobra.Command {
	var pack string
	cmd := &cobra.Command{
		Use:   "rescore RUN",
		Short: "Re-score a run with the current checks",
		Long: `Re-executes the episodes of a recorded or replayed run from their cassettes, applies the
current checks of the suite, and writes the result as a new run: ledger, report, and
rescore.json with both verdicts of every episode whose checks changed. The original run
is unchanged.

Only checks may have changed: if an episode would take another course now, it is named
and nothing is written. Details: docs/runs.md.`,
		Example: `  cupel rescore latest
  cupel rescore latest && cupel gate latest`,
		RunE: func(c *cobra.Command, args []string) error {
			dir, o, cleanup, err := optionsOf(c, p, args[0], pack)
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
			return printRescored(p, to, res)
		},
	}
	runsFlags(cmd)
	cmd.Flags().StringVar(&pack, "pack", "", "pack to replay from, if the run was replayed from one")
	return cmd
}

// maxShownChanges bounds the list on the terminal; rescore.json has all.
const maxShownChanges = 50

func printRescored(p *process, to string, res rerun.Rescored) error {
	gained, lost := 0, 0
	for i, e := range res.Changed {
		switch {
		case e.Is && !e.Was:
			gained++
		case e.Was && !e.Is:
			lost++
		}
		if i < maxShownChanges {
			_, _ = fmt.Fprintf(p.stdout, "%s/%s/%d  %s → %s  %s\n", e.Task, e.Candidate, e.Trial, solvedWord(e.Was, e.WasHarm), solvedWord(e.Is, e.IsHarm), firstFailed(e.IsChecks))
		}
	}
	if n := len(res.Changed) - maxShownChanges; n > 0 {
		_, _ = fmt.Fprintf(p.stdout, "and %d more, in %s\n", n, rerun.RescoreFile)
	}
	_, err := fmt.Fprintf(p.stdout, "%d episodes scored again: %d newly solved, %d no longer solved, %d with other checks and the same verdict\nrun     %s\n",
		res.Episodes, gained, lost, len(res.Changed)-gained-lost, to)
	return err
}

// solvedWord says whether an episode was solved, and whether it did harm.
func solvedWord(solved bool, harm string) string {
	word := "not solved"
	if solved {
		word = "solved"
	}
	if harm != "" {
		word += " (harm)"
	}
	return word
}

func firstFailed(checks []ledger.Check) string {
	for _, c := range checks {
		if !c.Passed {
			return c.Name + ": " + c.Detail
		}
	}
	return ""
}

// optionsOf are what a run was made with, as far as its manifest and today's
// configuration tell, for executing it again.
func optionsOf(c *cobra.Command, p *process, name, pack string) (dir string, o harness.Options, cleanup func(), err error) {
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
	case m.Status == "running":
		return dir, o, cleanup, rundir.Unfinished(dir, m)
	case m.Episodes > 0 && m.Outcomes.Solved+m.Outcomes.Failed == 0:
		return dir, o, cleanup, fmt.Errorf("none of the %d episodes of run %s has a result: there is nothing to execute again", m.Episodes, m.RunID)
	}
	o, cleanup, err = p.replayOf(c.Context(), cfg, m, pack)
	return dir, o, cleanup, err
}

// replayOf are the options that execute a run again, from the pack at the path if that
// is not empty. cleanup is never nil.
func (p *process) replayOf(ctx context.Context, cfg config.Config, m manifest.Manifest, pack string) (o harness.Options, cleanup func(), err error) {
	cfg.Suite, cfg.Mode, cfg.Trials, cfg.Seed = m.SuitePath, string(recorder.Replay), m.Trials, m.Seed
	if o, cleanup, err = options(ctx, p, cfg, harness.Selection{}); err != nil {
		return o, cleanup, err
	}
	o.Fork, _ = forkOf(m, "")
	if pack == "" {
		return o, cleanup, nil
	}
	closePack, err := openPack(&o, pack)
	if err != nil {
		return o, cleanup, err
	}
	return o, closePack, nil // a replay started nothing else
}
