// Package packing opens the packs that users name with --pack, or that suites have, and says
// what became of them.
package packing

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/packs"
)

// Flag declares --pack of a verb for the cassettes of a suite. Its value is Pack of the
// configuration.
func Flag(cmd *cobra.Command) {
	cmd.Flags().String("pack", "", "pack with the cassettes, a file or a folder (default: the suite's own cassettes)")
}

// Open opens the pack at a path for reading.
func Open(path string) (cassette.Archive, error) {
	pack, err := packs.Open(regular.DirFS(filepath.Dir(path)), filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.With(exit.Replay, fmt.Errorf("no pack %s; write a file with: cupel cassette pack -o %s; or record into a folder with: cupel run --mode record --pack %s", path, path, path))
	}
	return pack, err
}

// Files opens the cassettes of a suite, or the pack at path unless that is empty. Call done in the
// end; it is never nil.
func Files(s *goldens.Suite, path string) (files fs.FS, done func(), err error) {
	if path == "" {
		return cassettes.Open(s)
	}
	pack, err := Open(path)
	if err != nil {
		return nil, func() {}, err
	}
	return pack, closing(pack), nil
}

// closing closes what was only read, or synced when it was written.
func closing(c io.Closer) func() { return func() { _ = c.Close() } }

// Folder opens the pack to write to: that at path, or without a path the suite's own. It is nil
// if the suite's cassettes are YAML files. Call done in the end; it is never nil.
func Folder(o harness.Options, path string) (f *packs.Folder, done func(), err error) {
	done = func() {}
	if path == "" {
		if o.CassetteDir == "" {
			return nil, done, nil
		}
		f, err = cassettes.Folder(filepath.Dir(o.CassetteDir))
	} else if info, failed := os.Stat(path); failed == nil && !info.IsDir() {
		folder := strings.TrimSuffix(path, filepath.Ext(path)) + ".packs"
		return nil, done, exit.Usage(fmt.Errorf("the pack %s is a file, and cassettes are only added to a folder; make one of it with: mkdir %s && mv %s %s", path, folder, path, filepath.Join(folder, "000001.pack")))
	} else {
		f, err = packs.OpenDir(path)
	}
	if f == nil || err != nil {
		return nil, done, err
	}
	return f, closing(f), nil
}

// InFolder reports whether the recordings of the suite in a folder go to a pack that is a folder.
func InFolder(suite string) bool {
	f, err := cassettes.Folder(suite)
	if f != nil {
		_ = f.Close() // it was only opened
	}
	return f != nil && err == nil
}

// Add adds a recording to the pack of the suite in a folder, for which InFolder holds.
func Add(suite, name string, text []byte) error {
	f, err := cassettes.Folder(suite)
	if err != nil {
		return err
	}
	unlock, err := f.Lock()
	if err == nil {
		err = f.WriteFile(name, text)
		unlock()
	}
	return errors.Join(err, f.Close())
}

// Use makes a run read its cassettes from the pack at path and, in record mode, write them to it
// or to the suite's own. Call done in the end; it is never nil.
func Use(o *harness.Options, path string) (done func(), err error) {
	done = func() {}
	if o.Mode == recorder.Record {
		var f *packs.Folder
		if f, done, err = Folder(*o, path); f == nil || err != nil {
			return done, err
		}
		if err := f.Damage(); err != nil {
			return done, exit.With(exit.Replay, err)
		}
		o.Store, o.Cassettes = f, f
		o.RecordFlags += flag(path)
		return done, nil
	}
	if path == "" {
		return done, nil
	}
	if o.Mode == recorder.Live && o.Fork == nil {
		return done, exit.Usage(errors.New("--pack names the cassettes of a run, and --mode live has none; remove one of the two"))
	}
	pack, err := Open(path)
	if err != nil {
		return done, err
	}
	o.Cassettes = pack
	if _, ok := pack.(*packs.Folder); ok {
		o.RecordFlags += flag(path)
	}
	return closing(pack), nil
}

