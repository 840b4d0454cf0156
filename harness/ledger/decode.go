package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

var errPayload = errors.New("its content is not rows of an episode")

// appendEpisode appends the rows of an episode as the journal holds them.
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

// coder is what encoding and decoding the rows of an episode need. It is for one
// goroutine at a time.
type coder struct {
	enc     encoder
	episode *scratch[Episode, *Episode]
	turn    *scratch[Turn, *Turn]
	call    *scratch[ToolCall, *ToolCall]
}

func newCoder() *coder {
	return &coder{episode: newScratch[Episode](), turn: newScratch[Turn](), call: newScratch[ToolCall]()}
}

// decodeEpisode is the inverse of appendEpisode. The payload is untrusted, and not
// kept.
func (c *coder) decodeEpisode(payload []byte) (EpisodeRows, error) {
	d := decoder{text: string(payload)}
	var rec EpisodeRows
	d.own = true // whoever keeps an episode must not keep all its rows with it
	decodeRow(&d, c.episode, &rec.Episode)
	d.own = false
	rec.Turns = decodeRows(&d, c.turn)
	rec.ToolCalls = decodeRows(&d, c.call)
	if d.bad || d.text != "" {
		return EpisodeRows{}, errPayload
	}
	return rec, nil
}

// decodeRow reads a row into the scratch, and from there into to.
func decodeRow[T any, P record[T]](d *decoder, s *scratch[T, P], to *T) {
	*P(&s.row).key() = d.key()
	for _, f := range s.own {
		d.field(f)
	}
	*to = s.row
}

func decodeRows[T any, P record[T]](d *decoder, s *scratch[T, P]) []T {
	// A row has at least a byte per column.
	n := d.count(len(s.own))
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

// decoder reads what an encoder wrote. Once something was wrong it is bad, and
// reads zeros.
type decoder struct {
	text string // what is left
	bad  bool
	own  bool // strings get memory of their own, else they share that of the text
	last Key
	any  bool
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
		own := d.own
		d.own = true
		for _, s := range d.last.strings() {
			*s = d.string()
		}
		d.last.Trial, d.last.Seed, d.last.Replayed = d.int32(), d.int(), d.bool()
		d.own, d.any = own, true
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
			n := d.int32()
			*p = &n
		}
	case **int64:
		*p = nil
		if d.bool() {
			n := d.int()
			*p = &n
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
	case *[]Check:
		*p = nil
		for range d.count(3) {
			*p = append(*p, Check{d.string(), d.bool(), d.string()})
		}
	default:
		panic(fmt.Sprintf("ledger: column of type %T", f)) // unreachable: see record.fields
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
	if len(d.text) > 0 && d.text[0] < 0x80 { // most of them
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

// count reads how many elements follow, each of at least size bytes.
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
	if d.own {
		return strings.Clone(s)
	}
	return s
}
