package imports

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Document reads one JSON value from its beginning to its end, a part at a time.
type Document struct {
	dec   *jsontext.Decoder
	lines *lines
	size  int64 // of the last value
}

// NewDocument reads from in.
func NewDocument(in io.Reader) *Document {
	l := &lines{in: in, now: 1}
	return &Document{dec: jsontext.NewDecoder(l, lenient), lines: l}
}

// lines notes where lines end.
type lines struct {
	in   io.Reader
	read int64
	now  int // the line at the place that was asked for last
	ends []int64
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of a place, which is not before that of the last call.
func (l *lines) at(offset int64) int {
	n := 0
	for n < len(l.ends) && l.ends[n] < offset {
		n++
	}
	l.now += n
	l.ends = l.ends[n:]
	return l.now
}

// line is the line in which the last value begins.
func (d *Document) line() int { return d.lines.at(d.dec.InputOffset() - d.size) }

// Value reads the next value. It is valid until the next read.
func (d *Document) Value() ([]byte, error) {
	v, err := d.dec.ReadValue()
	d.size = int64(len(v))
	if err == nil && len(v) > maxRow {
		err = fmt.Errorf("a value has %d bytes, more than %d", len(v), maxRow)
	}
	return v, d.in(err)
}

// Members calls f with the name of each member of an object; f reads the value.
func (d *Document) Members(f func(name string) error) error {
	return d.nested('{', func() error {
		name, err := d.dec.ReadToken()
		if err != nil {
			return d.in(err)
		}
		return f(name.String())
	})
}

// Items calls f for each item of an array; f reads it.
func (d *Document) Items(f func() error) error { return d.nested('[', f) }

// IsArray reports whether the next value is an array.
func (d *Document) IsArray() bool { return d.dec.PeekKind() == '[' }

// IsObject reports whether the next value is an object.
func (d *Document) IsObject() bool { return d.dec.PeekKind() == '{' }

func (d *Document) nested(open jsontext.Kind, f func() error) error {
	got, err := d.dec.ReadToken()
	if err != nil {
		return d.in(err)
	}
	if got.Kind() != open {
		return fmt.Errorf("line %d: %s in place of %s", d.line(), got.Kind(), open)
	}
	for k := d.dec.PeekKind(); k != '}' && k != ']'; k = d.dec.PeekKind() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err = d.dec.ReadToken()
	return d.in(err)
}

// in adds to a syntax error where it is.
func (d *Document) in(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("line %d: the JSON ends early: the file was cut", d.lines.at(d.lines.read))
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: not JSON: %w", d.lines.at(syntax.ByteOffset), syntax.Err)
	}
	return err
}
