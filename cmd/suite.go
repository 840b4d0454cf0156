package cmd

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/desk"
	"github.com/cupel-eval/cupel/goldens/draft"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/reports/words"
)

// builtins are the suites inside the binary, by the name that follows "builtin:".
var builtins = map[string]fs.FS{"counts": counts.FS, "desk": desk.FS, "research": research.FS}

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
		suite, err = p.lintedSuite(fsys, path)
		return suite, "", err
	}
	if errors.Is(missing, fs.ErrNotExist) {
		place := ""
		if path == p.cfg.Suite {
			place = p.cfg.Place("suite")
		}
		return nil, "", exit.Usage(fmt.Errorf("%sno suite folder %s; name one with --suite, or write a first one with: cupel init", place, path))
	}
	suite, err = p.lintedSuite(regular.DirFS(path), path)
	return suite, path, err
}

// lintedSuite loads a suite whose every tool is implemented: by the built-in world,
// over HTTP or by the App.
func (p *process) lintedSuite(fsys fs.FS, path string) (*goldens.Suite, error) {
	suite, err := load.Suite(fsys, path, p.worlds())
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
			suite, err := suiteArg(p, c, args)
			if err != nil {
				return err
			}
			solved, _, err := solutionCount(suite)
			if err != nil {
				return err
			}
			w := console.Table(p.stdout)
			w.AppendHeader(table.Row{"task", "tier", "expects", "title"})
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
	cmd.AddCommand(lint, list, tools, schema, newSuiteAdd(p), newSuitePlay(p), newSuiteProve(p))
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
			suite, err := suiteArg(p, c, args)
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
			_, err = fmt.Fprintf(p.stdout, "%s: %s; %s, %s, %s: %s\n", suite.Path, taskCount(suite),
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

// suiteArg loads the suite the argument, the flag or the configuration names.
func suiteArg(p *process, c *cobra.Command, args []string) (*goldens.Suite, error) {
	cfg, err := p.load(c)
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		cfg.Suite = args[0]
	}
	suite, _, err := p.loadSuite(cfg.Suite)
	return suite, err
}

// scaffold is what init writes: a commented configuration and a first suite.
//
//go:embed scaffold
var scaffold embed.FS

const nextAfterInit = `  cupel run --mode record      # record the tasks with simulated models: no key, no cost
  cupel show latest --failed   # the episodes that are not solved
  cupel gate latest            # exit 11: three tasks are too few for a verdict
`

func newInit(p *process) *cobra.Command {
	return &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Create cupel.yaml and an example suite",
		Long: `Writes cupel.yaml, with a comment for every field, and suites/first: three tasks,
their tools and their reference solutions. Existing files are kept as they are. The
example needs no key: its two candidates are simulated models.`,
		Example: `  cupel init
  cupel init my-project`,
		RunE: func(_ *cobra.Command, args []string) error {
			root := "."
			if len(args) == 1 {
				root = args[0]
			}
			_, missing := os.Stat(filepath.Join(root, config.Name))
			if err := writeScaffold(p, root); err != nil {
				return err
			}
			next := nextAfterInit
			if missing == nil { // its candidates may cost money
				next = "  cupel doctor                 # what the existing cupel.yaml configures, and what is missing\n"
			}
			if filepath.Clean(root) != "." {
				next = "  cd " + root + "\n" + next
			}
			_, err := fmt.Fprint(p.stdout, "\nnext:\n"+next)
			return err
		},
	}
}

// writeScaffold writes every file of the scaffold that does not exist yet.
func writeScaffold(p *process, root string) error {
	return fs.WalkDir(scaffold, "scaffold", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel("scaffold", filepath.FromSlash(path))
		if err != nil {
			return err
		}
		text, err := scaffold.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(root, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			_, _ = fmt.Fprintf(p.stdout, "kept    %s (exists)\n", to)
			return nil
		}
		if err != nil {
			return fmt.Errorf("init: %w", err)
		}
		if _, err := f.Write(text); err != nil {
			_ = f.Close()
			return fmt.Errorf("init: write %s: %w", to, err)
		}
		_, _ = fmt.Fprintf(p.stdout, "wrote   %s\n", to)
		return f.Close()
	})
}

func newSuiteTools(p *process) *cobra.Command {
	return &cobra.Command{
		Use:   "tools [SUITE]",
		Short: "Print the tools of process worlds as YAML",
		Long: `Starts the command of each world of kind process in the suite folder, asks it for its
tools and stops it. Reads only tools and worlds of suite.yaml, so that the tasks need
not exist yet. Add "write: true" to the tools that change state.`,
		Example: "  cupel suite tools suites/mine >> suites/mine/suite.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := p.load(c)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				cfg.Suite = args[0]
			}
			return printTools(p, c, cfg.Suite)
		},
	}
}

// printTools prints what each different command of a suite's worlds declares.
func printTools(p *process, c *cobra.Command, suite string) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	worlds, err := load.Processes(regular.DirFS(suite), suite, p.worlds())
	if err != nil {
		return err
	}
	if len(worlds) == 0 {
		return exit.Usage(fmt.Errorf("list the tools of %s: no world of its suite.yaml is of kind process; see docs/worlds.md", suite))
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(worlds)) {
		k := worlds[name]
		if key := strings.Join(k.Command, "\x00"); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		k.Lookup = p.credential
		specs, err := k.List(ctx)
		if err != nil {
			return fmt.Errorf("world %s: %w", name, err)
		}
		text, err := draft.Tools(specs)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.stdout, "# of world %s\n%s", name, text); err != nil {
			return err
		}
	}
	return nil
}
