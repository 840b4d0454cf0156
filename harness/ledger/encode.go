package ledger

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// encoder writes rows for digests and the journal, so that different rows have different
// encodings: strings and lists begin with their length, and pointers with a flag for nil. A key
// that equals the previous row's is one byte.
type encoder struct {
	buf   []byte
	dirty bool // a string was not valid UTF-8
	last  Key  // of the previous row, valid UTF-8
	any   bool // there is a previous row
	// members is the memory of the pointers to the members of a record.
	members []any
}

const (
	sameKey  = 0
	otherKey = 1
)

func (e *encoder) key(k *Key) {
	key := cleanKey(*k)
	e.dirty = e.dirty || key != *k
	if e.any && key == e.last {
		e.buf = append(e.buf, sameKey)
		return
	}
	e.buf = append(e.buf, otherKey)
	for _, s := range key.strings() {
		e.string(*s)
	}
	e.int(int64(key.Trial))
	e.int(key.Seed)
	e.bool(key.Replayed)
	e.last, e.any = key, true
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
	case **bool:
		if e.present(*p != nil) {
			e.bool(**p)
		}
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
	default:
		recordsOf(f).encode(e)
	}
}

func (e *encoder) uint(n uint64) { e.buf = binary.AppendUvarint(e.buf, n) }

func (e *encoder) int(n int64) { e.uint(uint64(n)<<1 ^ uint64(n>>63)) }

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

// scratch is one row and the pointers to its columns. Copying a row into it is cheaper than
// collecting the pointers of every row.
type scratch[T any, P record[T]] struct {
	row  T
	rest []any // the columns after the key
}

func newScratch[T any, P record[T]]() *scratch[T, P] {
	s := &scratch[T, P]{}
	s.rest = P(&s.row).fields(nil)[keyFields:]
	return s
}

// encode writes the row.
func (s *scratch[T, P]) encode(e *encoder) {
	e.key(P(&s.row).key())
	for _, f := range s.rest {
		e.field(f)
	}
}

// validUTF8 replaces each byte that is not UTF-8 with U+FFFD, as encoding/json does, so that
// journal and Parquet have the same text.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func cleanKey(k Key) Key {
	for _, s := range k.strings() {
		*s = validUTF8(*s)
	}
	return k
}

// clean makes every string of a row valid UTF-8. It copies lists, because others may share
// their memory.
func clean[T any, P record[T]](row *T) {
	for _, f := range P(row).fields(nil) {
		switch p := f.(type) {
		case *string:
			*p = validUTF8(*p)
		case *[]string:
			list := make([]string, len(*p))
			for i, s := range *p {
				list[i] = validUTF8(s)
			}
			*p = list
		default:
			if r := recordsOf(f); r != nil {
				r.clean()
			}
		}
	}
}
