package gateway

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// member is a member of a JSON object, and where its value is in the text.
type member struct {
	name       string
	value      jsontext.Value
	start, end int
}

// members are those of an object, in its order.
type members []member

// membersOf reads an object. A name that comes twice is an error, since readers would
// disagree about it.
func membersOf(text []byte) (members, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		_, err := d.ReadToken()
		return nil, errors.Join(err, errors.New("want an object"))
	}
	_, _ = d.ReadToken() // the kind was seen
	var list members
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		if m.value, err = d.ReadValue(); err != nil {
			return nil, err
		}
		m.end = int(d.InputOffset())
		m.start = m.end - len(m.value)
		m.value = text[m.start:m.end]
		list = append(list, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, errors.New("want one object"))
	}
	return list, nil
}

// value is a member by its name, or by two joined by a dot; nil if it is absent.
func (b members) value(path string) jsontext.Value {
	name, below, nested := strings.Cut(path, ".")
	for _, m := range b {
		if m.name != name {
			continue
		}
		if !nested {
			return m.value
		}
		inside, _ := membersOf(m.value) // not an object: nothing is below
		return inside.value(below)
	}
	return nil
}

// text is a string; empty if it is another value.
func (b members) text(path string) string {
	text, err := jsontext.AppendUnquote(nil, b.value(path))
	if err != nil {
		return ""
	}
	return string(text)
}

// number is a whole number; 0 if it is another value.
func (b members) number(path string) int {
	n, err := strconv.ParseFloat(string(b.value(path)), 64)
	if err != nil || n != n || n < 0 || n > 1<<31-1 {
		return 0
	}
	return int(n)
}

// set returns an object with a member, which is named by one name or two joined by a dot.
// Everything else stays byte for byte.
func set(object []byte, path string, value []byte) ([]byte, error) {
	name, below, nested := strings.Cut(path, ".")
	list, err := membersOf(object)
	if err != nil {
		return nil, err
	}
	for _, m := range list {
		if m.name != name {
			continue
		}
		if nested {
			if value, err = set(m.value, below, value); err != nil {
				return nil, err
			}
		}
		return slices.Concat(object[:m.start], value, object[m.end:]), nil
	}
	if nested {
		value = slices.Concat([]byte("{"), quote(below), []byte(":"), value, []byte("}"))
	}
	open := bytes.IndexByte(object, '{') + 1
	comma := ","
	if len(list) == 0 {
		comma = ""
	}
	return slices.Concat(object[:open], quote(name), []byte(":"), value, []byte(comma), object[open:]), nil
}

// quote is a JSON string.
func quote(text string) []byte {
	b, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd")) // of valid UTF-8, this cannot fail
	return b
}
