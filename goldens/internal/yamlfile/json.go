package yamlfile

import (
	"bytes"
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// maxJSONBytes bounds one JSON value written in YAML, such as a schema: what
// package tool reads.
const maxJSONBytes = 64 << 10

// JSONNumber matches a number as JSON writes it.
var JSONNumber = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// JSON reads any YAML value that JSON has, as compact JSON text with members in
// file order. Dates are strings. It returns null for what JSON does not have.
func (p Place) JSON() json.RawMessage { return p.JSONWithin(maxJSONBytes) }

// JSONWithin is JSON of at most so many bytes.
func (p Place) JSONWithin(most int) json.RawMessage {
	before := p.Src.Found.Fatal()
	var out bytes.Buffer
	p.appendJSON(&out, most)
	if out.Len() > most {
		p.Failf("must be at most %d KiB of JSON", most>>10)
	}
	if p.Src.Found.Fatal() > before {
		return json.RawMessage("null")
	}
	return out.Bytes()
}

func (p Place) appendJSON(out *bytes.Buffer, most int) {
	if out.Len() > most {
		return // already too large; the caller says so
	}
	switch n := p.Value(); n.Kind {
	case yaml.MappingNode:
		out.WriteByte('{')
		for i, e := range p.Entries() {
			if i > 0 {
				out.WriteByte(',')
			}
			if tag := e.KeyAt.Node.ShortTag(); tag != "!!str" && tag != "!!timestamp" {
				e.KeyAt.Failf("a key must be a string, but is %s: put it in quotes", e.KeyAt.Kind())
			}
			out.WriteString(plainjson.Text(e.Key))
			out.WriteByte(':')
			e.Value.appendJSON(out, most)
		}
		out.WriteByte('}')
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, item := range p.Items() {
			if i > 0 {
				out.WriteByte(',')
			}
			item.appendJSON(out, most)
		}
		out.WriteByte(']')
	default:
		p.appendScalar(out)
	}
}

func (p Place) appendScalar(out *bytes.Buffer) {
	s, tag, _ := p.Scalar()
	switch tag {
	case "!!str", "!!timestamp":
		out.WriteString(plainjson.Text(s))
	case "!!null":
		out.WriteString("null")
	case "!!bool":
		out.WriteString(strings.ToLower(s))
	case "!!int", "!!float":
		if !JSONNumber.MatchString(s) {
			p.Failf("%s is not a JSON number; write it in decimal, or in quotes if it is a string", s)
		}
		out.WriteString(s)
	default:
		p.Wants("a JSON value")
	}
}

// DecodeJSON turns JSON text into Go values, with numbers as json.Number.
func DecodeJSON(text []byte) any {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil // text comes from place.json or Canonical, which are JSON
	}
	return v
}
