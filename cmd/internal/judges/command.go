// Package judges has the verbs of judges: judge calibrate compares them with people.
package judges

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
)

// Host is what the verbs need of the program.
type Host struct {
	Stdout io.Writer
	Runs   string
}

// Command is the verb judge. host reads the configuration.
func Command(host func(*cobra.Command) (Host, error)) *cobra.Command {
	cmd := &cobra.Command{Use: "judge", Short: "Calibrate judges with labels of people"}
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
	cmd.AddCommand(verb)
	return cmd
}
