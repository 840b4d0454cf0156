package recorder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// Store is where recordings are written: cassettes, and the journals of unfinished ones. Dir is
// a folder of YAML files, *packs.Folder a pack. Names are slash-separated paths that fs.ValidPath
// accepts. A file that does not exist is an fs.ErrNotExist. All methods are safe for
// concurrent use with different names.
type Store interface {
	// Lock keeps other writers away until unlock or until the process ends. While another one
	// has the lock, it fails with cassette.ErrLocked. Nothing may be written without it.
	Lock() (unlock func(), err error)
	// Size returns the size of a file in bytes.
	Size(name string) (int64, error)
	// ReadFile returns at most the first limit bytes of a file.
	ReadFile(name string, limit int64) ([]byte, error)
	// WriteFile replaces a file in one step. It returns once the content is durable.
	WriteFile(name string, data []byte) error
	// Append cuts a file off after its first size bytes and appends data; a size of 0 makes a new
	// file. It returns once the content is durable: an exchange of a recording is safe as soon
	// as Append of its journal has returned.
	Append(name string, size int64, data []byte) error
	// Rename replaces the file to by the file from.
	Rename(from, to string) error
	// Remove removes a file. A crash may bring it back.
	Remove(name string) error
}

// Dir is the Store of the files in a folder, which it makes.
type Dir string

// Lock implements Store by cassette.Lock.
func (d Dir) Lock() (unlock func(), err error) { return cassette.Lock(string(d)) }

// Size implements Store. Only a regular file has one.
func (d Dir) Size(name string) (int64, error) {
	info, err := os.Stat(d.path(name))
	if err == nil && !info.Mode().IsRegular() {
		return 0, regular.NotRegular(d.path(name), info)
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ReadFile implements Store.
func (d Dir) ReadFile(name string, limit int64) ([]byte, error) {
	f, err := regular.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	return data, errors.Join(err, f.Close())
}

// WriteFile implements Store.
func (d Dir) WriteFile(name string, data []byte) error {
	return cassette.File{Dir: string(d), Path: name}.Write(data)
}

// Append implements Store. It opens the file for each call, so that a recorder that is never
// saved does not leave it open. Only the user may read the file.
func (d Dir) Append(name string, size int64, data []byte) error {
	path, flags := d.path(name), os.O_WRONLY
	if size == 0 {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		flags |= os.O_CREATE
	}
	f, err := regular.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	switch {
	case err == nil && info.Size() > size:
		err = f.Truncate(size)
	case err == nil && info.Size() < size:
		err = &fs.PathError{Op: "append to", Path: path, Err: errors.New("it was cut off by another program")}
	}
	if err == nil {
		_, err = f.WriteAt(data, size)
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if size == 0 {
		err = errors.Join(err, atomicfile.SyncDir(filepath.Dir(path)))
	}
	return err
}

// Rename implements Store.
func (d Dir) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

// Remove implements Store.
func (d Dir) Remove(name string) error { return os.Remove(d.path(name)) }

func (d Dir) path(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }
