package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/usage"
	"github.com/cupel-eval/cupel/goldens"
	worldprocess "github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
)

func newDoctor(p *process) *cobra.Command {
	var showPrices bool
	cmd := &cobra.Command{
		Use:   "doctor [PROVIDER…]",
		Short: "Check configuration, API keys, prices and cassettes",
		Long: `Prints every setting and its source, and checks for each candidate: agent settings,
provider, API key, price, output modes, limits and cassettes. With --prices, prints
which prices are known, their age and source; with provider names, all prices of these.
Opens no network connection. Exits with 2 if something is misconfigured.`,
		Example: `  cupel doctor
  cupel doctor --prices
  cupel doctor --prices openai`,
		RunE: p.withConfig(func(_ *cobra.Command, cfg config.Config, args []string) error {
			prices, err := cfg.LoadPrices()
			if err != nil {
				return err
			}
			if showPrices {
				return p.printPrices(prices, args)
			}
			if len(args) > 0 {
				return exit.Usage(fmt.Errorf("%s: only --prices takes the names of providers", args[0]))
			}
			return diagnose(p, cfg, prices)
		}),
	}
	suiteFlags(cmd)
	cmd.Flags().BoolVar(&showPrices, "prices", false, "print known prices and their age, or all prices of the named providers")
	return cmd
}

func printSources(p *process, cfg config.Config) {
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"setting", "value", "from"})
	for _, s := range cfg.Settings() {
		w.AppendRow(table.Row{s.Key, s.Value, s.Source})
	}
	w.Render()
}

// diagnose prints one line per candidate and returns what is wrong.
func diagnose(p *process, cfg config.Config, prices price.Table) error {
	file := cfg.File
	if file == "" {
		file = "none (defaults)"
	}
	_, _ = fmt.Fprintf(p.stdout, "cupel %s · configuration: %s\n\n", version(), file)
	printSources(p, cfg)
	printLimits(p, cfg)
	printRegression(p, cfg)
	printMatrix(p, cfg)
	suite, _, err := p.loadSuite(cfg.Suite)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(p.stdout, "\nsuite %s: %s\nprices %s%s\n\n", suite.Path, taskCount(suite), prices.Version(), p.age(prices))
	var errs []error
	for _, c := range cfg.CandidatesOf(suite) {
		errs = append(errs, harness.Options{Parts: harness.Parts{Providers: p.providers(), Strategies: p.app.Strategies}, Rules: harness.Rules{Policy: cfg.Policy}}.Check(c))
		p.printCandidate(cfg, suite, prices, c)
	}
	p.printTools(suite)
	if err := errors.Join(errs...); err != nil {
		return exit.Usage(err)
	}
	return nil
}

// printCandidate says whom a candidate asks, with which key, at what price, and
// within which limits.
func (p *process) printCandidate(cfg config.Config, suite *goldens.Suite, prices price.Table, c goldens.Candidate) {
	sampling, err := cfg.Policy.Resolve(c.Provider, "action")
	model := cmp.Or(c.Model, sampling.Model)
	_, _ = fmt.Fprintf(p.stdout, "candidate %s\n", c.Name)
	line := func(name, text string) { _, _ = fmt.Fprintf(p.stdout, "  %-10s %s\n", name, text) }
	agent := strategy.Of(c.Agent)
	line("agent", agent.Name+", profile "+cmp.Or(c.Profile, agent.DefaultProfile()))
	line("provider", c.Provider)
	line("wire", cmp.Or(p.adapters()[c.Provider], "unknown"))
	line("model", cmp.Or(model, "none: the policy names none for this provider"))
	line("key", p.keyState(c))
	line("price", priceOf(prices, c.Provider, model, p.now().UTC()))
	if c.Rescue != "" {
		line("rescue", c.Rescue+"; "+priceOf(prices, c.Provider, c.Rescue, p.now().UTC()))
	}
	if c.Fallback != "" {
		line("fallback", c.Fallback+"; "+priceOf(prices, c.Provider, c.Fallback, p.now().UTC()))
	}
	line("modes", p.modes(c))
	if err != nil {
		line("limits", err.Error())
	} else {
		line("limits", limits(sampling, c, prices, model, p.now().UTC()))
	}
	if have, want, err := countCassettes(suite, c, cfg.Trials); err != nil {
		line("cassettes", err.Error())
	} else {
		line("cassettes", fmt.Sprintf("%d of %d", have, want))
		line("usage", usage.Line(suite, c, cfg.Trials, prices))
	}
	_, _ = fmt.Fprintln(p.stdout)
}

