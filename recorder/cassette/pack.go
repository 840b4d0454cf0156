package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// maxBase bounds the part of a candidate's first cassette that the others refer to, in
// bytes.
const maxBase = 1 << 20

// Pack is an archive of cassettes that WritePack made, opened for replay. As
// Options.FS it replays without parsing YAML; to anyone else it is a file
// system of the YAML files it was made from, byte for byte, without folders
// to list. Safe for concurrent use.
type Pack struct {
	name    string
	file    io.ReaderAt
	close   func() error
	entries map[string]*packEntry
	plain   *zstd.Decoder
	scratch sync.Pool // of *packScratch
}

// packScratch is reusable memory for one block.
type packScratch struct{ packed, plain []byte }

// packBase is the first cassette of a candidate, which the others' blocks refer to. It is
// read with the first of them.
type packBase struct {
	entry   *packEntry
	once    sync.Once
	decoder *zstd.Decoder
	err     error
}

// OpenPack opens a pack and reads only its index. A file that was cut or edited, or is not
// a pack, is a *CorruptError, either here or when the affected cassette is read. The caller
// must call Close.
func OpenPack(files fs.FS, name string) (*Pack, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open pack: %w", err)
	}
	p, err := openPack(f, name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func openPack(f fs.File, name string) (*Pack, error) {
	at, ok := f.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("open pack %s: its file system cannot read at an offset", name)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open pack %s: %w", name, err)
	}
	p, err := readPack(name, at, info.Size())
	if err == nil {
		p.close = f.Close
	}
	return p, err
}

// readPack opens a pack of size bytes.
func readPack(name string, file io.ReaderAt, size int64) (*Pack, error) {
	p := &Pack{name: name, file: file}
	p.scratch.New = func() any { return new(packScratch) }
	var err error
	if p.plain, err = newDecoder(nil); err != nil {
		return nil, fmt.Errorf("open pack %s: %w", name, err)
	}
	if err := p.readIndex(size); err != nil {
		return nil, &CorruptError{name, err.Error() + "; pack the cassettes again"}
	}
	return p, nil
}

// newDecoder creates a decoder of blocks that refer to base.
func newDecoder(base []byte) (*zstd.Decoder, error) {
	o := []zstd.DOption{zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(MaxBytes)}
	if base != nil {
		o = append(o, zstd.WithDecoderDictRaw(1, base))
	}
	return zstd.NewReader(nil, o...)
}

func (p *Pack) readIndex(size int64) error {
	if size < int64(len(packMagic)+footerSize) {
		return errForeign
	}
	magic, footer := make([]byte, len(packMagic)), make([]byte, footerSize)
	if _, err := p.file.ReadAt(magic, 0); err != nil {
		return err
	}
	if _, err := p.file.ReadAt(footer, size-int64(footerSize)); err != nil {
		return err
	}
	if string(magic) != packMagic {
		return errForeign
	}
	stored, plain, err := decodeFooter(footer, size)
	if err != nil {
		return err
	}
	end := size - int64(footerSize) - stored
	index := make([]byte, stored)
	if _, err := p.file.ReadAt(index, end); err != nil {
		return err
	}
	if sum := footerSum(footer[:16], index); !bytes.Equal(sum[:], footer[16:16+sha256.Size]) {
		return errors.New("index checksum mismatch: the pack was truncated or edited")
	}
	text, err := p.plain.DecodeAll(index, make([]byte, 0, plain))
	if err != nil || int64(len(text)) != plain {
		return errors.New("index is inconsistent with the footer")
	}
	p.entries, err = decodeIndex(string(text), end)
	return err
}

// Close closes the file. Afterwards no cassette can be read.
func (p *Pack) Close() error { return p.close() }

// Len returns the number of cassettes.
func (p *Pack) Len() int { return len(p.entries) }

// Names are the paths of the cassettes, sorted, in a fresh slice.
func (p *Pack) Names() []string { return slices.Sorted(maps.Keys(p.entries)) }