// flag is --pack in a command that users copy.
func flag(path string) string {
	switch {
	case path == "":
		return ""
	case strings.ContainsAny(path, " '\"$\\*?[(&;"):
		path = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return " --pack " + path
}

// Finish compacts the pack that a run recorded into. A failure does not concern the run.
func Finish(o harness.Options, path string, quiet bool, stderr io.Writer) {
	f, ok := o.Store.(*packs.Folder)
	if !ok {
		return
	}
	sum, err := f.Compact(false)
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "cupel: all cassettes are saved, but the pack is not compacted; try again with: cupel cassette pack%s: %v\n", orSuite(o, path), err)
	case !quiet:
		_, _ = fmt.Fprintf(stderr, "pack: %s\n", describe(sum))
	}
}

func orSuite(o harness.Options, path string) string {
	if path == "" {
		return " --suite " + o.Suite.Path
	}
	return flag(path)
}

func describe(sum packs.Compacted) string {
	return fmt.Sprintf("%s in %s, %d bytes", console.Count(sum.Cassettes, "cassette"), console.Count(sum.Files, "file"), sum.Bytes)
}

// Compact writes the packs of a folder again, without anything that is superseded.
func Compact(f *packs.Folder, name string, stdout io.Writer) error {
	lost := f.Damage()
	sum, err := f.Compact(true)
	if err != nil {
		return compactFailed(err)
	}
	_, err = fmt.Fprintf(stdout, "%s: %s\n", name, describe(sum))
	if lost != nil {
		err = errors.Join(err, exit.With(exit.Replay, fmt.Errorf("kept what is intact; record what is missing now with: cupel run --mode record --stale%s: %w", flag(name), lost)))
	}
	return err
}

func compactFailed(err error) error {
	if errors.As(err, new(*cassette.CorruptError)) {
		return exit.With(exit.Replay, fmt.Errorf("%w; record it again, or remove it with `cupel cassette prune` if no task needs it", err))
	}
	return err
}

// Target locks what a verb changes of a suite's cassettes: the pack at path or the suite's own, or
// if pack is nil, its folder of YAML files. files has all its cassettes. Call unlock in the end,
// which may be done twice; it is never nil.
func Target(o harness.Options, path string) (files fs.FS, pack *packs.Folder, unlock func(), err error) {
	pack, done, err := Folder(o, path)
	if err != nil {
		return nil, nil, done, err
	}
	if pack != nil {
		release, err := pack.Lock()
		if err == nil {
			err = pack.Damage()
		}
		if release == nil {
			release = func() {}
		}
		return pack, pack, func() { release() }, err
	}
	files, done, err = cassettes.Open(o.Suite)
	if err != nil {
		return nil, nil, done, err
	}
	release, err := cassette.Lock(o.CassetteDir)
	if err != nil {
		return nil, nil, done, err
	}
	return files, nil, sync.OnceFunc(func() { release(); done() }), nil
}

// Prune removes cassettes from what Target has opened and locked.
func Prune(o harness.Options, pack *packs.Folder, unlock func(), names []string) error {
	if pack == nil {
		if _, file := o.Cassettes.(cassette.Archive); file {
			return exit.Usage(fmt.Errorf("the cassettes of %s are one packed file, which is not changed; pack it again without them", o.Suite.Path))
		}
		return removeCassettes(o.CassetteDir, names)
	}
	for _, name := range names {
		if err := pack.Remove(name); err != nil {
			return fmt.Errorf("prune: %w", err)
		}
	}
	unlock() // Compact locks it again
	_, err := pack.Compact(true)
	return compactFailed(err)
}

// removeCassettes deletes files below dir, never outside it, and the folders that become
// empty.
func removeCassettes(dir string, files []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	var errs []error
	for _, name := range files {
		if err := root.Remove(filepath.FromSlash(name)); err != nil {
			errs = append(errs, fmt.Errorf("prune: %w", err))
			continue
		}
		for parent := path.Dir(name); parent != "." && root.Remove(filepath.FromSlash(parent)) == nil; parent = path.Dir(parent) {
		}
	}
	return errors.Join(append(errs, root.Close())...)
}
