package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/cmd/internal/tape"
	"github.com/cupel-eval/cupel/goldens"
	worldprocess "github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

func newCassette(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cassette",
		Short: "Manage recorded cassettes",
	}
	cmd.AddCommand(newCassetteStatus(p), newCassetteLs(p), newCassetteDiff(p), newCassettePrune(p), newCassetteSeal(p), newCassetteScan(p), packing.RecoverCommand(func() io.Writer { return p.stdout }), newCassettePack(p), newCassetteJoin(p), newCassetteAudit(p))
	return cmd
}

// newTape is the verb tape: a command whose requests to models are on a cassette.
func newTape(p *process) *cobra.Command {
	return tape.Command(func(o *tape.Options) {
		p.loadCredentials()
		o.Env, o.Stdin, o.Stdout, o.Stderr = os.Environ(), p.stdin, os.Stdout, os.Stderr
		o.Log, o.Secrets, o.Now = p.stderr, p.secrets, p.now
	})
}

func newCassetteLs(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ls [SUITE]",
		Short: "List the cassettes of a suite",
		Long: `Lists every cassette of a suite: the day of the recording, the model, the number of
HTTP exchanges, the size, and whether the model is simulated. Exits with 3 if a
cassette cannot be read.`,
		Example: `  cupel cassette ls
  cupel cassette ls builtin:counts`,
		RunE: func(c *cobra.Command, args []string) error {
			suite, _, err := p.suiteArg(c, args)
			if err != nil {
				return err
			}
			return listCassettes(p, suite, p.cfg.Pack)
		},
	}
	suiteFlags(cmd)
	packing.Flag(cmd)
	return cmd
}

func listCassettes(p *process, suite *goldens.Suite, from string) error {
	w := console.Table(p.stdout, "cassette", "day", "model", "interactions", "size", "simulated")
	var bad []error
	err := eachCassette(suite, from, func(fsys fs.FS, name string) error {
		c, err := cassette.Inspect(cassette.File{FS: fsys, Path: name})
		var corrupt *cassette.CorruptError
		switch {
		case errors.As(err, &corrupt):
			bad = append(bad, errors.New(console.Line(err.Error())))
			w.AppendRow(table.Row{console.Line(name), "", "(corrupt)", "", "", ""})
			return nil
		case err != nil:
			return err
		}
		simulated := "no"
		if c.Header.Simulated {
			simulated = "yes"
		}
		w.AppendRow(table.Row{
			console.Line(name), console.Line(cmp.Or(c.Header.Recorded, "unknown")), console.Line(cmp.Or(c.Header.Model, "unknown")),
			c.Interactions, fmt.Sprintf("%.1f KiB", float64(c.Bytes)/1024), simulated,
		})
		return nil
	})
	if err != nil {
		return err
	}
	w.Render()
	if len(bad) > 0 {
		return exit.With(exit.Replay, errors.Join(bad...))
	}
	return nil
}

// eachCassette calls f for every cassette of a suite, or in the pack at a path, by name.
func eachCassette(suite *goldens.Suite, from string, f func(fsys fs.FS, name string) error) error {
	fsys, done, err := packing.Files(suite, from)
	defer done()
	if err != nil {
		return err
	}
	files, err := cassette.List(fsys)
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := f(fsys, name); err != nil {
			return err
		}
	}
	return nil
}

func suiteFlags(cmd *cobra.Command) {
	cmd.Flags().String("suite", "", "suite folder, builtin:counts, builtin:desk, builtin:instance or builtin:research (default: the configuration's, else builtin:counts)")
	cmd.Flags().String("config", config.Name, "configuration file")
}

