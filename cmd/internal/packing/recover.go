package packing

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/packs"
)

// RecoverCommand is the verb recover, which prints to the writer that is in force when it runs.
func RecoverCommand(stdout func() io.Writer) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "recover PATH…",
		Short: "Recover exchanges from an interrupted recording",
		Long: `Lists the journals of unfinished recordings (*.yaml.journal and *.yaml.journal.old) with
their intact and torn exchanges. PATH is a journal, or a folder or pack to search. Name a
journal in a pack as listed.
"cupel run --resume RUN" uses journals automatically. With -o, writes the exchanges of
one journal to a new sealed cassette; its replay ends where the recording ended. Exits
with 3 if there is nothing to write.`,
		Example: `  cupel cassette recover suites/first/cassettes
  cupel cassette recover suites/first/cassettes/strong/F01/1.yaml.journal -o left.yaml`,
		RunE: func(_ *cobra.Command, args []string) error {
			found, err := journals(args)
			switch {
			case err != nil:
				return exit.Usage(err)
			case out == "":
				return listJournals(stdout(), found)
			case len(found) != 1:
				return exit.Usage(fmt.Errorf("-o %s takes the exchanges of one journal, and %d were found; name one", out, len(found)))
			}
			return recoverTo(stdout(), found[0], out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the exchanges of one journal as a sealed cassette to this new file")
	return cmd
}

// journalAt is a journal, in a folder or in a pack.
type journalAt struct {
	shown string // its path
	read  func() (recorder.Recovered, error)
}

// journals returns the named files, and the journals in the named folders and packs.
func journals(paths []string) (list []journalAt, err error) {
	for _, p := range paths {
		if in := packOf(p); in != "" {
			all, err := journalsIn(in)
			if err != nil {
				return nil, err
			}
			if i := slices.IndexFunc(all, func(j journalAt) bool { return j.shown == filepath.Clean(p) }); i >= 0 {
				list = append(list, all[i])
				continue
			}
		}
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && packs.Is(path):
				all, err := journalsIn(path)
				list = append(list, all...)
				return cmp.Or(err, fs.SkipDir)
			case !d.IsDir() && (path == p || strings.HasSuffix(strings.TrimSuffix(path, ".old"), ".journal")):
				list = append(list, journalAt{path, func() (recorder.Recovered, error) { return recorder.Recover(path) }})
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("find journals: %w", err)
		}
	}
	return list, nil
}

// journalsIn returns the journals in a pack.
func journalsIn(dir string) (list []journalAt, err error) {
	pack, err := packs.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range pack.Journals() {
		list = append(list, journalAt{filepath.Join(dir, filepath.FromSlash(name)), func() (recorder.Recovered, error) { return recorder.RecoverIn(pack, name) }})
	}
	return list, pack.Damage()
}

// packOf returns the folder above a path that is a pack, or an empty string if none is.
func packOf(path string) string {
	for up := filepath.Dir(path); up != filepath.Dir(up); up = filepath.Dir(up) {
		if packs.Is(up) {
			return up
		}
	}
	return ""
}

func listJournals(stdout io.Writer, list []journalAt) error {
	w := console.Table(stdout, "journal", "exchanges", "damaged")
	var errs []error
	for _, j := range list {
		got, err := j.read()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if strings.ContainsFunc(j.shown, invisible.Unsafe) {
			j.shown = strconv.Quote(j.shown)
		}
		w.AppendRow(table.Row{j.shown, got.Exchanges, got.Torn})
	}
	if w.Length() > 0 {
		w.Render()
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(stdout, "no journals: all recordings are complete")
		return err
	}
	return errors.Join(errs...)
}

func recoverTo(stdout io.Writer, j journalAt, out string) error {
	got, err := j.read()
	if err != nil {
		return err
	}
	if got.Exchanges == 0 {
		return exit.With(exit.Replay, fmt.Errorf("%s contains no complete exchange; nothing to recover", j.shown))
	}
	unlock, err := LockToWrite(out)
	if err == nil {
		defer unlock()
		if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
			return exit.Usage(fmt.Errorf("-o %s: the file exists; name a new file", out))
		}
		err = atomicfile.WriteBytes(out, got.Cassette)
	}
	if err != nil {
		return fmt.Errorf("write recovered cassette: %w", err)
	}
	_, err = fmt.Fprintf(stdout, "%d exchanges written to %s; damaged places: %d\n", got.Exchanges, out, got.Torn)
	return err
}

// LockToWrite takes the lock of the cassettes folder that contains a file, as a recording
// does: see cassette.Lock. A file outside such a folder needs no lock.
func LockToWrite(path string) (unlock func(), err error) {
	dir := cassettesFolder(path)
	if dir == "" {
		return func() {}, nil
	}
	return cassette.Lock(dir)
}

// cassettesFolder returns the nearest folder named cassettes that contains a path, or an
// empty string if none does.
func cassettesFolder(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for dir, up := filepath.Dir(path), filepath.Dir(absolute); up != filepath.Dir(up); dir, up = filepath.Join(dir, ".."), filepath.Dir(up) {
		if filepath.Base(up) == "cassettes" {
			return dir
		}
	}
	return ""
}
