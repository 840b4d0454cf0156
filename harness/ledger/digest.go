package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"unicode/utf8"
)

// Digest is the SHA-256 in lower-case hex over all rows except the columns
// run_id and replayed, so that a replay has the digest of the run it replays.
// It depends on the order of the rows, not on how they are stored: nil and
// empty lists are equal, and a byte that is not UTF-8 counts as U+FFFD, as
// Write and Journal.Append store it.
func Digest(rows Rows) string {
	e := newEncoder()
	digestRows(e, rows.Episodes, true)
	digestRows(e, rows.Turns, true)
	digestRows(e, rows.ToolCalls, true)
	return e.sum()
}

// tableDigest covers every column of one table. clean reports that every string
// is valid UTF-8.
func tableDigest[T any, P record[T]](rows []T) (digest string, clean bool) {
	e := newEncoder()
	digestRows[T, P](e, rows, false)
	return e.sum(), !e.dirty
}

func digestRows[T any, P record[T]](e *encoder, rows []T, anyRun bool) {
	var row T
	fields := P(&row).fields(nil)
	e.uint(uint64(len(rows)))
	for i := range rows {
		row = rows[i]
		if anyRun {
			k := P(&row).key()
			k.RunID, k.Replayed = "", false
		}
		for _, f := range fields {
			e.field(f)
		}
		e.flush(encoderBuffer)
	}
}

// encoder hashes values in a form in which no two rows look alike: strings and
// lists carry their length, pointers say whether there is a value.
type encoder struct {
	h     hash.Hash
	buf   []byte
	dirty bool // a string was not valid UTF-8
}

const encoderBuffer = 32 << 10

func newEncoder() *encoder { return &encoder{h: sha256.New(), buf: make([]byte, 0, 2*encoderBuffer)} }

// flush passes the buffer on once it holds at least n bytes.
func (e *encoder) flush(n int) {
	if len(e.buf) >= n {
		e.h.Write(e.buf)
		e.buf = e.buf[:0]
	}
}

func (e *encoder) sum() string {
	e.flush(0)
	return hex.EncodeToString(e.h.Sum(nil))
}

func (e *encoder) field(f any) {
	switch p := f.(type) {
	case *string:
		e.string(*p)
	case *bool:
		e.bool(*p)
	case *int32:
		e.int(int64(*p))
	case *int64:
		e.int(*p)
	case **int32:
		if e.present(*p != nil) {
			e.int(int64(**p))
		}
	case **int64:
		if e.present(*p != nil) {
			e.int(**p)
		}
	case **float64:
		if e.present(*p != nil) {
			e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(**p))
		}
	case *[]string:
		e.uint(uint64(len(*p)))
		for _, s := range *p {
			e.string(s)
		}
	case *[]Check:
		e.uint(uint64(len(*p)))
		for _, c := range *p {
			e.string(c.Name)
			e.bool(c.Passed)
			e.string(c.Detail)
		}
	default:
		panic(fmt.Sprintf("ledger: column of type %T", f)) // unreachable: see record.fields
	}
}

func (e *encoder) uint(n uint64) { e.buf = binary.AppendUvarint(e.buf, n) }
func (e *encoder) int(n int64)   { e.buf = binary.AppendVarint(e.buf, n) }

func (e *encoder) bool(b bool) {
	if b {
		e.buf = append(e.buf, 1)
	} else {
		e.buf = append(e.buf, 0)
	}
}

func (e *encoder) present(b bool) bool {
	e.bool(b)
	return b
}

func (e *encoder) string(s string) {
	if !utf8.ValidString(s) {
		e.dirty = true
		s = validUTF8(s)
	}
	e.uint(uint64(len(s)))
	e.buf = append(e.buf, s...)
}

// validUTF8 replaces every byte that is not UTF-8 by U+FFFD, one for one, as
// encoding JSON does: journal and Parquet must agree.
func validUTF8(s string) string { return string([]rune(s)) }

// cleaned returns the rows with every string made valid UTF-8. The rows given
// are left alone.
func cleaned[T any, P record[T]](rows []T) []T {
	out := make([]T, len(rows))
	copy(out, rows)
	var row T
	fields := P(&row).fields(nil)
	for i := range out {
		row = out[i]
		for _, f := range fields {
			switch p := f.(type) {
			case *string:
				*p = validUTF8(*p)
			case *[]string:
				list := make([]string, len(*p))
				for j, s := range *p {
					list[j] = validUTF8(s)
				}
				*p = list
			case *[]Check:
				list := make([]Check, len(*p))
				for j, c := range *p {
					list[j] = Check{validUTF8(c.Name), c.Passed, validUTF8(c.Detail)}
				}
				*p = list
			}
		}
		out[i] = row
	}
	return out
}
