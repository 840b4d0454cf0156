// Package cmd is the command line: verbs with their flags, wiring and exit codes. It is
// the only package with the environment and signals.
//
// A program that brings an agent, a tool or a provider has every verb with them:
//
//	func main() {
//		cmd.Main(cmd.App{Strategies: map[string]agent.Strategy{"mine": {New: newMine}}})
//	}
package cmd

import (
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/cmd/internal/catalogue"
	"github.com/cupel-eval/cupel/cmd/internal/commandline"
	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/crash"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/fleets"
	_ "github.com/cupel-eval/cupel/cmd/internal/garbage" // collected less often
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/flowsim"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/goldens/scorer"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/imports"
	"github.com/cupel-eval/cupel/harness/store"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// App is what a program adds to the command line. The zero App is the program cupel.
// Names are those that suites and configurations use. Where one is also that of a
// built-in strategy, tool, world or provider, the App's takes its place.
type App struct {
	// Strategies are agents, by the name that a candidate gives as its agent.
	Strategies map[string]agent.Strategy
	// Tools are Go functions, by the name of the tool of a suite that each of them
	// executes, in place of its world or HTTP endpoint. They run in replay, too.
	// Several episodes call one at once.
	Tools map[string]episode.ToolFunc
	// Checks are Go functions, by the name that a task's score gives as its check. They run
	// in replay, too.
	Checks map[string]scorer.Func
	// Worlds are kinds of worlds, by the name that a suite's worlds give as their kind.
	Worlds map[string]world.Kind
	// Providers make models, by the name that a candidate gives as its provider. What
	// they send through the client of their options is recorded and replayed. A
	// candidate names the variable of its credential in key_env.
	Providers map[string]providers.Factory
	// Importers are formats of files for the verb import, by the name that it takes.
	Importers map[string]imports.Format
	// Fleet adds the verbs queue, worker and status, and --queue of the verb run: see
	// harness/fleet/natsfleet. nil leaves them out.
	Fleet fleet.Service
	// Stores open stores of runs, by the scheme of their addresses, such as "s3". They add the
	// verb push, and let the verbs that read runs take s3://BUCKET/PREFIX/RUN.
	Stores map[string]func(address string, lookup func(name string) (string, bool)) (store.Store, error)
}

// Main runs the command line of the process and ends it with the exit code. Call it
// once, from main.
func Main(app App) {
	crash.Mark()
	p := &process{
		app: app, args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.LookupEnv,
		now: time.Now, //nolint:forbidigo // the one clock of the program
	}
	p.guard()
	log.SetOutput(p.stderr) // net/http quotes what servers and clients send
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 1<<14 // thousands of requests may be in flight to one provider
	}
	os.Exit(execute(p))
}

// process is everything the program takes from the outside.
type process struct {
	app            App
	args           []string
	stdin          *os.File
	stdout, stderr io.Writer
	// json and commands are standard output, too: for JSON, which stays exact, and for
	// the annotations of GitHub Actions. Nothing else is written to them.
	json, commands io.Writer
	env            func(string) (string, bool)
	now            func() time.Time
	// secrets know the credentials that were looked up so far.
	secrets *secrets.Finder
	// proves says that built-in suites are proved again.
	proves bool
	// cfg is the configuration, once it was read.
	cfg config.Config
}

// execute runs the command line and returns the exit code.
func execute(p *process) int {
	if p.secrets == nil {
		p.guard()
	}
	root := newRoot(p)
	root.SetArgs(p.args)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	err := root.Execute()
	if err != nil && err.Error() != "" {
		text := err.Error()
		if exit.Code(err) == exit.BadUsage {
			text = p.cfg.Locate(text)
		}
		_, _ = fmt.Fprintln(p.stderr, "cupel: "+strings.ReplaceAll(text, "\n", "\ncupel: "))
	}
	return exit.Code(err)
}

// providers are the built-in ones and the App's.
func (p *process) providers() map[string]providers.Factory {
	factories := all.Factories()
	maps.Copy(factories, p.app.Providers)
	return factories
}

