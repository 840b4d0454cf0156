// Package suiteimport is the verb suite import: it writes suites from the files of benchmarks.
package suiteimport

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/reports/words"
)

// format is a benchmark whose files become a suite.
type format struct {
	short, long, example string
	// read reads the files of a folder.
	read func(source) (*suite, error)
}

// suite is what a format makes of the files it reads.
type suite struct {
	// files are those of the suite by their names.
	files map[string][]byte
	// leftOut counts what the suite does not have, such as unknown fields.
	leftOut map[string]int
}

func newSuite() *suite { return &suite{files: map[string][]byte{}, leftOut: map[string]int{}} }

var formats = map[string]format{
	"bfcl":      {"Import the questions of BFCL as a suite", bfclHelp, "  cupel suite import bfcl data/ --out suites/bfcl\n  cupel suite lint suites/bfcl", readBFCL},
	"tau-bench": {"Import a domain of tau-bench as a suite", tauHelp, "  cupel suite import tau-bench tau-bench/tau_bench/envs/airline --out suites/airline\n  cupel suite prove suites/airline", readTauBench},
}

// Host is what the verb needs of the program.
type Host struct {
	Stdout io.Writer
	Worlds map[string]world.Kind
}

// Command is the verb.
func Command(h func() Host) *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Write a suite from the files of a benchmark"}
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		f, out := formats[name], ""
		verb := &cobra.Command{
			Use: name + " DIR", Short: f.short, Long: f.long, Example: f.example, Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error {
				if out == "" {
					return exit.Usage(errors.New("name the folder of the new suite with --out"))
				}
				return write(h(), name, f, args[0], out)
			},
		}
		verb.Flags().StringVar(&out, "out", "", "folder of the new suite, which must not exist")
		cmd.AddCommand(verb)
	}
	return cmd
}

// write writes a suite beside its place and moves it there when all of it can be loaded.
func write(host Host, name string, f format, dir, out string) (err error) {
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		return exit.Usage(fmt.Errorf("%s exists; name a new folder with --out", out))
	}
	s, err := f.read(source{dir, regular.DirFS(dir)})
	if err != nil {
		return exit.Usage(fmt.Errorf("import %s from %s: %w", name, dir, err))
	}
	out = filepath.Clean(out)
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(out), ".import-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	folder := filepath.Join(temp, filepath.Base(out)) // with the mode that the umask leaves
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	if err := s.writeTo(folder); err != nil {
		return err
	}
	loaded, err := load.Suite(regular.DirFS(folder), out, host.Worlds)
	if err != nil {
		return exit.Usage(fmt.Errorf("import %s from %s: the suite is not written, because it would have these problems: %w", name, dir, err))
	}
	if err := os.Rename(folder, out); err != nil {
		return err
	}
	return s.print(host.Stdout, out, loaded)
}

// writeTo writes the files of the suite to a folder.
func (s *suite) writeTo(folder string) error {
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, s.files[name], 0o666)); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) print(w io.Writer, out string, loaded *goldens.Suite) error {
	var b strings.Builder
	fmt.Fprintf(&b, "wrote %s: %s\n", out, words.TaskCount(len(loaded.Tasks), 0))
	for _, name := range slices.Sorted(maps.Keys(s.leftOut)) {
		fmt.Fprintf(&b, "left out: %d × %s\n", s.leftOut[name], console.Line(name))
	}
	if n := len(loaded.Warnings); n > 0 {
		fmt.Fprintf(&b, "%s; cupel suite lint %s lists them\n%s", console.Count(n, "warning"), out, Kinds(loaded))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Kinds counts the warnings of a suite that have a kind, a line for each; empty without any.
func Kinds(s *goldens.Suite) string {
	counts := map[string]int{}
	for _, p := range s.Warnings {
		if p.Kind != "" {
			counts[p.Kind]++
		}
	}
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "  %5d × %s\n", counts[kind], kind)
	}
	return b.String()
}
