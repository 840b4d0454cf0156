package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/commandline"
	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/judges"
	"github.com/cupel-eval/cupel/cmd/internal/progress"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/text"
)

func newGate(p *process) *cobra.Command {
	var candidates, baselines, thresholds []string
	var changed string
	cmd := &cobra.Command{
		Use:   "gate RUN",
		Short: "Exit with the verdict of a run",
		Long: `Judges a run and exits with 0 (accepted), 10 (rejected) or 11 (inconclusive: not enough
evidence). The worst candidate decides: if one is rejected, the run is rejected. RUN is
a run folder, an id or its beginning, "latest" or "previous". On GitHub Actions it also
prints annotations.

With --baseline it also tests for regressions against that run, as "cupel compare" does;
the worse of the two verdicts decides. Several baselines are pooled. on_unclear in
cupel.yaml says whether "no significant regression" exits with 0 (default) or 11. If the
runs cannot be compared, it exits with 2. Details: docs/ci.md and docs/compare.md.`,
		Example: `  cupel gate latest
  cupel gate latest --candidate strong
  cupel gate latest --baseline previous
  cupel gate latest --baseline night-1,night-2,night-3`,
		RunE: p.withConfig(func(_ *cobra.Command, cfg config.Config, args []string) error {
			_, r, err := rundir.Report(cfg.Runs, args[0], thresholds, candidates...)
			if err != nil {
				return err
			}
			if len(baselines) > 0 {
				compared, err := p.compare(cfg, baselines, args[0], candidates, changed)
				if err != nil {
					return err
				}
				return p.gateAgainst(r, compared)
			}
			if changed != "" {
				return exit.Usage(errors.New("--changed has no effect without --baseline; name a baseline"))
			}
			if err := p.summary(r); err != nil {
				return err
			}
			if err := p.annotate(r); err != nil {
				return err
			}
			return gateOutcome(r.Verdict)
		}),
	}
	runsFlags(cmd)
	cmd.Flags().StringSliceVar(&candidates, "candidate", nil, "judge these candidates only; repeatable")
	cmd.Flags().StringSliceVar(&baselines, "baseline", nil, "also test for regressions against this `RUN` (or RUN:CANDIDATE); repeatable")
	changedFlag(cmd, &changed)
	thresholdFlag(cmd, &thresholds)
	return cmd
}

// thresholdFlag adds the flag that replaces thresholds of the run.
func thresholdFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "threshold", nil, "threshold to use instead of the run's own, as `NAME=VALUE`; repeatable")
}

// gateOutcome converts a verdict to the error with its exit code and without a text.
func gateOutcome(v stat.Verdict) error {
	switch v {
	case stat.Pass:
		return nil
	case stat.Fail:
		return exit.With(exit.Rejected, nil)
	}
	return exit.With(exit.Inconclusive, nil)
}

// gateAgainst prints the verdict of a run and its comparison with a baseline. The worse of
// the two verdicts decides the exit code.
func (p *process) gateAgainst(r model.Report, c compare.Comparison) error {
	worst := stat.Worst([]stat.Verdict{r.Verdict, c.Rules.Gate(c.Verdict)})
	note := ""
	if r.Run.Acceptance.MinSolved == manifest.Off {
		note = " (" + model.SuccessNotJudged + ")"
	}
	if _, err := fmt.Fprintf(p.stdout, "%s: acceptance %s%s, %s\n\nacceptance: ", gateWord(worst), r.Verdict, note, regressionWord(c)); err != nil {
		return err
	}
	if err := p.summary(r); err != nil {
		return err
	}
	if _, err := fmt.Fprint(p.stdout, "\nregression: "); err != nil {
		return err
	}
	if err := p.compareSummary(c); err != nil {
		return err
	}
	if p.onActions() {
		if err := text.GateAnnotations(p.commands, r, c); err != nil {
			return err
		}
	}
	return gateOutcome(worst)
}

// regressionWord is the verdict of a comparison in the first line of a gate.
func regressionWord(c compare.Comparison) string {
	switch {
	case c.Verdict != stat.NoRegression:
		return "regression " + string(c.Verdict)
	case c.Rules.Gate(c.Verdict) == stat.Inconclusive:
		return "no significant regression (not accepted: on_unclear is fail)"
	}
	return "no significant regression"
}

func gateWord(v stat.Verdict) string {
	switch v {
	case stat.Pass:
		return "Accepted"
	case stat.Fail:
		return "Rejected"
	}
	return "Inconclusive"
}

// onActions says whether the process runs in a step of GitHub Actions, which reads
// annotations in the output.
func (p *process) onActions() bool {
	v, _ := p.env("GITHUB_ACTIONS")
	return v == "true"
}

// annotate prints the verdict as annotations on GitHub Actions.
func (p *process) annotate(r model.Report) error {
	if !p.onActions() {
		return nil
	}
	return text.Annotations(p.commands, r)
}

func newJudge(p *process) *cobra.Command {
	return judges.Command(func(c *cobra.Command) (h judges.Host, err error) {
		cfg, err := p.load(c)
		if named := c.Flags().Lookup("suite"); named != nil && named.Changed {
			h.Suite = cfg.Suite
		}
		h.Stdout, h.JSON, h.Stderr, h.Runs = p.stdout, p.json, p.stderr, cfg.Runs
		h.Run = func(ctx context.Context, suite string) (harness.Options, func(), error) {
			cfg.Suite, cfg.Trials = suite, 1
			o, cleanup, err := options(ctx, p, cfg, harness.Selection{})
			return o, cleanup, errors.Join(err, cfg.CheckCaps())
		}
		h.Replay = func(ctx context.Context, m manifest.Manifest) (harness.Options, func(), error) {
			return p.replayOf(ctx, cfg, m)
		}
		h.Forecast = func(o harness.Options, asJSON bool) error { return p.forecast(o, asJSON, false) }
		h.Begin = func(ctx context.Context, o *harness.Options) (context.Context, func()) {
			prog := progress.New(p.stderr, p.now, func(s string) string { return p.secrets.Redact("output", s) }, true)
			ctx, drain, stop := commandline.Interrupts(ctx, prog, stopping)
			o.Drain, o.Progress, o.Watch = drain, prog.Episode, prog.Watch
			prog.SetCap(o.Caps.CostNanoUSD)
			return ctx, func() { prog.Finish(); stop() }
		}
		return h, err
	})
}
