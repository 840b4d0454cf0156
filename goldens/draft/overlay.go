package draft

import (
	"io/fs"
	"slices"
	"strings"
	"testing/fstest"
)

// overlay is a folder with some files laid over it from memory.
type overlay struct {
	fs.FS
	files fstest.MapFS
}

func newOverlay(folder fs.FS, files []AddedFile) overlay {
	o := overlay{folder, fstest.MapFS{}}
	for _, f := range files {
		o.files[f.Path] = &fstest.MapFile{Data: f.Text, Mode: 0o444}
	}
	return o
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	if _, ok := o.files[name]; ok {
		return o.files.Open(name)
	}
	return o.FS.Open(name)
}

// ReadDir implements fs.ReadDirFS, for patterns.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.FS, name)
	added, missing := fs.ReadDir(o.files, name)
	if missing != nil {
		return entries, err
	}
	entries = append(entries, added...)
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.CompactFunc(entries, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() }), nil // a folder of nothing else is there, too
}
