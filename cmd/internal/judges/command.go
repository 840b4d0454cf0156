// Package judges has the verbs of judges: judge calibrate compares them with people, judge compare
// has them compare two candidates.
package judges

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Host is what the verbs need of the program.
type Host struct {
	// Stdout is for text, JSON for JSON, Stderr for problems.
	Stdout, JSON, Stderr io.Writer
	Runs                 string
	// Suite is what --suite names; empty without it.
	Suite string
	// Run returns the options of a run of a suite, Replay those that execute a run again. The
	// caller calls cleanup.
	Run    func(ctx context.Context, suite string) (o harness.Options, cleanup func(), err error)
	Replay func(ctx context.Context, m manifest.Manifest) (o harness.Options, cleanup func(), err error)
	// Forecast prints what a run would come to.
	Forecast func(o harness.Options, asJSON bool) error
	// Begin shows the progress of a run, and has Ctrl-C drain it, until end is called.
	Begin func(ctx context.Context, o *harness.Options) (_ context.Context, end func())
}

// Command is the verb judge. host reads the configuration.
func Command(host func(*cobra.Command) (Host, error)) *cobra.Command {
	cmd := &cobra.Command{Use: "judge", Short: "Calibrate judges, and have them compare candidates"}
	run := ""
	verb := &cobra.Command{
		Use:   "calibrate LABELS…",
		Short: "Compare judges with labels of people",
		Long: `Compares the verdicts that judges gave in a run with those of people, and writes
agreement, Cohen's kappa, sensitivity and specificity to calibration.yaml beside the
suite. Reports and gates correct rates by it, as long as rubric, model and prompt of the
judge stay the same.

LABELS are CSV or JSON lines files with the columns task, candidate, trial, check (such
as judge.tone), verdict (pass or fail) and labeller. Of several labels of an episode the
majority counts. Bad rows are all reported, and nothing is written then.
Details: docs/scorers.md.`,
		Example: "  cupel judge calibrate labels.csv\n  cupel judge calibrate ann.csv bo.jsonl --run 01JD0Q3V",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			h, err := host(c)
			if err != nil {
				return err
			}
			return calibrate(h.Stdout, h.Runs, run, files)
		},
	}
	verb.Flags().String("config", config.Name, "configuration file")
	verb.Flags().String("runs", "", "folder of the runs (default runs)")
	verb.Flags().StringVar(&run, "run", "latest", "run whose episodes the labels are about")
	cmd.AddCommand(verb, compareCommand(host))
	return cmd
}

func compareCommand(host func(*cobra.Command) (Host, error)) *cobra.Command {
	var f compareOptions
	cmd := &cobra.Command{
		Use:   "compare BASELINE NEW",
		Short: "Have a judge say which of two candidates answers better",
		Long: `Has a judge of the suite compare two candidates, paired by task and trial, by its rubric.
It sees both episodes without names, and is asked twice: with either shown first. A
preference counts only if both orders agree; otherwise it is a tie (position-dependent).
Prints wins, ties and losses, the share of the new one with an interval clustered by
task, and how often the orders disagree.

BASELINE and NEW are RUN:CANDIDATE, or RUN if it has one candidate. The answers of the
judge are recorded in the folder comparisons of the suite, named by what it saw, and are
replayed unless --mode says otherwise. --mode record asks what is not recorded yet, so it
also continues after Ctrl-C.

Preferences decide no verdict: cupel gate and criteria do not read them. A step of your
own can read --json. Details: docs/scorers.md.`,
		Example: `  cupel judge compare latest:weak latest:strong --judge tone --mode record
  cupel judge compare latest:weak latest:strong --json
  cupel judge compare previous:mini latest:mini --mode record --max-cost 2 --dry-run`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, names []string) error {
			h, err := host(c)
			if err != nil {
				return err
			}
			return compare(c.Context(), h, names, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.judge, "judge", "", "judge of the suite (default: the only one)")
	fl.StringVar(&f.recordings, "recordings", "", "`folder` of the judge's recorded answers, or a pack; a new name ending in .packs makes one (default: comparisons in the suite's folder)")
	fl.BoolVar(&f.asJSON, "json", false, "print the result as JSON, with every pair")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print questions, expected calls, tokens and cost (record and live mode); ask nothing")
	packing.Flag(cmd)
	fl.String("config", config.Name, "configuration file")
	fl.String("runs", "", "folder of the runs (default runs)")
	fl.String("suite", "", "suite that has the judge (default: that of the new run)")
	fl.String("mode", "", "replay, record or live (default replay)")
	fl.Int("concurrency", 0, "questions in parallel")
	fl.String("max-cost", "", "maximum cost in `USD`, such as 5 or 0.25 (record and live mode; default no cap)")
	fl.Int64("max-tokens", 0, "maximum tokens, of all kinds (record and live mode; default no cap)")
	fl.Int64("max-requests", 0, "maximum requests, including retries (record and live mode; default no cap)")
	return cmd
}
