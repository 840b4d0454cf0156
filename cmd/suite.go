package cmd

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/pin"
	"github.com/cupel-eval/cupel/cmd/internal/starter"
	"github.com/cupel-eval/cupel/cmd/internal/suiteimport"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/desk"
	"github.com/cupel-eval/cupel/goldens/instance"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/reports/words"
)

// builtins are the suites inside the binary, by the name that follows "builtin:".
var builtins = map[string]fs.FS{"counts": counts.FS, "desk": desk.FS, "instance": instance.FS, "research": research.FS}

const builtinPrefix = "builtin:"

// builtinSuite returns the built-in suite that path names.
func builtinSuite(path string) (fs.FS, error) {
	name := strings.TrimPrefix(path, builtinPrefix)
	fsys, ok := builtins[name]
	if !ok {
		known := builtinPrefix + strings.Join(slices.Sorted(maps.Keys(builtins)), ", "+builtinPrefix)
		return nil, exit.Usage(fmt.Errorf("no built-in suite %q; there is: %s", name, known))
	}
	return fsys, nil
}

// loadSuite loads a suite folder or a built-in one, whose prefix may be left out
// where no folder is called so. dir is the folder on disk, empty for a built-in suite.
func (p *process) loadSuite(path string) (suite *goldens.Suite, dir string, err error) {
	_, missing := os.Stat(path)
	if _, known := builtins[path]; known && errors.Is(missing, fs.ErrNotExist) {
		path = builtinPrefix + path
	}
	if strings.HasPrefix(path, builtinPrefix) {
		fsys, err := builtinSuite(path)
		if err != nil {
			return nil, "", err
		}
		read := load.Proved // by the tests of the built-in suites
		if p.proves || len(p.app.Worlds) > 0 {
			read = load.Suite
		}
		suite, err = p.lintedSuite(read, fsys, path)
		return suite, "", err
	}
	if errors.Is(missing, fs.ErrNotExist) {
		place := ""
		if path == p.cfg.Suite {
			place = p.cfg.Place("suite")
		}
		return nil, "", exit.Usage(fmt.Errorf("%sno suite folder %s; name one with --suite, or write a first one with: cupel init", place, path))
	}
	suite, err = p.lintedSuite(load.Suite, regular.DirFS(path), path)
	return suite, path, err
}

// lintedSuite loads a suite whose every tool is implemented: by the built-in world,
// over HTTP or by the App.
func (p *process) lintedSuite(read func(fs.FS, string, map[string]world.Kind) (*goldens.Suite, error), fsys fs.FS, path string) (*goldens.Suite, error) {
	suite, err := read(fsys, path, p.worlds())
	if err != nil {
		return nil, err
	}
	return suite, suite.Lint(slices.Collect(maps.Keys(p.app.Tools))...)
}

func newSuite(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suite",
		Short: "Manage golden-task suites",
	}
	lint := newSuiteLint(p)
	list := &cobra.Command{
		Use:     "list [SUITE]",
		Short:   "List the tasks of a suite",
		Example: "  cupel suite list builtin:counts",
		RunE: func(c *cobra.Command, args []string) error {
			suite, _, err := p.suiteArg(c, args)
			if err != nil {
				return err
			}
			solved, _, err := solutionCount(suite)
			if err != nil {
				return err
			}
			w := console.Table(p.stdout, "task", "tier", "expects", "title")
			for _, t := range suite.Tasks {
				w.AppendRow(table.Row{t.ID, t.Tier, t.Expect[0].Status, t.Title})
			}
			w.Render()
			_, err = fmt.Fprintf(p.stdout, "\n%s: %s, %s\n", suite.Path, taskCount(suite), solved)
			return err
		},
	}
	ofPlaybook := false
	schema := &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of suite files, for editors",
		Example: "  cupel suite schema > suite.schema.json\n  cupel suite schema --playbook > playbook.schema.json",
		RunE: func(*cobra.Command, []string) error {
			text := goldens.Schema()
			if ofPlaybook {
				text = playbook.Schema()
			}
			_, err := p.json.Write(text)
			return err
		},
	}
	schema.Flags().BoolVar(&ofPlaybook, "playbook", false, "print the schema of playbook.yaml (default: of suite.yaml)")
	tools := newSuiteTools(p)
	for _, c := range []*cobra.Command{lint, list, tools} {
		suiteFlags(c)
	}
	cmd.AddCommand(lint, list, tools, schema, newSuiteAdd(p), newSuitePlay(p), newSuiteProve(p),
		suiteimport.Command(func() suiteimport.Host { return suiteimport.Host{Stdout: p.stdout, Worlds: p.worlds()} }))
	return cmd
}

