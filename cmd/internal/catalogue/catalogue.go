// Package catalogue keeps runs in a store: it stores run folders, and stages those that
// verbs read in a folder of this machine.
package catalogue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/store"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
)

// Catalogue is the runs in a store.
type Catalogue struct {
	Store store.Store
	// Address is the store's, for messages.
	Address string
	// Folder is where runs are staged.
	Folder string
}

// sealFile is stored last and removed first, so a run without it is not there yet.
const sealFile = "run.json"

// maxSeal bounds a run.json in bytes, and recent the newest runs among which "latest" is.
const maxSeal, recent = 64 << 20, 200

// Push stores a run folder. It may be repeated: what is there already is not sent again. A
// complete run is never replaced, and a partial one only by the same run.
func (c Catalogue) Push(ctx context.Context, dir string) error {
	m, err := manifest.Read(dir)
	if err != nil {
		return err
	}
	if m.Status == "running" {
		return rundir.Unfinished(dir, m)
	}
	seal, err := regular.ReadFile(filepath.Join(dir, sealFile))
	if err != nil {
		return err
	}
	files, err := runFiles(dir)
	if err != nil {
		return err
	}
	there, _, err := store.ReadAll(ctx, c.Store, m.RunID+"/"+sealFile, maxSeal)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return err
	case string(there) == string(seal):
		return nil
	default:
		if err := c.replaceable(m, there); err != nil {
			return err
		}
		if err := c.Store.Delete(ctx, m.RunID+"/"+sealFile); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := c.send(ctx, dir, m.RunID, file); err != nil {
			return err
		}
	}
	_, err = c.Store.Put(ctx, m.RunID+"/"+sealFile, strings.NewReader(string(seal)), store.None)
	return err
}

// replaceable returns an error unless the run in the store is an earlier state of this one.
func (c Catalogue) replaceable(m manifest.Manifest, there []byte) error {
	tmp, err := os.MkdirTemp("", "cupel-run")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	if err := atomicfile.WriteBytes(filepath.Join(tmp, sealFile), there); err != nil {
		return err
	}
	was, err := manifest.Read(tmp)
	if err == nil && was.Status == "complete" {
		return fmt.Errorf("store run %s: %s has another run of this id, which is complete; it is not replaced", m.RunID, c.Address)
	}
	return nil // it was partial, or is damaged
}

// runFiles are the files of a run folder besides its seal, with slashes. Reports are left
// out, because they are made again.
func runFiles(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == "report" || name != "." && e.Name()[0] == '.'):
			return fs.SkipDir
		case e.Type().IsRegular() && e.Name()[0] != '.' && name != sealFile:
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// send stores a file unless the store has it.
func (c Catalogue) send(ctx context.Context, dir, run, file string) error {
	f, err := regular.Open(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	name := run + "/" + file
	_, err = c.Store.Put(ctx, name, f, store.None)
	if !errors.Is(err, store.ErrChanged) {
		return err
	}
	r, _, err := c.Store.Get(ctx, name)
	if err != nil {
		return err
	}
	_, _ = f.Seek(0, io.SeekStart)
	same, err := store.EqualBytes(r, f)
	if err = errors.Join(err, r.Close()); err != nil || same {
		return err
	}
	_, err = c.Store.Put(ctx, name, f, store.Any) // of an earlier state
	return err
}

// Fetch stages a run, by its id or the beginning of it, or by a name such as latest, and
// returns its folder. A run that is staged already is not read again.
func (c Catalogue) Fetch(ctx context.Context, run string) (dir string, err error) {
	id, err := c.resolve(ctx, run)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(c.Folder, "runs", id)
	seal, _, err := store.ReadAll(ctx, c.Store, id+"/"+sealFile, maxSeal)
	if err != nil {
		return "", err
	}
	if have, err := regular.ReadFile(filepath.Join(dir, sealFile)); err == nil && string(have) == string(seal) {
		return dir, nil
	}
	for o, err := range c.Store.List(ctx, id+"/") {
		if err != nil {
			return "", err
		}
		file := strings.TrimPrefix(o.Name, id+"/")
		if file == sealFile || strings.HasPrefix(file, "journal/") {
			continue
		}
		if err := c.stage(ctx, o.Name, filepath.Join(dir, filepath.FromSlash(file))); err != nil {
			return "", err
		}
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, sealFile), seal); err != nil {
		return "", err
	}
	if _, err := manifest.Read(dir); err != nil {
		return "", fmt.Errorf("run %s of %s: %w", id, c.Address, err)
	}
	return dir, nil
}

// FetchBefore stages the n runs whose ids, which begin with the time, precede one most closely.
func (c Catalogue) FetchBefore(ctx context.Context, id string, n int) error {
	var before []string
	for o, err := range c.Store.List(ctx, "") {
		if err != nil {
			return err
		}
		if other, ok := strings.CutSuffix(o.Name, "/"+sealFile); ok && !strings.Contains(other, "/") && other < id {
			if before = append(before, other); len(before) > n {
				before = before[1:] // the store lists in the order of names
			}
		}
	}
	for _, other := range before {
		if _, err := c.Fetch(ctx, other); err != nil {
			return err
		}
	}
	return nil
}

// stage copies an object to a file.
func (c Catalogue) stage(ctx context.Context, name, path string) error {
	r, _, err := c.Store.Get(ctx, name)
	if err != nil {
		return err
	}
	err = os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = atomicfile.Render(path, func(w io.Writer) error { _, err := io.Copy(w, r); return err })
	}
	return errors.Join(err, r.Close())
}

// resolve returns the id of a run.
func (c Catalogue) resolve(ctx context.Context, run string) (id string, err error) {
	prefix := run
	if rundir.IsAge(run) {
		prefix = ""
	}
	type seal struct {
		id string
		at time.Time
	}
	var found []seal
	for o, err := range c.Store.List(ctx, prefix) {
		if err != nil {
			return "", err
		}
		if id, ok := strings.CutSuffix(o.Name, "/"+sealFile); ok && !strings.Contains(id, "/") {
			if id == run {
				return id, nil
			}
			found = append(found, seal{id, o.Modified})
		}
	}
	if len(found) == 0 {
		return "", exit.Usage(fmt.Errorf("no run %q in %s; store one with: cupel-fleet push RUN %s", run, c.Address, c.Address))
	}
	// The rules of names are those of folders, so the manifests are staged in one.
	slices.SortFunc(found, func(a, b seal) int { return b.at.Compare(a.at) })
	names, err := os.MkdirTemp("", "cupel-names")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(names) }()
	for _, s := range found[:min(recent, len(found))] {
		path := filepath.Join(names, s.id, sealFile)
		if err := c.stage(ctx, s.id+"/"+sealFile, path); err != nil {
			return "", err
		}
		if err := os.Chtimes(path, s.at, s.at); err != nil {
			return "", err
		}
	}
	dir, err := rundir.Find(names, run)
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.Address, err)
	}
	return filepath.Base(dir), nil
}
