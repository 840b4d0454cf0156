package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/cmd/internal/config"
	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

func newCassetteSeal(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "seal FILE…",
		Short: "Reseal cassettes after an intentional edit",
		Long: `Recomputes the checksums of edited cassettes: request digests, sizes of changed bodies,
then the seal of the file. It also seals files that go-vcr wrote, and leaves intact
cassettes unchanged. Exits with 3 if a file holds a credential or is not a cassette.`,
		Example: `  cupel cassette seal suites/first/cassettes/strong/F01/1.yaml`,
		RunE: p.withConfig(func(_ *cobra.Command, cfg config.Config, args []string) error {
			suite, _, err := p.loadSuite(cfg.Suite)
			if err != nil {
				return err
			}
			p.learn(cfg.Candidates, suite)
			var errs []error
			for _, file := range args {
				errs = append(errs, sealCassette(p, file))
			}
			return errors.Join(errs...)
		}),
	}
	suiteFlags(cmd)
	return cmd
}

func sealCassette(p *process, file string) error {
	unlock, err := lockToWrite(file)
	if err != nil {
		return err
	}
	defer unlock()
	changed, err := cassette.SealFile(cassette.File{Dir: filepath.Dir(file), Path: filepath.Base(file), Secrets: p.secrets})
	var secret *cassette.SecretError
	switch {
	case errors.As(err, &secret):
		return exit.With(exit.Replay, fmt.Errorf("%s: %w", file, err))
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	}
	what := "sealed"
	if !changed {
		what = "intact"
	}
	_, err = fmt.Fprintf(p.stdout, "%-7s %s\n", what, console.Line(file))
	return err
}

func newCassetteScan(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scan [SUITE]",
		Short: "Search the cassettes of a suite for credentials",
		Long: `Searches every cassette of a suite for credentials: those in the environment that
providers, candidates and tools use, and strings that look like one, also inside escapes
and split across stream events. Prints file, exchange and field of the first match in
each exchange, never the value. Exits with 3 on a match or an unreadable file.`,
		Example: `  cupel cassette scan
  cupel cassette scan builtin:counts`,
		RunE: p.withConfig(func(c *cobra.Command, cfg config.Config, args []string) error {
			suite, err := suiteArg(p, c, args)
			if err != nil {
				return err
			}
			p.learn(cfg.Candidates, suite)
			return scanCassettes(p, suite)
		}),
	}
	suiteFlags(cmd)
	return cmd
}