// Digest implements Archive.
func (p *Pack) Digest(name string) (string, bool) {
	e := p.entries[name]
	if e == nil {
		return "", false
	}
	return hex.EncodeToString(e.file[:]), true
}

// Load implements Archive.
func (p *Pack) Load(name string) (*Data, error) {
	e := p.entries[name]
	if e == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return p.read(e, true)
}

// Open returns a cassette as its YAML file.
func (p *Pack) Open(name string) (fs.File, error) {
	e, ok := p.entries[name]
	if !ok || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	t, err := p.read(e, false)
	if err != nil {
		return nil, err
	}
	data := Encode(t)
	if sha256.Sum256(data) != e.file {
		return nil, p.corrupt(e, "its file was written by another version of cupel")
	}
	return NewFile(name, data), nil
}

// read reads a cassette; lean omits what replay does not need.
func (p *Pack) read(e *packEntry, lean bool) (*Data, error) {
	decoder := p.plain
	if b := e.base; b != nil {
		b.once.Do(func() { p.readBase(b) })
		if b.err != nil {
			return nil, b.err
		}
		decoder = b.decoder
	}
	t := &Data{Header: e.header, Digest: hex.EncodeToString(e.file[:])}
	t.Header.Digests = maps.Clone(e.header.Digests)
	err := p.content(e, decoder, func(content []byte) error {
		r := &packReader{rest: string(content), lean: lean}
		t.Interactions = r.interactions()
		if r.bad || r.rest != "" {
			return p.corrupt(e, "block is not a cassette")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, p.corrupt(e, err.Error())
	}
	return t, nil
}

func (p *Pack) readBase(b *packBase) {
	b.err = p.content(b.entry, p.plain, func(content []byte) (err error) {
		b.decoder, err = newDecoder(bytes.Clone(content[:min(len(content), maxBase)]))
		return err
	})
}

// content passes the decoded content of a block to use, which must not retain it.
func (p *Pack) content(e *packEntry, decoder *zstd.Decoder, use func([]byte) error) error {
	s, ok := p.scratch.Get().(*packScratch)
	if !ok {
		s = new(packScratch)
	}
	defer p.scratch.Put(s)
	s.packed, s.plain = sized(s.packed, int(e.length)), sized(s.plain, e.size)
	if _, err := p.file.ReadAt(s.packed, e.offset); err != nil {
		return fmt.Errorf("read cassette %s in pack %s: %w", e.path, p.name, err)
	}
	if sha256.Sum256(s.packed) != e.block {
		return p.corrupt(e, "block checksum mismatch: the pack was truncated or edited")
	}
	content, err := decoder.DecodeAll(s.packed, s.plain[:0:e.size])
	if err != nil || len(content) != e.size {
		return p.corrupt(e, "block is inconsistent with the index")
	}
	return use(content)
}

// sized returns n bytes, in b if it is large enough.
func sized(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

func (p *Pack) corrupt(e *packEntry, reason string) error {
	return &CorruptError{e.path, "in pack " + p.name + ": " + reason + "; pack the cassettes again"}
}

// NewFile is a cassette's YAML file of an Archive, open.
func NewFile(name string, data []byte) fs.File {
	return packFile{bytes.NewReader(data), path.Base(name)}
}

// packFile is a cassette's YAML file, open.
type packFile struct {
	*bytes.Reader
	name string
}

// Close does nothing.
func (packFile) Close() error { return nil }

// Stat returns the file itself.
func (f packFile) Stat() (fs.FileInfo, error) { return f, nil }

// Name is the last part of the path.
func (f packFile) Name() string { return f.name }

// Mode is read-only.
func (packFile) Mode() fs.FileMode { return 0o444 }

// ModTime is unknown, so it is zero.
func (packFile) ModTime() time.Time { return time.Time{} }

// IsDir returns false.
func (packFile) IsDir() bool { return false }

// Sys is nil.
func (packFile) Sys() any { return nil }