// modes are the output modes of a candidate's wire, the one in force marked.
func (p *process) modes(c goldens.Candidate) string {
	names, err := harness.Modes(p.providers(), c)
	if err != nil {
		return err.Error()
	}
	for i, name := range names {
		if name == cmp.Or(c.Mode, "prompt") {
			names[i] = "[" + name + "]"
		}
	}
	return strings.Join(names, ", ")
}

// limits are the caps that hold for a candidate.
func limits(sampling policy.Resolved, c goldens.Candidate, prices price.Table, model string, at time.Time) string {
	tokens := sampling.MaxTokens
	if c.MaxTokens != nil {
		tokens = *c.MaxTokens
	}
	parts := []string{fmt.Sprintf("%d output tokens a call", tokens)}
	if tokens == 0 {
		parts[0] = "output as long as the provider lets it be"
	}
	if e, ok := prices.Lookup(c.Provider, model, at); ok && e.Context > 0 {
		parts = append(parts, fmt.Sprintf("a context window of %d tokens", e.Context))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d steps, %d tool calls and %d s an episode unless a task says otherwise",
		sampling.MaxSteps, sampling.MaxToolCalls, sampling.MaxSeconds)), "; ")
}

// keyState says whether a candidate's credential is set, never what it is.
func (p *process) keyState(c goldens.Candidate) string {
	key, err := p.key(c)
	switch {
	case err != nil:
		return "missing"
	case key == "" && all.KeyOptional(c.Provider):
		return "not set: the server may want none, or credentials are found elsewhere"
	case key == "":
		return "none needed"
	}
	return "set"
}

// printTools says where the suite's HTTP tools are, which commands implement its worlds, and
// whether their credentials are set, never what they are.
func (p *process) printTools(suite *goldens.Suite) {
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"tool", "approve", "address", "credentials"})
	for _, spec := range suite.Tools {
		h, ok := suite.HTTP[spec.Name]
		if !ok {
			continue
		}
		var names []string
		for _, line := range h.Headers {
			names = append(names, line.Env)
		}
		w.AppendRow(table.Row{spec.Name, suite.Approval(spec.Name), h.Method + " " + h.URL, p.envStates(names)})
	}
	seen := map[string]bool{}
	for _, t := range suite.Tasks {
		if k, ok := t.World.Maker.(worldprocess.Kind); ok && !seen[k.String()] {
			seen[k.String()] = true
			w.AppendRow(table.Row{"", "", k.String(), p.envStates(k.Env)})
		}
	}
	if w.Length() > 0 {
		_, _ = fmt.Fprintln(p.stdout)
		w.Render()
	}
}

// envStates says which environment variables are set; an empty name is none.
func (p *process) envStates(names []string) string {
	var states []string
	for _, name := range names {
		if name == "" {
			continue
		}
		state := "missing"
		if value, ok := p.env(name); ok && value != "" {
			state = "set"
		}
		states = append(states, name+" "+state)
	}
	return cmp.Or(strings.Join(states, ", "), "none needed")
}

// countCassettes counts how many of a candidate's cassettes are there.
func countCassettes(suite *goldens.Suite, c goldens.Candidate, trials int) (have, want int, err error) {
	files, closeAll, err := cassettes.Open(suite)
	if err != nil {
		return 0, 0, err
	}
	defer closeAll()
	tasks := slices.DeleteFunc(slices.Clone(suite.Tasks), func(t goldens.Task) bool { return t.Scripted })
	for _, t := range tasks {
		for trial := 1; trial <= max(trials, 1); trial++ {
			want++
			if _, err := fs.Stat(files, cassettes.Path(t.ID, c.Name, trial)); err == nil {
				have++
			}
		}
	}
	return have, want, nil
}
