// Package atomicfile replaces files in one step: a reader or a crash meets the old
// content or the new, never a part. While a file is written it has a temporary name
// of its own, and what a killed process left under such a name is removed by the first
// write of a process to that folder, or by Sweep.
package atomicfile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"

	"github.com/cupel-eval/cupel/internal/regular"
)

// temporary matches the name of a temporary file, which holds that of the file to be.
var temporary = regexp.MustCompile(`^\..+\.[A-Z2-7]{10}\.tmp$`)

// tempName returns a name that nothing has in the folder of path.
func tempName(path string) string {
	dir, base := filepath.Split(path)
	base = base[:min(len(base), 200)] // a file name has at most 255 bytes
	return filepath.Join(dir, "."+base+"."+rand.Text()[:10]+".tmp")
}

// File is a file that is being written beside the path it will replace. The kernel's
// lock on it tells it from what a killed process left.
type File struct {
	*os.File
	path string
	done bool
}

// swept are the folders that files were created in.
var swept sync.Map

// Create begins a file that replaces path on Commit. Its mode is 0666 less the umask.
func Create(path string) (*File, error) {
	dir := filepath.Dir(path)
	if _, done := swept.LoadOrStore(dir, true); !done { // once: a folder may have thousands of files
		Sweep(dir)
	}
	for {
		f, err := os.OpenFile(tempName(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		held, err := Lock(f)
		if err != nil || !held && isAt(f) { // without locks on the file system nothing is swept
			return &File{File: f, path: path}, nil
		}
		_ = f.Close() // a sweep came before the lock
	}
}

// isAt reports whether an open file still has its name.
func isAt(f *os.File) bool {
	a, err := f.Stat()
	b, err2 := os.Lstat(f.Name())
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// Commit syncs the file and puts it in its place. After an error the old content is
// still there and the temporary file is gone.
func (f *File) Commit() error {
	if err := f.Sync(); err != nil {
		f.Abort()
		return err
	}
	if err := f.replace(); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(f.path))
}

// replace gives the file its name.
func (f *File) replace() (err error) {
	defer f.Abort()
	if runtime.GOOS == "windows" { // which does not rename an open file
		err = f.Close()
	}
	if err = errors.Join(err, os.Rename(f.Name(), f.path)); err != nil {
		return err
	}
	f.done = true
	if runtime.GOOS != "windows" {
		err = f.Close()
	}
	return err
}

// Abort gives up what was not committed and removes the temporary file. It does
// nothing after Commit.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	if runtime.GOOS == "windows" { // which does not remove an open file
		_ = f.Close()
	}
	_ = os.Remove(f.Name())
	_ = f.Close()
}

// Write replaces path with what render writes, and returns once that is on the disk.
// After an error of render the old content is still there.
func Write(path string, render func(io.Writer) error) error {
	return write(path, render, (*File).Commit)
}

// Render is Write without waiting for the disk, for files that can be made again.
func Render(path string, render func(io.Writer) error) error {
	return write(path, render, (*File).replace)
}

// buffers are the buffers of files, because a report may write thousands.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 16<<10) }}

func write(path string, render func(io.Writer) error, commit func(*File) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	b := buffers.Get().(*bufio.Writer)
	defer buffers.Put(b)
	b.Reset(f)
	defer b.Reset(nil)
	if err := errors.Join(render(b), b.Flush()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return commit(f)
}

// WriteBytes replaces path with data, as Write does.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// Sweep removes the temporary files that killed processes left in a folder. Those that
// are being written stay. It ignores errors: a leftover does no harm to a new file.
func Sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if temporary.MatchString(e.Name()) && e.Type().IsRegular() {
			removeLeftover(filepath.Join(dir, e.Name()))
		}
	}
}

// removeLeftover removes a temporary file unless its writer lives.
func removeLeftover(path string) {
	f, err := regular.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	held, err := Lock(f)
	if err != nil || held {
		_ = f.Close()
		return
	}
	if runtime.GOOS == "windows" { // which does not remove an open file
		_ = f.Close()
	}
	_ = os.Remove(path)
	_ = f.Close()
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	// Some file systems cannot sync a folder; the files themselves are synced.
	_ = d.Sync()
	return d.Close()
}
