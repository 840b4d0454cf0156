// Package packs keeps many cassettes in few files. A pack is a file that cassette.WritePack
// wrote, or a folder of numbered files, to which recordings are added:
//
//	000003.pack     a pack
//	000004.segment  a log of cassettes, each added when its episode ended
//	000005.journal  a log of the exchanges of unfinished recordings
//
// A cassette is read from the file with the highest number that has it. Compact turns segments
// into packs, and removes what is superseded.
package packs

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// These end the names of the files in a folder.
const (
	packExt    = ".pack"
	segmentExt = ".segment"
	journalExt = ".journal"
)

var encoder = sync.OnceValue(func() *zstd.Encoder {
	// The content has a checksum of its own, and cassettes are compressed again by Compact.
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true)) // these options are valid
	return e
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(maxPlain)) // these options are valid
	return d
})

// part is one file of a folder.
type part struct {
	number int
	ext    string
	name   string // in the folder
	at     io.ReaderAt
	close  func() error
	pack   *cassette.Pack // nil if it is a log
	size   int64
	damage []error

	// These are of a log that this process writes.
	file   *os.File
	failed atomic.Bool // nothing more is written to it
	synced int64       // up to here it is on the disk
}

// place says where the newest content of a file is.
type place struct {
	in *part
	record
}

// journal is the file of an unfinished recording: its records in order.
type journal struct {
	places []place
	size   int64
}

// Folder is a pack that is a folder. It is a cassette.Archive and a recorder.Store. It is safe
// for concurrent use.
type Folder struct {
	dir   string // empty if it is only read
	files fs.FS

	mu        sync.RWMutex
	parts     []*part // by number
	last      int     // the highest number
	cassettes map[string]place
	journals  map[string]*journal
	writer    *writer // nil unless locked
}

// Open opens a pack for reading: a file, or a folder of segments and packs. One that is damaged
// or not a pack is a *cassette.CorruptError, either here or when the affected cassette is read.
// The caller must call Close.
func Open(files fs.FS, name string) (cassette.Archive, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, fmt.Errorf("open pack: %w", err)
	}
	if !info.IsDir() {
		return cassette.OpenPack(files, name)
	}
	sub, err := fs.Sub(files, name)
	if err != nil {
		return nil, fmt.Errorf("open pack: %w", err)
	}
	f := &Folder{files: sub}
	if err := f.load(); err != nil {
		return nil, fmt.Errorf("open pack %s: %w", name, err)
	}
	if err := f.Damage(); err != nil {
		return nil, fmt.Errorf("open pack %s: %w", name, errors.Join(err, f.Close()))
	}
	return f, nil
}

// OpenDir opens a folder for reading and, once it is locked, writing. A folder that does not
// exist is empty; Lock makes it. The caller must check Damage, and call Close.
func OpenDir(dir string) (*Folder, error) {
	f := &Folder{dir: dir, files: regular.DirFS(dir)}
	if err := f.load(); err != nil {
		return nil, fmt.Errorf("open pack %s: %w", dir, err)
	}
	return f, nil
}

// isCassette reports whether a file is a finished cassette, which belongs into a segment.
func isCassette(name string) bool { return path.Ext(name) == ".yaml" }

// Damage names the segments that are damaged, other than by a kill, which only cuts off what
// was being written. Compact keeps what is intact.
func (f *Folder) Damage() error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var all []error
	for _, p := range f.parts {
		if p.ext == segmentExt {
			all = append(all, p.damage...)
		}
	}
	return errors.Join(all...)
}

// Close closes the files. Afterwards no cassette can be read.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := closeParts(f.parts)
	f.parts, f.cassettes, f.journals = nil, nil, nil
	return err
}

func closeParts(parts []*part) error {
	var all []error
	for _, p := range parts {
		if p.close != nil {
			all = append(all, p.close())
		}
	}
	return errors.Join(all...)
}

// Names implements cassette.Archive.
func (f *Folder) Names() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Sorted(maps.Keys(f.cassettes))
}

// Journals are the names of the journals of unfinished recordings, sorted. Only a folder of
// OpenDir has them.
func (f *Folder) Journals() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Sorted(maps.Keys(f.journals))
}

// find returns the place of a cassette; the caller must have locked.
func (f *Folder) find(name string) (place, error) {
	at, ok := f.cassettes[name]
	if !ok || !fs.ValidPath(name) {
		return at, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return at, nil
}

// content returns the YAML file of a cassette.
func (f *Folder) content(name string) ([]byte, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	at, err := f.find(name)
	if err != nil {
		return nil, err
	}
	if at.in.pack != nil {
		return fs.ReadFile(at.in.pack, name)
	}
	return at.content()
}

// content reads a cassette in a segment, or a part of a journal.
func (at *place) content() ([]byte, error) {
	data, err := at.read(at.in.at)
	if errors.Is(err, errChecksum) {
		return nil, &cassette.CorruptError{Path: at.name, Reason: "in " + at.in.name + ": " + err.Error()}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", at.name, at.in.name, err)
	}
	return data, nil
}

// Open implements fs.FS.
func (f *Folder) Open(name string) (fs.File, error) {
	data, err := f.content(name)
	if err != nil {
		return nil, err
	}
	return cassette.NewFile(name, data), nil
}

// Load implements cassette.Archive.
func (f *Folder) Load(name string) (*cassette.Data, error) {
	f.mu.RLock()
	at, err := f.find(name)
	if err == nil && at.in.pack != nil {
		defer f.mu.RUnlock()
		return at.in.pack.Load(name)
	}
	f.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return cassette.Load(cassette.File{FS: struct{ fs.FS }{f}, Path: name})
}

// Digest implements cassette.Archive.
func (f *Folder) Digest(name string) (string, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	at, err := f.find(name)
	switch {
	case err != nil:
		return "", false
	case at.in.pack != nil:
		return at.in.pack.Digest(name)
	}
	return hex.EncodeToString(at.digest[:]), true
}

// Size implements recorder.Store.
func (f *Folder) Size(name string) (int64, error) {
	if isCassette(name) {
		data, err := f.content(name)
		return int64(len(data)), err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	j := f.journals[name]
	if j == nil {
		return 0, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return j.size, nil
}

// ReadFile implements recorder.Store.
func (f *Folder) ReadFile(name string, limit int64) ([]byte, error) {
	if isCassette(name) {
		data, err := f.content(name)
		return data[:min(int64(len(data)), limit)], err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	j := f.journals[name]
	if j == nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return j.read(limit)
}

// read returns at most limit bytes. A damaged record is zeros: readers of journals find the
// intact exchanges behind it.
func (j *journal) read(limit int64) ([]byte, error) {
	var all []byte
	for _, at := range j.places {
		if int64(len(all)) >= limit {
			break
		}
		data, err := at.content()
		if _, ok := errors.AsType[*cassette.CorruptError](err); ok {
			data, err = bytes.Repeat([]byte{0}, int(at.plain)), nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, data...)
	}
	return all[:min(int64(len(all)), limit)], nil
}

// path is the path of a file in the folder.
func (f *Folder) path(name string) string { return filepath.Join(f.dir, name) }
