package draft

import (
	"bytes"
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
			return memory{Reader: bytes.NewReader(f.Text), file: f}, nil
		}
	}
	return o.FS.Open(name)
}

// ReadDir implements fs.ReadDirFS, for patterns.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	for _, f := range o.files {
		rest, below := strings.CutPrefix(f.Path, name+"/")
		if name == "." {
			rest, below = f.Path, true
		}
		child, _, folder := strings.Cut(rest, "/")
		if !below || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == child }) {
			continue
		}
		m := memory{file: AddedFile{Path: child, Text: f.Text}}
		if folder {
			m.mode = fs.ModeDir
		}
		entries, err = append(entries, fs.FileInfoToDirEntry(m)), nil // a folder of nothing else is there, too
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// memory is an open file of an overlay, and what there is to know of it.
type memory struct {
	*bytes.Reader
	file AddedFile
	mode fs.FileMode // fs.ModeDir for a folder
}

func (m memory) Stat() (fs.FileInfo, error) { return m, nil }
func (m memory) Close() error               { return nil }
func (m memory) Name() string               { return path.Base(m.file.Path) }
func (m memory) Size() int64                { return int64(len(m.file.Text)) }
func (m memory) Mode() fs.FileMode          { return m.mode | 0o444 }
func (m memory) ModTime() time.Time         { return time.Time{} }
func (m memory) IsDir() bool                { return m.mode.IsDir() }
func (m memory) Sys() any                   { return nil }
