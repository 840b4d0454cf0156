// Package regular opens and makes regular files and nothing else. Opening or reading a FIFO or a
// device can wait for ever, so files that a user or another program has put in place
// are opened here.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is a FIFO, a device, a socket or a folder in place of a file.
var ErrNotRegular = errors.New("not a regular file")

// MaxSize bounds what ReadFile returns, in bytes.
const MaxSize = 256 << 20

// Open is os.Open for regular files. It never waits.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile is os.OpenFile for regular files. It never waits.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|nonblock, perm)
	return checked(path, f, err, os.Stat)
}

// OpenIn is Open for a file below root. A link that leads out of root is an error.
func OpenIn(root *os.Root, path string) (*os.File, error) {
	f, err := root.OpenFile(path, os.O_RDONLY|nonblock, 0)
	return checked(path, f, err, root.Stat)
}

// checked closes what was opened if it is not a regular file, and says what it is.
func checked(path string, f *os.File, err error, stat func(string) (fs.FileInfo, error)) (*os.File, error) {
	if err != nil {
		// A FIFO without a reader and a socket cannot be opened at all.
		if info, stat := stat(path); stat == nil && !info.Mode().IsRegular() {
			err = NotRegular(path, info)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = NotRegular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// NotRegular is the error that names what a path is.
func NotRegular(path string, info fs.FileInfo) error {
	kind := "device"
	switch mode := info.Mode(); {
	case mode.IsDir():
		kind = "folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "named pipe (FIFO)"
	case mode&fs.ModeSocket != 0:
		kind = "socket"
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("a %s, %w; copy its content to a file", kind, ErrNotRegular)}
}

// ReadFile is os.ReadFile for regular files of at most MaxSize bytes.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return readAll(path, f)
}

// readAll reads at most MaxSize bytes.
func readAll(path string, f fs.File) (text []byte, err error) {
	info, err := f.Stat()
	if err == nil && info.Size() <= MaxSize {
		text, err = io.ReadAll(io.LimitReader(f, MaxSize+1))
	}
	if err == nil && max(info.Size(), int64(len(text))) > MaxSize {
		err = fmt.Errorf("larger than %d bytes", MaxSize)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text, nil
}

// DirFS is os.DirFS for folders whose files are regular.
func DirFS(dir string) fs.FS { return dirFS{os.DirFS(dir), dir} }

type dirFS struct {
	fs.FS
	dir string
}

// Open implements fs.FS.
func (d dirFS) Open(name string) (fs.File, error) {
	info, err := fs.Stat(d.FS, name)
	if err != nil || info.IsDir() {
		return d.FS.Open(name)
	}
	if !info.Mode().IsRegular() {
		return nil, NotRegular(name, info)
	}
	f, err := Open(d.path(name))
	if err != nil {
		return nil, d.named(name, err)
	}
	return f, nil
}

// ReadFile implements fs.ReadFileFS.
func (d dirFS) ReadFile(name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return readAll(name, f)
}

// ReadDir implements fs.ReadDirFS.
func (d dirFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.FS, name) }

// Stat implements fs.StatFS.
func (d dirFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(d.FS, name) }

func (d dirFS) path(name string) string { return d.dir + "/" + name }

// named makes an error name a file as os.DirFS does, by its path in the folder.
func (d dirFS) named(name string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Path = name
	}
	return err
}
