package cassette

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// Packed describes a pack.
type Packed struct {
	Cassettes int
	// YAML is the size of the cassettes' files, Pack the size of the pack, in bytes.
	YAML, Pack int64
}

// WritePack writes every cassette below files, the *.yaml, into one pack and
// replaces path atomically. The same cassettes give the same bytes. One that
// could not be replayed is a *CorruptError, and so is one that cupel would
// lay out otherwise: a pack gives back every file byte for byte. Without any
// cassette it is fs.ErrNotExist. On an error path stays as it is.
func WritePack(path string, files fs.FS) (Packed, error) {
	names, err := cassettesIn(files)
	if err != nil {
		return Packed{}, err
	}
	p := &packer{files: files, shared: map[string]Header{}}
	err = atomicfile.Write(path, func(w io.Writer) error {
		p.w = bufio.NewWriterSize(w, 1<<20)
		return errors.Join(p.pack(names), p.w.Flush())
	})
	if err != nil {
		return Packed{}, fmt.Errorf("write pack %s: %w", path, err)
	}
	return p.sum, nil
}

// cassettesIn returns the paths of all cassettes, ordered by byte.
func cassettesIn(files fs.FS) ([]string, error) {
	names, err := List(files)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("find cassettes: no *.yaml: %w", fs.ErrNotExist)
	}
	slices.Sort(names)
	return names, err
}

// packer writes one pack.
type packer struct {
	files   fs.FS
	w       *bufio.Writer
	entries []packEntry
	sum     Packed
	plain   *zstd.Encoder
	// based refers to base, the first cassette of the candidate being written.
	based *zstd.Encoder
	base  *packBase
	// shared is what cassettes of a candidate have in common, by its encoding.
	shared map[string]Header
}

func newEncoder(base []byte) (*zstd.Encoder, error) {
	// Concurrency is one, and the CRC is off because the index has a better checksum.
	o := []zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedBetterCompression)}
	if base != nil {
		// Text outside base is short: an entropy code saves a sixth of the pack, but takes more
		// than half of the time to inflate a block.
		o = append(o, zstd.WithEncoderDictRaw(1, base), zstd.WithNoEntropyCompression(true))
	}
	return zstd.NewWriter(nil, o...)
}

func (p *packer) pack(names []string) (err error) {
	if p.plain, err = newEncoder(nil); err != nil {
		return err
	}
	if err := p.write([]byte(packMagic)); err != nil {
		return err
	}
	for _, name := range names {
		if err := p.add(name); err != nil {
			return err
		}
	}
	text := encodeIndex(p.entries)
	if len(text) > maxIndex {
		return fmt.Errorf("%d cassettes are more than one pack can hold", len(names))
	}
	index := p.plain.EncodeAll(text, nil)
	return errors.Join(p.write(index), p.write(encodeFooter(index, len(text))))
}

func (p *packer) write(b []byte) error {
	n, err := p.w.Write(b)
	p.sum.Pack += int64(n)
	return err
}

// add writes the block of one cassette.
func (p *packer) add(name string) error {
	t, size, err := p.read(name)
	if err != nil {
		return err
	}
	var w packWriter
	w.data(t)
	e := packEntry{path: name, header: p.kept(t.Header), size: len(w.b)}
	block := p.plain.EncodeAll(w.b, nil)
	if n := len(p.entries); n == 0 || candidateOf(name) != candidateOf(p.entries[n-1].path) {
		p.base = &packBase{}
		if p.based, err = newEncoder(w.b[:min(len(w.b), maxBase)]); err != nil {
			return err
		}
	} else if b := p.based.EncodeAll(w.b, nil); len(b) < len(block)/2 {
		block, e.base = b, p.base // otherwise the block is slower to read
	}
	e.length, e.block = int64(len(block)), sha256.Sum256(block)
	if _, err := hex.Decode(e.file[:], []byte(t.Digest)); err != nil {
		return err
	}
	p.entries = append(p.entries, e)
	p.sum.Cassettes++
	p.sum.YAML += size
	return p.write(block)
}

// kept is a header whose texts are not parts of a cassette's file, which would stay in memory.
func (p *packer) kept(h Header) Header {
	var w packWriter
	w.header(h)
	kept, ok := p.shared[string(w.b)]
	if !ok {
		kept = (&packReader{rest: string(w.b)}).header()
		p.shared[string(w.b)] = kept
	}
	kept.Task, kept.Trial = strings.Clone(h.Task), h.Trial
	return kept
}

// read returns a cassette that a pack can reproduce unchanged, and the size of its file.
func (p *packer) read(name string) (*Data, int64, error) {
	f := File{FS: p.files, Path: name}
	data, err := loadFile(f)
	if err != nil {
		return nil, 0, err
	}
	t, err := decodeFile(f, data)
	if err != nil {
		return nil, 0, err
	}
	var w packWriter
	w.data(t)
	r := &packReader{rest: string(w.b)}
	back := &Data{Header: t.Header, Interactions: r.interactions()}
	if r.bad || r.rest != "" || !bytes.Equal(Encode(back), data) {
		return nil, 0, &CorruptError{name, "it is not laid out as cupel does, and a pack must give it back byte for byte; seal it again"}
	}
	return t, int64(len(data)), nil
}
