package packs

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cupel-eval/cupel/recorder/cassette"
)

// The layout of a log, which is a segment or a journal: its magic, then records. A record is its
// head and its block:
//
//	mark      4 bytes that begin every head
//	kind      1 byte
//	name      2 bytes: the length of the name
//	stored    4 bytes: the length of the block
//	plain     4 bytes: the length of the content, which is the block inflated
//	digest    32 bytes: SHA-256 of the content
//	sum       8 bytes: the beginning of the SHA-256 of the head without sum
//	the name of the file
//
// Numbers are little-endian. A block is compressed by zstd. A log is only appended to, but the
// block of a removed file is overwritten with zeros.
const (
	magic    = "cupel segment 1\n"
	mark     = "\xc5\x9epk"
	headSize = len(mark) + 1 + 2 + 4 + 4 + sha256.Size + sumSize
	sumSize  = 8
	maxName  = 1 << 12
	// maxPlain bounds the content of a file, in bytes: a journal is at most twice a cassette.
	maxPlain = 2*cassette.MaxBytes + 1<<20
)

// kind is what a record does to its file.
type kind byte

const (
	content  kind = 1 + iota // replaces the file
	addition                 // is appended to the file
	removal                  // removes the file
)

// record is the head of a record in a log.
type record struct {
	kind   kind
	name   string
	at     int64 // the offset of its block
	stored uint32
	plain  uint32
	digest [sha256.Size]byte
}

// batch is records that are written together. Their offsets are those in data.
type batch struct {
	data    []byte
	records []record
}

// add appends a record whose block is the compressed content data.
func (b *batch) add(k kind, name string, data []byte) {
	var block []byte
	if len(data) > 0 {
		block = encoder().EncodeAll(data, nil)
	}
	rec := record{k, name, 0, uint32(len(block)), uint32(len(data)), sha256.Sum256(data)}
	from := len(b.data)
	b.data = append(append(b.data, mark...), byte(k))
	b.data = binary.LittleEndian.AppendUint16(b.data, uint16(len(name)))
	b.data = binary.LittleEndian.AppendUint32(b.data, rec.stored)
	b.data = binary.LittleEndian.AppendUint32(b.data, rec.plain)
	b.data = append(b.data, rec.digest[:]...)
	b.data = append(append(b.data, headSum(b.data[from:], name)...), name...)
	rec.at = int64(len(b.data))
	b.data = append(b.data, block...)
	b.records = append(b.records, rec)
}

// headSum is the checksum of a head, of its fixed part before the checksum and its name.
func headSum(fixed []byte, name string) []byte {
	h := sha256.New()
	h.Write(fixed)
	h.Write([]byte(name))
	return h.Sum(nil)[:sumSize]
}

// parseHead reads the record at the beginning of b. need is how many bytes its head has, as far
// as b says; ok is false if the head is not intact.
func parseHead(b []byte) (rec record, need int, ok bool) {
	if len(b) < headSize {
		return rec, headSize, false
	}
	fixed := b[len(mark):]
	rec.kind = kind(fixed[0])
	need = headSize + int(binary.LittleEndian.Uint16(fixed[1:]))
	rec.stored, rec.plain = binary.LittleEndian.Uint32(fixed[3:]), binary.LittleEndian.Uint32(fixed[7:])
	copy(rec.digest[:], fixed[11:])
	if string(b[:len(mark)]) != mark || len(b) < need {
		return rec, need, false
	}
	rec.name = string(b[headSize:need])
	sum := headSum(b[:headSize-sumSize], rec.name)
	ok = bytes.Equal(sum, b[headSize-sumSize:headSize]) && rec.kind >= content && rec.kind <= removal &&
		fs.ValidPath(rec.name) && len(rec.name) <= maxName && rec.plain <= maxPlain && rec.stored <= maxPlain
	return rec, need, ok
}

// scan calls each for the intact records of a log of size bytes, in order. It cuts off what a
// killed process had begun to write at the end. It returns the offsets of other damage; the
// records behind it are intact.
func scan(r io.ReaderAt, size int64, each func(record)) (damage []int64, err error) {
	begin := make([]byte, min(size, int64(len(magic))))
	if _, err := r.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(begin) < len(magic) {
		return nil, nil
	}
	if string(begin) != magic {
		damage = append(damage, 0)
	}
	head := make([]byte, headSize+maxName)
	for at := int64(len(magic)); at < size; {
		b := head[:min(int64(len(head)), size-at)]
		if _, err := r.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return damage, err
		}
		rec, need, ok := parseHead(b)
		rec.at = at + int64(need)
		if end := rec.at + int64(rec.stored); ok && end <= size {
			each(rec)
			at = end
			continue
		}
		next, zeros, err := nextHead(r, at+1, size)
		torn := ok || len(b) < headSize || len(b) < need && need <= len(head) && string(b[:len(mark)]) == mark
		switch {
		case err != nil:
			return damage, err
		case next < 0 && (torn || zeros && b[0] == 0): // zeros are what a file system may leave at a power failure
			return damage, nil
		case next < 0:
			return append(damage, at), nil
		}
		damage = append(damage, at)
		at = next
	}
	return damage, nil
}

// nextHead is the offset of the first intact head from at on, -1 if there is none. zeros says
// that there are only zero bytes until then.
func nextHead(r io.ReaderAt, at, size int64) (next int64, zeros bool, err error) {
	zeros = true
	window := make([]byte, 1<<20)
	const overlap = headSize + maxName
	for ; at < size; at += int64(len(window) - overlap) {
		b := window[:min(int64(len(window)), size-at)]
		if _, err := r.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return -1, false, err
		}
		zeros = zeros && len(bytes.Trim(b, "\x00")) == 0
		for from := 0; ; {
			i := bytes.Index(b[from:], []byte(mark))
			if i < 0 {
				break
			}
			if _, _, ok := parseHead(b[from+i:]); ok {
				return at + int64(from+i), false, nil
			}
			from += i + 1
		}
		if len(b) < len(window) {
			break
		}
	}
	return -1, zeros, nil
}

// read returns the content of a record's block.
func (rec *record) read(r io.ReaderAt) ([]byte, error) {
	if rec.plain == 0 {
		return nil, nil
	}
	block := make([]byte, rec.stored)
	if _, err := r.ReadAt(block, rec.at); err != nil {
		return nil, err
	}
	data, err := decoder().DecodeAll(block, make([]byte, 0, rec.plain))
	if err != nil || sha256.Sum256(data) != rec.digest {
		return nil, errChecksum
	}
	return data, nil
}

// errChecksum means that the block of an intact head is damaged.
var errChecksum = errors.New("checksum mismatch: the file was edited or damaged")

// damaged describes damage of a log.
func damaged(name string, at int64) error {
	return &cassette.CorruptError{Path: name, Reason: fmt.Sprintf("damaged at byte %d, where a recording is lost; keep all others with: cupel cassette pack --pack FOLDER", at)}
}