func newSuiteLint(p *process) *cobra.Command {
	return &cobra.Command{
		Use:   "lint [SUITE]",
		Short: "Check a suite for errors and impossible tasks",
		Long: `Checks a suite and prints every problem with file, line and field.

From every accepted outcome it builds an episode that meets it, and scores it. If none
can exist, it names the checks that contradict each other and exits with 2. It only
warns about an outcome that an empty answer passes, a condition that every episode
meets, and a forbidden tool that looks misspelled. It also checks the reference
solutions of playbook.yaml. Details: docs/suites.md.`,
		Example: "  cupel suite lint suites/mine",
		RunE: func(c *cobra.Command, args []string) error {
			p.proves = true
			suite, _, err := p.suiteArg(c, args)
			if suite == nil {
				return err
			}
			warnings := suite.Warnings
			for _, w := range warnings {
				if _, err := fmt.Fprintf(p.stdout, "warning: %v\n", w); err != nil {
					return err
				}
			}
			solved, missing, wrong := solutionCount(suite)
			if err = errors.Join(err, wrong); err != nil {
				return err
			}
			if len(missing) > 0 {
				if _, err := fmt.Fprintf(p.stdout, "note: without a reference solution in playbook.yaml: %s\n", clip.Runes(strings.Join(missing, ", "), 300)); err != nil {
					return err
				}
			}
			result := "no problems"
			if n := len(warnings); n > 0 {
				result = fmt.Sprintf("no errors, %s", console.Count(n, "warning"))
			}
			_, err = fmt.Fprintf(p.stdout, "%s%s: %s; %s, %s, %s: %s\n", suiteimport.Kinds(suite), suite.Path, taskCount(suite),
				console.Count(len(suite.Tools), "tool"), console.Count(len(suite.Candidates), "candidate"), solved, result)
			return err
		},
	}
}

// taskCount says how many tasks a suite has.
func taskCount(s *goldens.Suite) string {
	scripted := 0
	for i := range s.Tasks {
		if s.Tasks[i].Scripted {
			scripted++
		}
	}
	return words.TaskCount(len(s.Tasks)-scripted, scripted)
}

// solutionCount says how many tasks of a suite have a reference solution. missing are the
// tasks without one, of a suite that has a playbook.
func solutionCount(s *goldens.Suite) (count string, missing []string, err error) {
	book, err := load.Playbook(s)
	switch {
	case err != nil:
		return "", nil, err
	case book == nil:
		return "no playbook", nil, nil
	}
	return console.Count(len(book.Plays()), "reference solution"), book.Missing(), nil
}

// loadWith reads the configuration, with the suite that the argument names if there is one.
func (p *process) loadWith(c *cobra.Command, args []string) (config.Config, error) {
	cfg, err := p.load(c)
	if len(args) == 1 {
		cfg.Suite = args[0]
	}
	return cfg, err
}

// suiteArg loads the suite the argument, the flag or the configuration names; see loadSuite.
func (p *process) suiteArg(c *cobra.Command, args []string) (*goldens.Suite, string, error) {
	cfg, err := p.loadWith(c, args)
	if err != nil {
		return nil, "", err
	}
	return p.loadSuite(cfg.Suite)
}

// scaffold is what init writes: a commented configuration and a first suite.
//
//go:embed scaffold
var scaffold embed.FS

func newInit(p *process) *cobra.Command {
	return starter.Command(func() (fs.FS, io.Writer, error) {
		files, err := fs.Sub(scaffold, "scaffold")
		return files, p.stdout, err
	})
}

func newSuiteTools(p *process) *cobra.Command {
	return pin.Command(func(c *cobra.Command, args []string) (pin.Suite, error) {
		cfg, err := p.loadWith(c, args)
		return pin.Suite{Dir: cfg.Suite, Kinds: p.worlds(), Lookup: p.credential, Out: p.stdout}, err
	})
}