// worlds are the kinds of worlds that suites may name: those of the built-in suites and
// the App's.
func (p *process) worlds() map[string]world.Kind {
	kinds := counts.Worlds()
	maps.Copy(kinds, research.Worlds())
	maps.Copy(kinds, flowsim.Worlds())
	maps.Copy(kinds, p.app.Worlds)
	return kinds
}

// adapters are the versions of the built-in providers' codecs. An App's provider has
// none: its cassettes do not become stale when its code changes.
func (p *process) adapters() map[string]string {
	versions := all.Versions()
	maps.DeleteFunc(versions, func(name, _ string) bool { return p.app.Providers[name] != nil })
	return versions
}

// load reads the configuration for a verb.
func (p *process) load(c *cobra.Command) (cfg config.Config, err error) {
	p.cfg, err = config.Load(config.Sources{Flags: c.Flags(), Env: p.env, Providers: slices.Collect(maps.Keys(p.providers())), Suites: slices.Collect(maps.Keys(builtins))})
	if err == nil {
		if pack := c.Flags().Lookup("pack"); pack != nil {
			p.cfg.Pack = pack.Value.String()
		}
		p.noteSkippedRuns(c)
	}
	return p.cfg, err
}

// withConfig makes a verb that reads the configuration first.
func (p *process) withConfig(run func(*cobra.Command, config.Config, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		cfg, err := p.load(c)
		if err != nil {
			return err
		}
		return run(c, cfg, args)
	}
}

// runsFlags are the flags of a verb that reads runs.
func runsFlags(cmd *cobra.Command) {
	cmd.Flags().String("config", config.Name, "configuration file")
	cmd.Flags().String("runs", "", "folder of the runs (default runs)")
}

func newRoot(p *process) *cobra.Command {
	root := &cobra.Command{
		Use:   fleets.Program(p.app.Fleet),
		Short: "Evaluate LLM agents on golden tasks",
		Long: `cupel runs golden tasks with LLM agents, records every HTTP request and response to
cassettes, writes one Parquet row per model turn, and judges the run: by default at
least 80% of tasks solved, at least 95% contract-valid outputs, at most 1 clarifying
question per success and at most 5 steps per solved task, each with a confidence
interval. Candidates differ in model, prompt or agent: contract (one JSON object per
turn), tools (native tool calls) or plan (a planner, then steps).

Exit codes: 0 accepted (gate) or completed · 1 harness or infrastructure error ·
2 usage or configuration · 3 missing, stale or corrupt cassette or run · 10 rejected ·
11 inconclusive · 130 interrupted · 134 (SIGABRT) cupel crashed: please report it.`,
		Example: `  cupel run                                  # replay the built-in suite: no key, no network
  cupel gate latest --candidate strong       # exit with the verdict
  cupel run --suite research                 # compare agent architectures
  cupel init && cupel run --mode record      # your own suite`,
		Version:           version(),
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: p.stores().Stage,
	}
	commandline.Prepare(root, []commandline.Group{
		{Title: "Run", Commands: []*cobra.Command{newInit(p), newRun(p), newMerge(p), newVerify(p), newRescore(p), newImport(p)}},
		{Title: "Read results", Commands: []*cobra.Command{newShow(p), newReport(p), newView(p), newCompare(p), newGate(p), newQuery(p), newLabel(p)}},
		{Title: "Several machines", Commands: append(fleets.Commands(p.app.Fleet, p.fleet), catalogue.Commands(p.stores(), p.findRun, runsFlags)...)},
		{Title: "Suites and recordings", Commands: []*cobra.Command{newSuite(p), newJudge(p), newCassette(p), newTape(p)}},
		{Title: "Other", Commands: []*cobra.Command{newDoctor(p), newCanary(p), newContract(p), newSim(p)}},
	}, commandline.Sources(p.load, func(path string) (*goldens.Suite, error) {
		suite, _, err := p.loadSuite(path)
		return suite, err
	}, slices.Sorted(maps.Keys(builtins))), func(name string) string { return fleets.Elsewhere(p.app.Fleet, name) })
	return root
}

// version is the module version, or the commit the binary was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "devel", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			rev = s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	return rev + dirty
}
