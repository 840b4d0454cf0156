// Package cmd is the command line: flags, configuration, wiring and exit codes. It is
// the only package with viper, the environment and signals.
package cmd

import (
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/recorder"
)

// Main runs the command line of the process and ends it with the exit code.
func Main() {
	markCrashes()
	p := &process{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.LookupEnv,
		now: time.Now, //nolint:forbidigo // the one clock of the program
	}
	p.guard()
	log.SetOutput(p.stderr) // net/http quotes what servers and clients send
	os.Exit(execute(p))
}

// process is everything the program takes from the outside.
type process struct {
	args           []string
	stdin          *os.File
	stdout, stderr io.Writer
	// json and commands are standard output, too: for JSON, which stays exact, and for
	// the annotations of GitHub Actions. Nothing else is written to them.
	json, commands io.Writer
	env            func(string) (string, bool)
	now            func() time.Time
	// secrets know the credentials that were looked up so far.
	secrets *recorder.Secrets
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

// load reads the configuration for a verb.
func (p *process) load(c *cobra.Command) (cfg config.Config, err error) {
	p.cfg, err = config.Load(config.Sources{Flags: c.Flags(), Env: p.env, Providers: all.Names()})
	return p.cfg, err
}

func newRoot(p *process) *cobra.Command {
	root := &cobra.Command{
		Use:   "cupel",
		Short: "Evaluate LLM agents on golden tasks, from recorded evidence",
		Long: `cupel runs golden tasks against LLM agents, records every HTTP exchange on a
cassette, writes every turn to a Parquet ledger, and turns the ledger into an
acceptance verdict: at least 80% of tasks solved, at least 95% contract-valid
outputs, at most 1 clarifying question per success, at most 5 steps per solved
task. Candidates differ in model, prompt or architecture: agent contract (one JSON
object per turn), tools (native calls) or plan (a planner, then steps).

Exit codes: 0 accepted · 1 harness or infrastructure error · 2 usage or
configuration · 3 missing, stale or corrupt cassette or run · 10 rejected ·
11 inconclusive · 130 interrupted · 134 (SIGABRT) cupel crashed: please report it.`,
		Example: `  cupel run                                  # replay the built-in suite: no key, no network
  cupel gate latest --candidate strong       # the verdict as an exit code
  cupel run --suite research                 # which architecture is best?
  cupel init && cupel run --mode record      # a suite of your own`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return exit.Usage(fmt.Errorf("unknown command %q; see cupel --help", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return exit.Usage(fmt.Errorf("%w; see %s --help", err, c.CommandPath()))
	})
	root.AddCommand(newInit(p), newRun(p), newMerge(p), newVerify(p), newRescore(p), newReport(p), newQuery(p), newCompare(p), newGate(p), newShow(p), newCanary(p), newSuite(p), newCassette(p), newContract(p), newSim(p), newDoctor(p))
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
