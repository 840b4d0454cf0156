// Package label is the verb label: samples of episodes for people, and their verdicts.
package label

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/packing"
	"github.com/cupel-eval/cupel/goldens/labels"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/labelling"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
)

// Host is what the verb needs of the program.
type Host struct {
	// Find returns the folder of a run by its name, and the folder of runs.
	Find   func(c *cobra.Command, name string) (dir, runs string, err error)
	Stdout io.Writer
	// Redact removes credentials from a text.
	Redact func(field, text string) string
	// Options are those that execute a run again.
	Options func(ctx context.Context, m manifest.Manifest) (o harness.Options, cleanup func(), err error)
	// Report writes the report of a run folder and returns it.
	Report func(dir string) (model.Report, error)
}

// Command is the verb.
func Command(h func() Host) *cobra.Command {
	cmd := &cobra.Command{Use: "label", Short: "Compare automatic verdicts with those of people"}
	cmd.AddCommand(sampleCommand(h), importCommand(h))
	return cmd
}

func sampleCommand(h func() Host) *cobra.Command {
	var o sampleOptions
	cmd := &cobra.Command{
		Use:   "sample RUN",
		Short: "Draw episodes for people to label, as a CSV file",
		Long: `Draws episodes of a run by candidate and outcome (solved, or the kind of failure) and
writes them to a CSV file, in random order. Each row has the request, the conversation,
the calls and the answer. It does not say what the automatic verdict is. People fill in
the columns verdict (pass or fail), score (optional) and labeller.

With --check, people judge one check, such as judge.tone, and episodes are drawn by
whether it passed. The same run, seed and size give the same file. A cell that a
spreadsheet would compute as a formula gets an apostrophe. Details: docs/labels.md.`,
		Example: `  cupel label sample latest --size 60 -o labels.csv
  cupel label sample latest --check judge.tone --seed 2 -o tone.csv`,
		RunE: func(c *cobra.Command, args []string) error {
			if o.size < 1 {
				return exit.Usage(fmt.Errorf("--size is %d, must be at least 1", o.size))
			}
			dir, _, err := h().Find(c, args[0])
			if err != nil {
				return err
			}
			return sample(c.Context(), h(), dir, o)
		},
	}
	cmd.Flags().IntVar(&o.size, "size", 100, "episodes to draw")
	cmd.Flags().Int64Var(&o.seed, "seed", 1, "number that decides which episodes are drawn")
	cmd.Flags().StringVar(&o.check, "check", "", "check that people judge (default: the whole episode)")
	cmd.Flags().StringVarP(&o.out, "out", "o", "labels.csv", "file to write, which must not exist")
	packing.Flag(cmd)
	return cmd
}

// outcomes says how an episode ended, for the strata of a sample.
func outcomes(check string) func(ledger.EpisodeRows) string {
	return func(rows ledger.EpisodeRows) string {
		e := &rows.Episode
		if check != "" {
			pass, known := e.Automatic(check)
			return map[[2]bool]string{{true, true}: "pass", {false, true}: "fail"}[[2]bool{pass, known}]
		}
		if e.Excluded() != "" {
			return manifest.NotScored
		}
		if e.Solved {
			return "solved"
		}
		cause, ok := failure.Of(rows)
		if !ok {
			return "not solved"
		}
		return string(cause.Kind)
	}
}

func importCommand(h func() Host) *cobra.Command {
	return &cobra.Command{
		Use:   "import RUN FILE…",
		Short: "Add the verdicts of people to a run",
		Long: `Reads the verdicts of people and writes the run once more with them, in the column
labels, beside the automatic verdicts, which stay. Then it says how far both agree, and
how far people agree with each other, with Cohen's kappa. The original run is unchanged.

Files are CSV, or JSON lines if their names end in .jsonl. Columns: task, candidate,
trial, check (empty: the whole episode), verdict (pass or fail), score (optional) and
labeller. Others are not read. Rows without a verdict are left out. If a person labels
the same again, the new verdict replaces the old one. Details: docs/labels.md.`,
		Example: `  cupel label import latest labels.csv
  cupel label import latest ann.csv bo.csv && cupel query latest 'share(label == automatic) group by labeller'`,
		RunE: func(c *cobra.Command, args []string) error {
			dir, runs, err := h().Find(c, args[0])
			if err != nil {
				return err
			}
			return read(h(), dir, runs, args[1:])
		},
	}
}

// read imports files.
func read(h Host, dir, runs string, paths []string) error {
	if len(paths) == 0 {
		return exit.Usage(errors.New("name the files with labels, as in cupel label import latest labels.csv"))
	}
	var all []labels.Label
	var files []manifest.SourceFile
	var errs []error
	unlabelled := 0
	for _, path := range paths {
		text, err := regular.ReadFile(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		got, err := labels.Read(path, text)
		errs = append(errs, err)
		unlabelled += got.Unlabelled
		all = append(all, got.List...)
		files = append(files, manifest.SourceFile{Name: filepath.Base(path), Bytes: int64(len(text)), Digest: fmt.Sprintf("%x", sha256.Sum256(text))})
	}
	err := errors.Join(errs...)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no row of %s has a verdict; fill in the column verdict with pass or fail", strings.Join(paths, ", "))
	}
	if err != nil {
		return exit.Usage(err)
	}
	to, m, out, err := labelling.Write(dir, runs, all, files)
	if problems := new(labelling.ProblemsError); errors.As(err, &problems) {
		return exit.Usage(err)
	}
	if err != nil {
		return err
	}
	r, err := h.Report(to)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "labels  %d new, %d replaced, %d the same, %d kept of the run; %s without a verdict left out\n", out.New, out.Replaced, out.Same, out.Kept, console.Count(unlabelled, "row"))
	for _, line := range view.LabelLines(r.Labels) {
		b.WriteString("  " + console.Line(line) + "\n")
	}
	if len(r.Labels) == 0 {
		b.WriteString("  no automatic verdict to compare with: rescore the run by a suite first\n")
	}
	fmt.Fprintf(&b, "run     %s\nread it cupel report %s\n", to, m.RunID)
	_, err = io.WriteString(h.Stdout, b.String())
	return err
}

// create writes a file that does not exist yet: labels of people must not be lost.
func create(path string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usage(fmt.Errorf("%s exists, and may have labels; name another file with -o", path))
	}
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(path) // the original error is more useful
		}
	}()
	return write(f)
}
