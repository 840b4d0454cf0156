package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/all"
)

func newDoctor(p *process) *cobra.Command {
	var showPrices bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is configured, priced and missing",
		Long: `Reads the configuration and the suite, prints every setting with where it comes
from, and says, per candidate, whether its provider is known, its key is set, its model is priced and its cassettes are
there. Opens no network connection. Exits 2 when something configured is wrong.`,
		Example: `  cupel doctor
  cupel doctor --prices`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := loadConfig(p, c.Flags())
			if err != nil {
				return err
			}
			prices, err := cfg.loadPrices()
			if err != nil {
				return err
			}
			if showPrices {
				printPrices(p, prices)
				return nil
			}
			return diagnose(p, cfg, prices)
		},
	}
	cmd.Flags().String("config", configName, "configuration file")
	cmd.Flags().String("suite", "", "suite folder, or builtin:counts")
	cmd.Flags().BoolVar(&showPrices, "prices", false, "print what is priced, since when and by whom")
	return cmd
}

func printSources(p *process, cfg config) {
	values := map[string]any{
		"suite": cfg.Suite, "runs": cfg.Runs, "mode": cfg.Mode, "trials": cfg.Trials,
		"concurrency": cfg.Concurrency, "seed": cfg.Seed, "prices": cfg.Prices,
	}
	w := newTable(p)
	w.AppendHeader(table.Row{"setting", "value", "from"})
	for _, s := range settings {
		w.AppendRow(table.Row{s.key, values[s.key], cfg.sources[s.key]})
	}
	w.Render()
}

func printPrices(p *process, prices providers.Prices) {
	_, _ = fmt.Fprintf(p.stdout, "price table %s, digest %.12s; USD per million tokens\n", prices.Version(), prices.Digest())
	w := newTable(p)
	w.AppendHeader(table.Row{"provider", "model", "since", "input", "output", "source"})
	for _, e := range prices.All() {
		input, output := e.PerMillion()
		since, models := "", strings.Join(e.Models, ", ")
		if !e.From.IsZero() {
			since = e.From.Format(time.DateOnly)
		}
		if e.Prefix != "" {
			models = e.Prefix + "…"
		}
		w.AppendRow(table.Row{e.Provider, models, since, input, output, e.Source})
	}
	w.Render()
}

// diagnose prints one line per candidate and returns what is wrong.
func diagnose(p *process, cfg config, prices providers.Prices) error {
	file := cfg.File
	if file == "" {
		file = "none (defaults)"
	}
	_, _ = fmt.Fprintf(p.stdout, "cupel %s · configuration: %s\n\n", version(), file)
	printSources(p, cfg)
	suite, _, err := loadSuite(cfg.Suite)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(p.stdout, "\nsuite %s: %d tasks\nprices %s\n\n", suite.Path, len(suite.Tasks), prices.Version())
	candidates := cfg.candidates(suite)
	var errs []error
	w := newTable(p)
	w.AppendHeader(table.Row{"candidate", "provider", "model", "key", "priced", "cassettes"})
	for _, c := range candidates {
		if _, ok := all.Factories()[c.Provider]; !ok {
			errs = append(errs, fmt.Errorf("candidate %s: unknown provider %q", c.Name, c.Provider))
		}
		have, want := cassettes(suite, c, cfg.Trials)
		w.AppendRow(table.Row{c.Name, c.Provider, c.Model, p.keyState(c), priced(prices, c), fmt.Sprintf("%d of %d", have, want)})
	}
	w.Render()
	p.printTools(suite)
	if len(errs) > 0 {
		return usage(errors.Join(errs...))
	}
	return nil
}

// keyState says whether a candidate's credential is set, never what it is.
func (p *process) keyState(c goldens.Candidate) string {
	key, err := p.key(c)
	switch {
	case err != nil:
		return "missing"
	case key == "":
		return "none needed"
	}
	return "set"
}

// printTools says where the suite's HTTP tools are and whether their
// credentials are set, never what they are.
func (p *process) printTools(suite *goldens.Suite) {
	if len(suite.HTTP) == 0 {
		return
	}
	_, _ = fmt.Fprintln(p.stdout)
	w := newTable(p)
	w.AppendHeader(table.Row{"tool", "approve", "address", "credentials"})
	for _, spec := range suite.Tools {
		h, ok := suite.HTTP[spec.Name]
		if !ok {
			continue
		}
		var states []string
		for _, line := range h.Headers {
			if line.Env == "" {
				continue
			}
			state := "missing"
			if value, ok := p.env(line.Env); ok && value != "" {
				state = "set"
			}
			states = append(states, line.Env+" "+state)
		}
		if states == nil {
			states = []string{"none needed"}
		}
		w.AppendRow(table.Row{spec.Name, suite.Approval(spec.Name), h.Method + " " + h.URL, strings.Join(states, ", ")})
	}
	w.Render()
}

func priced(prices providers.Prices, c goldens.Candidate) string {
	_, ok := prices.Cost(c.Provider, c.Model, providers.Usage{Reported: true, Input: 1}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	if !ok {
		return "no: cost will be unknown"
	}
	return "yes"
}

// cassettes counts how many of a candidate's cassettes are there.
func cassettes(suite *goldens.Suite, c goldens.Candidate, trials int) (have, want int) {
	tasks := slices.DeleteFunc(slices.Clone(suite.Tasks), func(t goldens.Task) bool { return t.Scripted })
	for _, t := range tasks {
		for trial := 1; trial <= max(trials, 1); trial++ {
			want++
			if _, err := fs.Stat(suite.FS, "cassettes/"+harness.CassettePath(t.ID, c.Name, trial)); err == nil {
				have++
			}
		}
	}
	return have, want
}
