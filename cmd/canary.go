package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/canary"
	"github.com/cupel-eval/cupel/recorder"
)

func newCanary(p *process) *cobra.Command {
	var sel harness.Selection
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "canary",
		Short: "Test whether a provider changed the model behind a name",
		Long: `Asks each model of the candidates ten short fixed prompts at temperature 0, appends the
answers to canary.jsonl in the runs folder, and tests them against earlier days. A new
served model name is a change immediately; other answers, output lengths or token
probabilities once they differ significantly, which takes at least ten days of history.
An unchanged model gives at most one false alarm in 200 days.

These are real calls that cost money; max_cost, max_tokens and max_requests of the
configuration cap them. With "canary: on" in cupel.yaml, record and live runs ask once
a day. Exits with 0 whether or not a model changed, with 1 if calls failed.
Details: docs/canary.md.`,
		Example: `  cupel canary
  cupel canary --candidate 'gpt*'
  cupel canary --json`,
		RunE: func(c *cobra.Command, _ []string) error { return runCanary(c, p, sel, asJSON) },
	}
	fl := cmd.Flags()
	fl.String("config", config.Name, "configuration file")
	fl.String("suite", "", "suite with the candidates, if the configuration has none")
	fl.String("runs", "", "folder of the runs and the history (default runs)")
	fl.StringSliceVar(&sel.Candidates, "candidate", nil, "models of these candidates only; patterns allowed, repeatable")
	fl.BoolVar(&asJSON, "json", false, "print the results as JSON")
	return cmd
}

func runCanary(c *cobra.Command, p *process, sel harness.Selection, asJSON bool) error {
	cfg, err := p.load(c)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg.Mode = string(recorder.Live)
	o, cleanup, err := options(ctx, p, cfg, sel)
	if err != nil {
		return err
	}
	defer cleanup()
	o.Now = p.now
	found, err := harness.Canary(ctx, o)
	if errors.Is(err, context.Canceled) {
		return exit.With(exit.Interrupted, errors.New("interrupted: the history was not changed"))
	}
	if err != nil {
		return err
	}
	if err := p.printCanary(cfg, found, asJSON); err != nil {
		return err
	}
	failed := 0
	for _, f := range found {
		if f.Problem != "" {
			failed++
		}
	}
	if failed > 0 {
		return exit.With(exit.Failed, fmt.Errorf("canary: %d of %s could not be asked everything", failed, console.Count(len(found), "model")))
	}
	return nil
}

// printCanary prints a line for each model, what asking cost, and where the history is.
func (p *process) printCanary(cfg config.Config, found []harness.CanaryFinding, asJSON bool) error {
	if asJSON {
		return p.printJSON(found)
	}
	var cost int64
	unknown := 0
	var lines []string
	for _, f := range found {
		if f.CostNanoUSD == nil {
			unknown++
		} else {
			cost += *f.CostNanoUSD
		}
		name := f.Provider + " " + f.Model
		if f.BaseURL != "" {
			name += " at " + f.BaseURL
		}
		if f.Simulated {
			name += " (simulated)"
		}
		lines = append(lines, name+": "+f.String(), "  candidates "+strings.Join(f.Candidates, ", "))
		if len(f.Served) > 0 {
			lines = append(lines, "  served     "+strings.Join(f.Served, ", "))
		}
	}
	history := filepath.Join(cfg.Runs, canary.File)
	if _, unreadable, err := canary.Load(cfg.Runs); err == nil && unreadable > 0 {
		history += fmt.Sprintf(" (%s left out: not readable)", console.Count(unreadable, "line"))
	}
	spent := fmt.Sprintf("$%s", console.USD(cost))
	if unknown > 0 {
		spent += fmt.Sprintf(", and that of %s unknown", console.Count(unknown, "model"))
	}
	lines = append(lines, "", "cost     "+spent, "history  "+history)
	_, err := fmt.Fprintln(p.stdout, strings.Join(lines, "\n"))
	return err
}
