package cmd

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/prove"
)

// proveFlags are the flags of suite prove.
type proveFlags struct {
	minScore float64
	asJSON   bool
}

func newSuiteProve(p *process) *cobra.Command {
	var f proveFlags
	cmd := &cobra.Command{
		Use:   "prove [SUITE…]",
		Short: "Prove that tasks accept solutions and reject mistakes",
		Long: `Tests suites with the reference solutions of their playbooks, without key or network:

  1. each task accepts its solution, under every strategy of the candidates;
  2. an agent that does nothing solves no task;
  3. tasks reject solutions with one mistake (mutants): a step left out, repeated or
     out of order, a wrong argument or number, an unnecessary question.

For each mutant that a task accepts, it prints the check that would reject it. Excuse
mutants that are not mistakes in playbook.yaml. Exits with 0 if every suite is proved,
and with 10 if not. Details: docs/prove.md.`,
		Example: `  cupel suite prove
  cupel suite prove suites/mine --min-score 0.9
  cupel suite prove builtin:counts builtin:research --json`,
		RunE: func(c *cobra.Command, args []string) error { return runProve(c, p, f, args) },
	}
	suiteFlags(cmd)
	cmd.Flags().Float64Var(&f.minScore, "min-score", 0.95, "minimum share of mutants that a suite must reject, from 0 to 1")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the results as JSON")
	return cmd
}

// proved is the result of a suite as --json has it.
type proved struct {
	prove.Result
	Score    float64  `json:"score"`
	Proved   bool     `json:"proved"`
	Failures []string `json:"failures,omitempty"`
}

func runProve(c *cobra.Command, p *process, f proveFlags, suites []string) error {
	if !(f.minScore >= 0 && f.minScore <= 1) {
		return exit.Usage(fmt.Errorf("--min-score %v: must be from 0 to 1", f.minScore))
	}
	cfg, err := p.load(c)
	if err != nil {
		return err
	}
	if len(suites) == 0 {
		suites = []string{cfg.Suite}
	}
	var all []proved
	failed := 0
	for _, name := range suites {
		cfg.Suite = name
		r, err := p.prove(c, cfg)
		if err != nil {
			return err
		}
		failures := r.Failures(f.minScore)
		all = append(all, proved{r, r.Score(), len(failures) == 0, failures})
		if len(failures) > 0 {
			failed++
		}
		if !f.asJSON {
			p.printProof(all[len(all)-1])
		}
	}
	if f.asJSON {
		if err := p.printJSON(map[string]any{"suites": all}); err != nil {
			return err
		}
	}
	if failed > 0 {
		return exit.With(exit.Rejected, fmt.Errorf("%d of %s not proved", failed, console.Count(len(all), "suite")))
	}
	return nil
}

// prove proves the suite that the configuration names, with the simulated models.
func (p *process) prove(c *cobra.Command, cfg config.Config) (r prove.Result, err error) {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	suite, _, err := p.loadSuite(cfg.Suite)
	if err != nil {
		return r, err
	}
	book, err := load.Playbook(suite)
	switch {
	case err != nil:
		return r, err
	case book == nil:
		return r, exit.Usage(fmt.Errorf("suite %s has no %s, so there is nothing to prove it by; write the solutions of its tasks there (see docs/playbooks.md), or draft one of a recorded episode: cupel suite play --from RUN/EPISODE", suite.Path, playbook.File))
	}
	prices, err := cfg.LoadPrices()
	if err != nil {
		return r, err
	}
	transport, closeSim, err := simTransport(ctx, cfg.Seed, 0, suite)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, closeSim()) }()
	o := harness.Options{
		Matrix: harness.Matrix{Suite: suite, Candidates: cfg.CandidatesOf(suite)},
		Rules:  harness.Rules{Policy: cfg.Policy, Prices: prices},
		Parts: harness.Parts{
			Providers: p.providers(), Strategies: p.app.Strategies, Tools: p.app.Tools, Checks: p.app.Checks, LookupEnv: p.credential,
			Transport: func(string) http.RoundTripper { return transport },
		},
	}
	r, err = prove.Suite(ctx, prove.Options{Run: o, Book: book, Progress: p.proving(suite.Name)})
	if ctx.Err() != nil {
		return r, exit.With(exit.Interrupted, errors.New("interrupted"))
	}
	return r, err
}

// proving shows how far the proof of a suite has come; nil if progress is not shown.
func (p *process) proving(suite string) func(done, total int) {
	f, ok := console.File(p.stderr)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func(done, total int) {
		line := fmt.Sprintf("\rproving %s: %d of %d tasks", suite, done, total)
		if done == total {
			line = "\r" + strings.Repeat(" ", len(line)) + "\r"
		}
		_, _ = fmt.Fprint(f, line)
	}
}

// maxSurvivors bounds how many survivors are printed; --json has all.
const maxSurvivors = 50

// printProof prints the result of proving a suite.
func (p *process) printProof(r proved) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(p.stdout, format+"\n", args...) }
	tried, excluded, noOps, unsolved := 0, 0, 0, 0
	for _, t := range r.Tasks {
		if t.Unproved == "" {
			tried += len(r.Strategies) - len(t.Excluded)
		}
		excluded += len(t.Excluded)
		unsolved += len(t.Unsolved)
		noOps += len(t.Nop)
	}
	line("%s: %s; strategies: %s", r.Suite, console.Count(len(r.Tasks), "task"), strings.Join(r.Strategies, ", "))
	line("  solutions      %d of %s of task and strategy accepted", tried-unsolved, console.Count(tried, "pair"))
	if excluded > 0 {
		line("  excluded       %s that cannot work", console.Count(excluded, "pair"))
	}
	line("  doing nothing  accepted in %s", console.Count(noOps, "pair"))
	if r.Mutants == 0 {
		line("  mutants        none to refuse")
	} else {
		line("  mutants        %d of %d refused: %.1f%%", r.Killed, r.Mutants, 100*r.Score)
	}
	line("                 not counted: %d with the same result as another, %d excused", r.Same, r.Equivalent)
	p.printSurvivors(r)
	for _, f := range r.Failures {
		line("not proved: %s", console.Line(f))
	}
	for _, t := range r.Tasks {
		for _, e := range t.Excluded {
			line("excluded: %s under %s: %s", t.ID, e.Strategy, e.Why)
		}
	}
}

// printSurvivors prints a line for each task that accepts mutants, and the mutants.
func (p *process) printSurvivors(r proved) {
	if r.Killed == r.Mutants {
		return
	}
	w := console.Table(p.stdout, "task", "mutants", "refused", "score")
	for _, t := range r.Tasks {
		if t.Killed < t.Mutants {
			w.AppendRow(table.Row{t.ID, t.Mutants, t.Killed, fmt.Sprintf("%.1f%%", 100*t.Score())})
		}
	}
	_, _ = fmt.Fprintln(p.stdout)
	w.Render()
	_, _ = fmt.Fprintln(p.stdout)
	n := 0
	for _, t := range r.Tasks {
		for _, m := range t.Survivors {
			if n++; n <= maxSurvivors {
				_, _ = fmt.Fprintf(p.stdout, "%s\n    refused by: %s\n", console.Line(m.Says), console.Line(m.Check))
			}
		}
	}
	if n > maxSurvivors {
		_, _ = fmt.Fprintf(p.stdout, "and %d more; --json lists all\n", n-maxSurvivors)
	}
	_, _ = fmt.Fprintln(p.stdout)
}
