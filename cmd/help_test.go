package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/store"
)

// outside returns a process for tests of the command line, and its output.
func outside(args ...string) (p *process, stdout, stderr *strings.Builder) {
	stdout, stderr = new(strings.Builder), new(strings.Builder)
	return &process{args: args, stdout: stdout, stderr: stderr, now: time.Now, env: func(string) (string, bool) { return "", false }}, stdout, stderr
}

// The help of every command is short, and has examples and groups.
func TestHelp(t *testing.T) {
	p, _, _ := outside()
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		t.Run(c.CommandPath(), func(t *testing.T) {
			require.NotEmpty(t, c.Short)
			require.LessOrEqual(t, len(c.Short), 60, c.Short)
			require.False(t, strings.HasSuffix(c.Short, "."), "a Short has no full stop")
			require.LessOrEqual(t, strings.Count(c.Long, "\n")+1, 15, "details belong to docs")
			for line := range strings.Lines(c.Long) {
				require.LessOrEqual(t, utf8.RuneCountInString(line), 92, line)
			}
			if !c.HasSubCommands() && c.Name() != "help" {
				require.Contains(t, c.Example, "cupel ")
			}
			if c.HasParent() && !c.Parent().HasParent() {
				require.NotEmpty(t, c.GroupID)
			}
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				require.LessOrEqual(t, utf8.RuneCountInString(f.Usage), 140, "--%s: %s", f.Name, f.Usage)
			})
		})
	}
	visit(newRoot(p))
}

// Verbs and errors of the program with a queue name that program.
func TestHelpOfFleets(t *testing.T) {
	for _, verb := range []string{"queue", "worker", "status", "run"} {
		p, stdout, _ := outside(verb, "--help")
		p.app.Fleet = struct{ fleet.Service }{}
		require.Zero(t, execute(p))
		require.Contains(t, stdout.String(), "Usage:\n  cupel-fleet "+verb)
	}
	p, _, stderr := outside("worker", "--que", "x")
	p.app.Fleet = struct{ fleet.Service }{}
	require.Equal(t, 2, execute(p))
	require.Contains(t, stderr.String(), "did you mean --queue? see cupel-fleet worker --help")
}

// Verbs and flags that only cupel-fleet has are not called unknown without naming it.
func TestOtherProgramIsNamed(t *testing.T) {
	p, _, _ := outside()
	plain := newRoot(p)
	p.app.Fleet, p.app.Stores = struct{ fleet.Service }{}, map[string]func(string, func(string) (string, bool)) (store.Store, error){}
	var lines []string
	for _, c := range newRoot(p).Commands() {
		own, _, err := plain.Find([]string{c.Name()})
		require.NoError(t, err)
		if own == plain {
			lines = append(lines, c.Name())
			continue
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if own.Flags().Lookup(f.Name) == nil {
				lines = append(lines, c.Name()+" --"+f.Name+"=1")
			}
		})
	}
	require.Contains(t, lines, "worker")
	require.Contains(t, lines, "run --queue=1")
	for _, line := range lines {
		p, _, stderr := outside(strings.Fields(line)...)
		require.Equal(t, 2, execute(p), line)
		require.Contains(t, stderr.String(), "; cupel-fleet has it: use it in place of cupel; see cupel", line)
	}
}

