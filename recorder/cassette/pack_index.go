package cassette

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// The layout of a pack: its magic; the blocks of the cassettes, ordered by
// path, each compressed by itself; the index, compressed; the footer. The
// footer says how long the index is and holds its checksum, the index those
// of the blocks. Nothing else is in the file, so every byte is covered.
const (
	packMagic  = "cupel pack 1\n"
	packEnd    = "end of cupel pack\n"
	footerSize = 16 + sha256.Size + len(packEnd)
)

// maxIndex bounds an index, in bytes: half a million cassettes.
const maxIndex = 64 << 20

// leastEntry is the least size of a cassette's entry in the index, in bytes.
const leastEntry = 8 + 2*sha256.Size

// errForeign means that the file is not a pack, or is incomplete.
var errForeign = errors.New("not a pack, or a truncated one")

// packEntry is a cassette's entry in the index.
type packEntry struct {
	path   string
	header Header
	// offset and length locate its block, size is the decoded size.
	offset, length int64
	size           int
	block          [sha256.Size]byte
	// file is the digest of the YAML file it was made from.
	file [sha256.Size]byte
	// base is the first entry of its candidate if its block refers to that one's content;
	// otherwise nil.
	base *packBase
}

// candidateOf is the folder of a cassette's candidate: the first part of its path.
func candidateOf(path string) string {
	name, _, _ := strings.Cut(path, "/")
	return name
}

// encodeIndex encodes the index. Headers that differ only in task and trial are stored
// once.
func encodeIndex(entries []packEntry) []byte {
	var headers, rows packWriter
	known := map[string]int64{}
	for i := range entries {
		e := &entries[i]
		var w packWriter
		w.header(e.header)
		number, ok := known[string(w.b)]
		if !ok {
			number = int64(len(known))
			known[string(w.b)] = number
			headers.b = append(headers.b, w.b...)
		}
		rows.text(e.path)
		rows.number(number)
		rows.text(e.header.Task)
		rows.number(int64(e.header.Trial))
		rows.number(e.length)
		rows.number(int64(e.size))
		rows.flag(e.base != nil)
		rows.b = append(append(rows.b, e.block[:]...), e.file[:]...)
	}
	var w packWriter
	w.number(int64(len(known)))
	w.b = append(w.b, headers.b...)
	w.number(int64(len(entries)))
	return append(w.b, rows.b...)
}

// header appends what the cassettes of a candidate share.
func (w *packWriter) header(h Header) {
	h.Task = ""
	for _, f := range h.texts() {
		w.text(*f.value)
	}
	w.flag(h.Simulated)
	w.number(int64(len(h.Digests)))
	for _, name := range slices.Sorted(maps.Keys(h.Digests)) {
		w.text(name)
		w.text(h.Digests[name])
	}
}

func (r *packReader) header() Header {
	var h Header
	for _, f := range h.texts() {
		*f.value = r.text()
	}
	h.Simulated = r.flag()
	for range r.count(leastHeader) {
		if h.Digests == nil {
			h.Digests = map[string]string{}
		}
		name := r.text()
		h.Digests[name] = r.text()
	}
	return h
}

// decodeIndex reads an index whose blocks end at end.
func decodeIndex(text string, end int64) (map[string]*packEntry, error) {
	r := &packReader{rest: text}
	headers := make([]Header, r.count(leastHeader))
	for i := range headers {
		headers[i] = r.header()
	}
	list := make([]packEntry, r.count(leastEntry))
	entries := make(map[string]*packEntry, len(list))
	offset := int64(len(packMagic))
	var base *packBase
	for i := range list {
		e := &list[i]
		e.path = r.text()
		number := r.number()
		if number >= int64(len(headers)) || r.bad {
			return nil, errors.New("index is inconsistent")
		}
		e.header = headers[number]
		e.header.Task, e.header.Trial = r.text(), r.small()
		e.offset, e.length, e.size = offset, r.number(), r.small()
		based := r.flag()
		r.sum(&e.block)
		r.sum(&e.file)
		switch {
		case !fs.ValidPath(e.path), i > 0 && e.path <= list[i-1].path:
			return nil, fmt.Errorf("its index has %.100q out of place", e.path)
		case e.length > end-offset, e.size > MaxBytes, e.length > MaxBytes:
			return nil, fmt.Errorf("%s is larger than a cassette may be, or than the file", e.path)
		}
		offset += e.length
		if i == 0 || candidateOf(e.path) != candidateOf(list[i-1].path) {
			base = &packBase{entry: e}
		}
		if based {
			e.base = base
		}
		if e.base != nil && base.entry == e {
			return nil, fmt.Errorf("%s refers to itself", e.path)
		}
		entries[e.path] = e
	}
	if r.bad || r.rest != "" || offset != end {
		return nil, errors.New("index is inconsistent")
	}
	return entries, nil
}

func (r *packReader) sum(to *[sha256.Size]byte) {
	if len(r.rest) < len(to) {
		r.bad, r.rest = true, ""
		return
	}
	r.rest = r.rest[copy(to[:], r.rest):]
}

// encodeFooter ends a pack: the stored and the plain size of the index, and
// the checksum of both and of the index.
func encodeFooter(index []byte, size int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(index)))
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	sum := footerSum(b, index)
	return append(append(b, sum[:]...), packEnd...)
}

func footerSum(sizes, index []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(sizes)
	h.Write(index)
	return [sha256.Size]byte(h.Sum(nil))
}

// decodeFooter returns the sizes of the index, stored and plain, in a file of file bytes.
func decodeFooter(b []byte, file int64) (stored, size int64, err error) {
	if len(b) != footerSize || string(b[footerSize-len(packEnd):]) != packEnd {
		return 0, 0, errForeign
	}
	n, m := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if room := uint64(file) - uint64(len(packMagic)+footerSize); n > room || n > maxIndex || m > maxIndex {
		return 0, 0, errors.New("its index is larger than one may be, or than the file")
	}
	return int64(n), int64(m), nil
}
