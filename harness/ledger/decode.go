package ledger

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

var errPayload = errors.New("its content is not rows of an episode")

// appendEpisode appends the rows of an episode in the encoding of the journal.
func (c *coder) appendEpisode(dst []byte, rec *EpisodeRows) []byte {
	c.enc = encoder{buf: dst}
	c.episode.row = rec.Episode
	c.episode.encode(&c.enc)
	appendRows(&c.enc, c.turn, rec.Turns)
	appendRows(&c.enc, c.call, rec.ToolCalls)
	return c.enc.buf
}

func appendRows[T any, P record[T]](e *encoder, s *scratch[T, P], rows []T) {
	e.uint(uint64(len(rows)))
	for i := range rows {
		s.row = rows[i]
		s.encode(e)
	}
}

// coder encodes and decodes the rows of an episode. It is not safe for concurrent use.
type coder struct {
	enc     encoder
	episode *scratch[Episode, *Episode]
	turn    *scratch[Turn, *Turn]
	call    *scratch[ToolCall, *ToolCall]
}

func newCoder() *coder {
	return &coder{episode: newScratch[Episode](), turn: newScratch[Turn](), call: newScratch[ToolCall]()}
}

// decodeEpisode is the inverse of appendEpisode. The payload is untrusted; the rows do not
// share its memory.
func (c *coder) decodeEpisode(payload []byte) (EpisodeRows, error) {
	d := decoder{text: string(payload)}
	var rec EpisodeRows
	d.copies = true // so that an episode does not retain the memory of all its rows
	decodeRow(&d, c.episode, &rec.Episode)
	d.copies = false
	rec.Turns = decodeRows(&d, c.turn)
	rec.ToolCalls = decodeRows(&d, c.call)
	if d.bad || d.text != "" {
		return EpisodeRows{}, errPayload
	}
	return rec, nil
}

// decodeRow reads a row into the scratch and copies it to to.
func decodeRow[T any, P record[T]](d *decoder, s *scratch[T, P], to *T) {
	*P(&s.row).key() = d.key()
	for _, f := range s.rest {
		d.field(f)
	}
	*to = s.row
}

func decodeRows[T any, P record[T]](d *decoder, s *scratch[T, P]) []T {
	// A row has at least a byte per column.
	n := d.count(len(s.rest))
	if n == 0 {
		return nil
	}
	rows := make([]T, 0, min(n, 1024))
	for range n {
		var row T
		if decodeRow(d, s, &row); d.bad {
			return nil
		}
		rows = append(rows, row)
	}
	return rows
}

// decoder reads the output of an encoder. After an error it is bad and returns zeros.
type decoder struct {
	text   string // not yet read
	bad    bool
	copies bool // copy strings, which otherwise share the memory of text
	last   Key
	any    bool
}

func (d *decoder) fail() {
	d.bad, d.text = true, ""
}

func (d *decoder) key() Key {
	switch d.byte() {
	case sameKey:
		if !d.any {
			d.fail()
		}
	case otherKey:
		copies := d.copies
		d.copies = true
		for _, s := range d.last.strings() {
			*s = d.string()
		}
		d.last.Trial, d.last.Seed, d.last.Replayed = d.int32(), d.int(), d.bool()
		d.copies, d.any = copies, true
	default:
		d.fail()
	}
	return d.last
}

func (d *decoder) field(f any) {
	switch p := f.(type) {
	case *string:
		*p = d.string()
	case *bool:
		*p = d.bool()
	case *int32:
		*p = d.int32()
	case *int64:
		*p = d.int()
	case **bool:
		*p = nil
		if d.bool() {
			*p = new(d.bool())
		}
	case **int32:
		*p = nil
		if d.bool() {
			*p = new(d.int32())
		}
	case **int64:
		*p = nil
		if d.bool() {
			*p = new(d.int())
		}
	case **float64:
		*p = nil
		if d.bool() {
			*p = d.float()
		}
	case *[]string:
		*p = nil
		for range d.count(1) {
			*p = append(*p, d.string())
		}
	default:
		recordsOf(f).decode(d)
	}
}

func (d *decoder) byte() byte {
	if d.text == "" {
		d.fail()
		return 0
	}
	b := d.text[0]
	d.text = d.text[1:]
	return b
}

func (d *decoder) bool() bool {
	b := d.byte()
	if b > 1 {
		d.fail()
	}
	return b == 1
}

func (d *decoder) uint() uint64 {
	if len(d.text) > 0 && d.text[0] < 0x80 { // most numbers
		n := d.text[0]
		d.text = d.text[1:]
		return uint64(n)
	}
	var buf [binary.MaxVarintLen64]byte
	n, size := binary.Uvarint(buf[:copy(buf[:], d.text)])
	if size <= 0 {
		d.fail()
		return 0
	}
	d.text = d.text[size:]
	return n
}

func (d *decoder) int() int64 {
	n := d.uint()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) int32() int32 {
	n := d.int()
	if n < math.MinInt32 || n > math.MaxInt32 {
		d.fail()
	}
	return int32(n)
}

func (d *decoder) float() *float64 {
	if len(d.text) < 8 {
		d.fail()
		return nil
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64([]byte(d.text[:8])))
	d.text = d.text[8:]
	return &f
}

// count reads the number of elements that follow, each of at least size bytes.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > uint64(len(d.text)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.count(1)
	s := d.text[:n]
	d.text = d.text[n:]
	if d.copies {
		return strings.Clone(s)
	}
	return s
}