func newCassetteDiff(p *process) *cobra.Command {
	var task string
	var trial int
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two cassettes field by field",
		Long: `Compares the headers of two cassettes, then every HTTP exchange in recorded order,
request and reply, field by field. A and B are files, cassettes of the suite as
CANDIDATE/TASK/TRIAL, or with --task two candidates. Request ids, times and other HTTP
headers are ignored. Exits with 0 whether or not they differ.`,
		Example: `  cupel cassette diff strong weak --task G01
  cupel cassette diff strong/G01/1 strong/G02/1 --suite builtin:counts
  cupel cassette diff old.yaml suites/first/cassettes/strong/F01/1.yaml`,
		RunE: func(c *cobra.Command, args []string) error {
			suite, _, err := p.suiteArg(c, nil)
			if err != nil {
				return err
			}
			files, done, err := packing.Files(suite, p.cfg.Pack)
			defer done()
			if err != nil {
				return err
			}
			var two [2]*cassette.Contents
			for i, arg := range args {
				if task != "" {
					arg = cassettes.Path(task, arg, trial)
				}
				if two[i], err = openCassette(suite, files, arg, task == ""); err != nil {
					return err
				}
			}
			return printDiff(p, two[0], two[1])
		},
	}
	suiteFlags(cmd)
	packing.Flag(cmd)
	cmd.Flags().StringVar(&task, "task", "", "compare cassettes of this task, of candidates A and B")
	cmd.Flags().IntVar(&trial, "trial", 1, "trial to compare, with --task")
	return cmd
}

// openCassette reads a cassette that is named by its file or as CANDIDATE/TASK/TRIAL of the
// suite. orFile allows files.
func openCassette(suite *goldens.Suite, files fs.FS, name string, orFile bool) (*cassette.Contents, error) {
	if info, err := os.Stat(name); orFile && err == nil && info.Mode().IsRegular() {
		c, err := cassette.Inspect(cassette.File{Dir: filepath.Dir(name), Path: filepath.Base(name)})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.Path = name
		return c, nil
	}
	below := strings.TrimSuffix(filepath.ToSlash(name), ".yaml") + ".yaml"
	if strings.Count(below, "/") != 2 || !fs.ValidPath(below) {
		return nil, exit.Usage(fmt.Errorf("no cassette %s; name a file, CANDIDATE/TASK/TRIAL of suite %s, or two candidates and --task", console.Line(name), suite.Path))
	}
	f := cassette.File{FS: files, Path: below}
	if _, pack := files.(cassette.Archive); !pack {
		f = cassette.File{FS: suite.FS, Path: path.Join("cassettes", below)} // as its messages name it
	}
	return cassette.Inspect(f)
}

func printDiff(p *process, a, b *cassette.Contents) error {
	var out strings.Builder
	for _, side := range []struct {
		sign string
		of   *cassette.Contents
	}{{"---", a}, {"+++", b}} {
		fmt.Fprintf(&out, "%s %s: %d interactions\n", side.sign, console.Line(side.of.Path), side.of.Interactions)
	}
	differences := a.Diff(b)
	for _, d := range differences {
		fmt.Fprintf(&out, "%s\n  %s\n", d.Where, strings.Join(d.Lines, "\n  "))
	}
	if len(differences) == 0 {
		out.WriteString("no differences\n")
	}
	_, err := fmt.Fprint(p.stdout, out.String())
	return err
}

// learn adds the credentials of all providers, of the candidates and of the suite's tools
// and worlds to the known secrets: no cassette may contain one.
func (p *process) learn(candidates []goldens.Candidate, suite *goldens.Suite) {
	p.loadCredentials()
	if candidates == nil {
		candidates = suite.Candidates
	}
	for _, c := range candidates {
		p.credential(c.KeyEnv)
	}
	for _, h := range suite.HTTP {
		for _, line := range h.Headers {
			p.credential(line.Env)
		}
	}
	for _, s := range suite.MCP {
		for _, name := range s.Variables() {
			p.credential(name)
		}
	}
	for _, t := range suite.Tasks {
		p.secrets.Add(slices.Collect(maps.Values(t.World.Env))...)
		if k, ok := t.World.Maker.(worldprocess.Kind); ok {
			for _, name := range k.Env {
				p.credential(name)
			}
		}
	}
}