// Usage errors are in cupel's words, with an example or a reference.
func TestUsageErrors(t *testing.T) {
	for line, want := range map[string]string{
		"rnu":                         `unknown command "rnu"; did you mean run? see cupel --help`,
		"suite lst":                   `unknown command "suite lst"; did you mean list? see cupel suite --help`,
		"completion foo":              `unknown command "completion foo"; see cupel completion --help`,
		"run --trails 3":              `unknown flag --trails; did you mean --trials? see cupel run --help`,
		"run --frobnicate":            `unknown flag --frobnicate; see cupel run --help`,
		"run -z":                      `unknown flag -z; see cupel run --help`,
		"run --trials x":              `--trials "x": not a whole number; for example: cupel run --suite suites/mine --mode record --candidate gpt --trials 3`,
		"run --replay-speed x":        `--replay-speed "x": not a number; for example: cupel run --help`,
		"run --shard":                 `--shard needs a value; for example: cupel run --shard 1/4 --max-cost 5 --mode live`,
		"run foo":                     `run takes no arguments: remove "foo"; for example: cupel run`,
		"gate":                        `gate: missing RUN; for example: cupel gate latest`,
		"gate a b":                    `gate: unexpected argument "b" after RUN; for example: cupel gate latest`,
		"compare a":                   `compare: missing NEW; for example: cupel compare previous latest`,
		"compare":                     `compare: missing BASELINE and NEW; for example: cupel compare previous latest`,
		"show a b c":                  `show: unexpected argument "c" after EPISODE; for example: cupel show latest`,
		"suite add x --from latest/a": `suite add takes no arguments: remove "x"; for example: cupel suite add --from latest/G41/weak --suite suites/mine`,
	} {
		p, stdout, stderr := outside(strings.Fields(line)...)
		require.Equal(t, 2, execute(p), line)
		require.Equal(t, "cupel: "+want+"\n", stderr.String())
		require.Empty(t, stdout.String())
	}
}

// Completion knows suites, tasks, candidates, runs and episodes, by argument and by flag,
// and says nothing about errors.
func TestCompletion(t *testing.T) {
	runs := filepath.Join(t.TempDir(), "runs")
	p, _, stderr := outside("run", "--quiet", "--runs", runs, "--task", "G01", "--task", "G04", "--candidate", "weak")
	require.Zero(t, execute(p), stderr.String())
	entries, err := os.ReadDir(runs)
	require.NoError(t, err)
	id := entries[0].Name()
	for _, c := range []struct {
		line       string
		want, none []string
	}{
		{"gat", []string{"gate\tExit with"}, nil},
		{"gate ", []string{id + "\t20", "Not enough evidence", "latest\t", "previous\t"}, nil},
		{"gate " + id[:20], []string{id}, []string{"latest"}},
		{"gate latest ", nil, []string{id}},
		{"compare previous lat", []string{"latest"}, nil},
		{"run --failed-in ", []string{id}, nil},
		{"show latest ", []string{"G01/weak\t"}, []string{"G02"}},
		{"gate latest --candidate ", []string{"weak\tsim-weak"}, []string{"strong"}},
		{"run --candidate str", []string{"strong\t", "strong-anthropic\t"}, []string{"weak"}},
		{"run --suite research --task R0", []string{"R01\t"}, []string{"G01"}},
		{"run --suite ", []string{"builtin:counts", "builtin:research"}, nil},
		{"suite list b", []string{"builtin:desk"}, nil},
		{"cassette status builtin:research --task R0", []string{"R01\t"}, nil},
		{"run --mode r", []string{"record\t", "replay\t"}, []string{"live"}},
		{"run --tag co", []string{"core\n"}, nil},
		{"run --config nowhere.yaml --task ", nil, []string{"G01"}},
		{"show nowhere ", nil, []string{"G01"}},
	} {
		p, stdout, stderr := outside(append([]string{"__complete"}, append(strings.Fields(c.line), "")...)...)
		if !strings.HasSuffix(c.line, " ") {
			p.args = p.args[:len(p.args)-1]
		}
		p.env = func(name string) (string, bool) { return runs, name == "CUPEL_RUNS" }
		require.Zero(t, execute(p), c.line)
		for _, want := range c.want {
			require.Contains(t, stdout.String(), want, c.line)
		}
		for _, none := range c.none {
			require.NotContains(t, stdout.String(), none, c.line)
		}
		require.NotContains(t, stderr.String(), "cupel:", c.line)
	}
}

// A run without a selection prints the number of omitted scripted tasks; one with a selection does
// not.
func TestScriptedLeftOut(t *testing.T) {
	p, _, _ := outside()
	suite, _, err := p.loadSuite("builtin:counts")
	require.NoError(t, err)
	o := harness.Options{Matrix: harness.Matrix{Suite: suite}}
	require.Equal(t, len(suite.Tasks)-len(judged(t)), scriptedLeftOut(o))
	for _, s := range []harness.Selection{{Tasks: []string{"G01"}}, {Candidates: []string{"scripted"}}, {Tags: []string{"core"}}} {
		o.Select = s
		require.Zero(t, scriptedLeftOut(o))
	}
}
