package goldens

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// overlay is a folder with some files laid over it from memory.
type overlay struct {
	fs.FS
	files []AddedFile
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	for _, f := range o.files {
		if f.Path == name {
			return memory{bytes.NewReader(f.Text), f}, nil
		}
	}
	return o.FS.Open(name)
}

// ReadDir implements fs.ReadDirFS, for patterns.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	for _, f := range o.files {
		if path.Dir(f.Path) == name && !f.Replaces {
			entries = append(entries, fs.FileInfoToDirEntry(memory{nil, f}))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if len(entries) > 0 && errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return entries, err
}

// memory is an open file of an overlay, and what there is to know of it.
type memory struct {
	*bytes.Reader
	file AddedFile
}

func (m memory) Stat() (fs.FileInfo, error) { return m, nil }
func (m memory) Close() error               { return nil }
func (m memory) Name() string               { return path.Base(m.file.Path) }
func (m memory) Size() int64                { return int64(len(m.file.Text)) }
func (m memory) Mode() fs.FileMode          { return 0o444 }
func (m memory) ModTime() time.Time         { return time.Time{} }
func (m memory) IsDir() bool                { return false }
func (m memory) Sys() any                   { return nil }