func scanCassettes(p *process, suite *goldens.Suite) error {
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"cassette", "interaction", "field", "credential"})
	files := 0
	var bad []error
	err := eachCassette(suite, func(fsys fs.FS, name string) error {
		files++
		found, err := cassette.FindSecrets(cassette.File{FS: fsys, Path: name, Secrets: p.secrets})
		for _, s := range found {
			where := fmt.Sprint(s.Interaction)
			if s.Interaction < 0 {
				where = "-"
			}
			w.AppendRow(table.Row{console.Line(name), where, console.Line(s.Field), s.Kind})
		}
		if _, ok := errors.AsType[*cassette.CorruptError](err); ok {
			bad, err = append(bad, errors.New(console.Line(err.Error()))), nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if n := w.Length(); n > 0 {
		w.Render()
		bad = append(bad, fmt.Errorf("found %d credentials in %d cassettes; revoke those that are real, and record these cassettes again", n, files))
	}
	if len(bad) > 0 {
		return exit.With(exit.Replay, errors.Join(bad...))
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %d cassettes, no credentials found\n", suite.Path, files)
	return err
}

func newCassettePack(p *process) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "pack [SUITE]",
		Short: "Pack a suite's cassettes into one replayable file",
		Long: `Writes all cassettes of a suite to one compressed file, by default cassettes.pack in the
suite folder. Replaying it gives the same ledger; equal cassettes give equal bytes.

A suite with a pack and no cassettes folder replays from the pack. With both, the folder
is used unless "cupel run --pack FILE" names the pack. Recording writes YAML files only:
pack again afterwards. Details: docs/cassettes.md.`,
		Example: `  cupel cassette pack --suite suites/mine
  cupel cassette pack --suite builtin:counts -o counts.pack
  cupel run --pack counts.pack`,
		RunE: p.withConfig(func(_ *cobra.Command, cfg config.Config, args []string) error {
			if len(args) == 1 {
				cfg.Suite = args[0]
			}
			return pack(p, cfg.Suite, out)
		}),
	}
	suiteFlags(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default cassettes.pack in the suite's folder)")
	return cmd
}

func pack(p *process, path, out string) error {
	suite, dir, err := p.loadSuite(path)
	if err != nil {
		return err
	}
	if out == "" {
		if dir == "" {
			return exit.Usage(fmt.Errorf("the suite %s is built in and has no folder; name the file to write with -o", path))
		}
		out = filepath.Join(dir, cassettes.PackName)
	}
	files, err := fs.Sub(suite.FS, "cassettes")
	if err != nil {
		return err
	}
	if _, err := fs.Stat(files, "."); errors.Is(err, fs.ErrNotExist) {
		return exit.With(exit.Replay, fmt.Errorf("suite %s has no cassettes to pack; record them with: cupel run --mode record --suite %s", path, path))
	}
	if dir != "" {
		unlock, err := cassette.Lock(filepath.Join(dir, "cassettes")) // what is packed stays as it is
		if err != nil {
			return err
		}
		defer unlock()
	}
	sum, err := cassette.WritePack(out, files)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %d cassettes, %d bytes; as YAML %d bytes\n", out, sum.Cassettes, sum.Pack, sum.YAML)
	return err
}

// openPack makes a replay read its cassettes from the pack at path. Call closePack in the end.
func openPack(o *harness.Options, path string) (closePack func(), err error) {
	if o.Mode != recorder.Replay && o.Mode != "" {
		return nil, exit.Usage(fmt.Errorf("--pack is for replays, and --mode %s writes YAML; remove one of the two", o.Mode))
	}
	pack, err := cassette.OpenPack(regular.DirFS(filepath.Dir(path)), filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.With(exit.Replay, fmt.Errorf("no pack %s; write it with: cupel cassette pack -o %s", path, path))
	}
	if err != nil {
		return nil, err
	}
	o.Cassettes = pack
	return func() { _ = pack.Close() }, nil // only read: nothing can be lost
}

func newCassetteRecover(p *process) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "recover PATH…",
		Short: "Recover exchanges from an interrupted recording",
		Long: `Lists the journals of unfinished recordings (*.yaml.journal and *.yaml.journal.old) with
their intact and torn exchanges. PATH is a journal or a folder to search.
"cupel run --resume RUN" uses journals automatically. With -o, writes the exchanges of
one journal to a new sealed cassette; its replay ends where the recording ended. Exits
with 3 if there is nothing to write.`,
		Example: `  cupel cassette recover suites/first/cassettes
  cupel cassette recover suites/first/cassettes/strong/F01/1.yaml.journal -o left.yaml`,
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := journals(args)
			switch {
			case err != nil:
				return exit.Usage(err)
			case out == "":
				return listJournals(p, files)
			case len(files) != 1:
				return exit.Usage(fmt.Errorf("-o %s takes the exchanges of one journal, and %d were found; name one", out, len(files)))
			}
			return recoverTo(p, files[0], out)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the exchanges of one journal as a sealed cassette to this new file")
	return cmd
}

// journals returns the named files, and the journals in the named folders.
func journals(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (path == p || strings.HasSuffix(strings.TrimSuffix(path, ".old"), ".journal")) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("find journals: %w", err)
		}
	}
	return files, nil
}

func listJournals(p *process, files []string) error {
	w := console.Table(p.stdout)
	w.AppendHeader(table.Row{"journal", "exchanges", "damaged"})
	var errs []error
	for _, file := range files {
		got, err := recorder.Recover(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if strings.ContainsFunc(file, invisible.Unsafe) {
			file = strconv.Quote(file)
		}
		w.AppendRow(table.Row{file, got.Exchanges, got.Torn})
	}
	if w.Length() > 0 {
		w.Render()
	}
	if len(files) == 0 {
		_, err := fmt.Fprintln(p.stdout, "no journals: all recordings are complete")
		return err
	}
	return errors.Join(errs...)
}

func recoverTo(p *process, file, out string) error {
	got, err := recorder.Recover(file)
	if err != nil {
		return err
	}
	if got.Exchanges == 0 {
		return exit.With(exit.Replay, fmt.Errorf("%s contains no complete exchange; nothing to recover", file))
	}
	unlock, err := lockToWrite(out)
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
	_, err = fmt.Fprintf(p.stdout, "%d exchanges written to %s; damaged places: %d\n", got.Exchanges, out, got.Torn)
	return err
}

// lockToWrite takes the lock of the cassettes folder that contains a file, as a recording
// does: see cassette.Lock. A file outside such a folder needs no lock.
func lockToWrite(path string) (unlock func(), err error) {
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
