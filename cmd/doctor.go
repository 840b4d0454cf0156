package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/cmd/internal/agents"
	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
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
Connects to nothing but the services of external agents. Exits with 2 if something is
misconfigured.`,
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
	w := console.Table(p.stdout, "setting", "value", "from")
	for _, s := range cfg.Settings() {
		w.AppendRow(table.Row{s.Key, s.Value, s.Source})
	}
	w.Render()
}

// diagnose prints one line per candidate and returns what is wrong.
func diagnose(p *process, cfg config.Config, prices price.Table) error {
	file := cmp.Or(cfg.File, "none (defaults)")
	_, _ = fmt.Fprintf(p.stdout, "cupel %s · configuration: %s\n\n", version(), file)
	printSources(p, cfg)
	printLimits(p, cfg)
	printRegression(p, cfg)
	suite, _, err := p.loadSuite(cfg.Suite)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(p.stdout, "\nsuite %s: %s\nprices %s%s\n\n", suite.Path, taskCount(suite), prices.Version(), p.age(prices))
	var errs []error
	var s setup
	for _, c := range cfg.CandidatesOf(suite) {
		errs = append(errs, harness.Options{Parts: harness.Parts{Providers: p.providers(), Strategies: p.app.Strategies}, Rules: harness.Rules{Policy: cfg.Policy}}.Check(c))
		incomplete := p.printCandidate(cfg, suite, prices, c)
		_, err := p.key(c)
		s.add(c.Name, incomplete, err)
	}
	p.printTools(suite)
	if err := errors.Join(errs...); err != nil {
		return exit.Usage(err)
	}
	s.print(p.stdout, cfg, suite.Path)
	return nil
}

// setup is what candidates lack before they can be recorded or replayed.
type setup struct {
	keys       []string // one line per candidate without its key
	unrecorded []string // names of candidates that lack cassettes, and have their key
}

func (s *setup) add(name string, incomplete bool, key error) {
	switch {
	case key != nil:
		s.keys = append(s.keys, fmt.Sprintf("candidate %s: %v", name, key))
	case incomplete:
		s.unrecorded = append(s.unrecorded, name)
	}
}

// print says what is missing, where the runs are and what to type next.
func (s *setup) print(w io.Writer, cfg config.Config, suite string) {
	if s.keys != nil {
		_, _ = fmt.Fprintf(w, "missing  %s\n", strings.Join(s.keys, "\n         "))
	}
	given := cfg.Flag()
	if cfg.FromFlag("suite") {
		given += " --suite " + cfg.Suite
	}
	latest, err := rundir.Find(cfg.Runs, "latest")
	next := "cupel run" + given
	switch {
	case len(s.unrecorded) > 0 && strings.HasPrefix(suite, builtinPrefix):
		next = "cupel init    # built-in suites are read-only: record candidates in a suite folder"
	case len(s.unrecorded) > 0:
		next += " --mode record --candidate " + strings.Join(s.unrecorded, ",")
	case err == nil:
		next = "cupel gate " + latest
	}
	if err != nil {
		latest = "none yet in " + cfg.Runs
	}
	_, _ = fmt.Fprintf(w, "latest   %s\nnext     %s\n", latest, next)
}

// printCandidate says which model a candidate asks, with which key, at what price and
// within which limits. It reports whether some of its cassettes are missing.
func (p *process) printCandidate(cfg config.Config, suite *goldens.Suite, prices price.Table, c goldens.Candidate) (incomplete bool) {
	sampling, err := cfg.Policy.Resolve(c.Provider, "action")
	model := cmp.Or(c.Model, sampling.Model)
	_, _ = fmt.Fprintf(p.stdout, "candidate %s\n", c.Name)
	line := func(name, text string) { _, _ = fmt.Fprintf(p.stdout, "  %-10s %s\n", name, text) }
	agent := strategy.Of(c.Agent)
	line("agent", agent.Name+", profile "+cmp.Or(c.Profile, agent.DefaultProfile()))
	if agent.Name == strategy.External {
		model = cmp.Or(c.Model, "the names that the agent sends")
		for _, l := range agents.Inspect(context.Background(), c.Settings, p.env, p.keys()) {
			line(l.Name, l.Text)
		}
	}
	line("provider", c.Provider)
	line("format", cmp.Or(p.adapters()[c.Provider], "unknown"))
	line("model", cmp.Or(model, "none: the policy has no model for this provider"))
	line("key", p.keyState(c))
	line("price", priceOf(prices, c.Provider, model, p.now().UTC()))
	for _, other := range [][2]string{{"rescue", c.Rescue}, {"fallback", c.Fallback}, {"planner", c.Plan.ReasoningModel}} {
		if other[1] != "" {
			line(other[0], other[1]+"; "+priceOf(prices, c.Provider, other[1], p.now().UTC()))
		}
	}
	if agent.Name != strategy.External {
		line("modes", p.modes(c))
	}
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
		incomplete = have < want
	}
	_, _ = fmt.Fprintln(p.stdout)
	return incomplete
}

// keys are the values of the providers' keys.
func (p *process) keys() (values []string) {
	for _, name := range all.Keys() {
		if value, ok := p.credential(name); ok && value != "" {
			values = append(values, value)
		}
	}
	return values
}

// modes are the output modes of a candidate's API format; the selected one is in brackets.
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

// limits describes the limits of a candidate's calls and episodes.
func limits(sampling policy.Resolved, c goldens.Candidate, prices price.Table, model string, at time.Time) string {
	tokens := sampling.MaxTokens
	if c.MaxTokens != nil {
		tokens = *c.MaxTokens
	}
	parts := []string{fmt.Sprintf("%d output tokens per call", tokens)}
	switch {
	case c.Agent == strategy.External:
		parts[0] = "the output tokens that the agent asks for"
	case tokens == 0:
		parts[0] = "the provider's own limit of output tokens"
	}
	if e, ok := prices.Lookup(c.Provider, model, at); ok && e.Context > 0 {
		parts = append(parts, fmt.Sprintf("context window of %d tokens", e.Context))
	}
	return strings.Join(append(parts, fmt.Sprintf("%d steps, %d tool calls and %d s per episode unless the task sets its own",
		sampling.MaxSteps, sampling.MaxToolCalls, sampling.MaxSeconds)), "; ")
}

// keyState says whether a candidate's credential is set, never its value.
func (p *process) keyState(c goldens.Candidate) string {
	key, err := p.key(c)
	switch {
	case err != nil:
		return "missing"
	case key == "" && all.KeyOptional(c.Provider):
		return "not set: the server may not need a key, or reads credentials elsewhere"
	case key == "":
		return "not needed"
	}
	return "set"
}

// printTools prints the addresses of the suite's HTTP tools, the commands of its worlds, and
// whether their credentials are set, never their values.
func (p *process) printTools(suite *goldens.Suite) {
	w := console.Table(p.stdout, "tool", "approve", "address", "credentials")
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
	for _, spec := range suite.Tools {
		if s, ok := suite.MCP[spec.Name]; ok {
			address := "of " + s.Name
			if !seen[s.String()] {
				address, seen[s.String()] = s.String(), true
			}
			w.AppendRow(table.Row{spec.Name, suite.Approval(spec.Name), address, p.envStates(s.Variables())})
		}
	}
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

// envStates says which environment variables are set. It ignores empty names.
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
	return cmp.Or(strings.Join(states, ", "), "not needed")
}

// countCassettes counts the cassettes that a candidate has and those that it needs.
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
