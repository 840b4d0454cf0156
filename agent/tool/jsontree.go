package tool

import (
	"errors"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits on what is read into a tree. Text beyond them is still checked for being
// JSON.
const (
	maxBytes  = 64 << 10 // of the whole text
	maxDepth  = 64       // of nested objects and arrays
	maxValues = 8192     // of values in the text, member names not counted
)

// Shape is what reading a text learns about it.
type Shape struct {
	// Depth is the deepest nesting of objects and arrays, 0 for a scalar. Nesting
	// beyond 10,000 levels counts as 10,000.
	Depth int
	// Values counts all values, the outermost included: at least 10,000 of them if
	// the nesting is deeper than that.
	Values int
	// Bytes is the length of the text.
	Bytes int
}

// TooDeep reports nesting beyond 64 levels.
func (s Shape) TooDeep() bool { return s.Depth > maxDepth }

// TooLarge reports a text beyond 64 KiB or 8192 values.
func (s Shape) TooLarge() bool { return s.Bytes > maxBytes || s.Values > maxValues }

// JSON is one value of a tree read from untrusted text, which loses nothing: not
// the order of members, repeated names, number lexemes or lone surrogates. It
// refers to the text it was read from and must not be changed; it is safe for
// concurrent use.
type JSON struct {
	// Kind is the character that values of its sort begin with: '{', '[', '"',
	// '0' for any number, 't', 'f' or 'n'. 0 is not a value.
	Kind byte
	// Raw is the value exactly as written, without white space around it.
	Raw string
	// Members are an object's, in document order, repeated names included.
	Members []Member
	// Elems are an array's.
	Elems []JSON
}

// Member is one name and value of an object. A lone surrogate in the name is
// kept as its three-byte encoding, which is not valid UTF-8.
type Member struct {
	Name  string
	Value JSON
}

// ParseJSON reads text that must be exactly one JSON value (RFC 8259, valid
// UTF-8) with nothing but white space around it. If the shape is too large, the
// root has Kind and Raw only; values nested deeper than 64 levels have no Members
// and Elems. All results are zero unless ok.
func ParseJSON(text string) (root JSON, shape Shape, ok bool) {
	if !utf8.ValidString(text) {
		return JSON{}, Shape{}, false
	}
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	p.text, p.shape, p.err = text, Shape{Bytes: len(text)}, nil
	p.from.Reset(text)
	// A surrogate without its half counts as invalid UTF-8, and is kept as written.
	p.in.Reset(&p.from, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root = p.value()
	switch p.token(); {
	case errors.Is(p.err, io.EOF) && root.Kind != 0 && len(root.Raw) > 0:
	case p.in.StackDepth() == decoderDepth && validDeep(text):
		root.Raw = strings.Trim(text, " \t\r\n")
	default:
		return JSON{}, Shape{}, false
	}
	if p.shape.TooLarge() {
		root.Members, root.Elems = nil, nil
	}
	return root, p.shape, true
}

// Get returns the value of the last member of this name, as JSON.parse would.
func (v JSON) Get(name string) (JSON, bool) {
	for i := len(v.Members) - 1; i >= 0; i-- {
		if v.Members[i].Name == name {
			return v.Members[i].Value, true
		}
	}
	return JSON{}, false
}

// parser builds a tree from the tokens of a text. After the first error it reads no
// more.
type parser struct {
	text  string
	from  strings.Reader
	in    jsontext.Decoder
	shape Shape
	err   error
}

// parsers are reused: a decoder allocates its buffers.
var parsers = sync.Pool{New: func() any { return new(parser) }}

// at is the offset after what was read.
func (p *parser) at() int { return int(p.in.InputOffset()) }

// token reads the next token.
func (p *parser) token() jsontext.Kind {
	if p.err != nil {
		return 0
	}
	var t jsontext.Token
	if t, p.err = p.in.ReadToken(); p.err != nil {
		return 0
	}
	p.shape.Depth = max(p.shape.Depth, p.in.StackDepth())
	return t.Kind()
}

// scalar reads a name or a value that is neither object nor array, as written.
func (p *parser) scalar() string {
	if p.err != nil {
		return ""
	}
	var raw jsontext.Value
	if raw, p.err = p.in.ReadValue(); p.err != nil {
		return ""
	}
	return p.text[p.at()-len(raw) : p.at()]
}

// more reports whether the object or array continues, and else reads its end.
func (p *parser) more(end jsontext.Kind) bool {
	if p.err == nil && p.in.PeekKind() != end {
		return true
	}
	p.token()
	return false
}

// value reads the next value.
func (p *parser) value() JSON {
	p.shape.Values++
	v := JSON{Kind: byte(p.in.PeekKind())}
	if v.Kind != '{' && v.Kind != '[' {
		v.Raw = p.scalar()
		return v
	}
	p.token()
	start, depth := p.at()-1, p.in.StackDepth()
	switch {
	case p.err != nil:
	case depth > maxDepth || p.shape.TooLarge():
		p.skip(depth)
	case v.Kind == '{':
		for p.more('}') {
			name := p.scalar()
			if v.Members == nil {
				v.Members = make([]Member, 0, 4) // as many as most objects have
			}
			if p.err == nil {
				v.Members = append(v.Members, Member{Name: unquote(name), Value: p.value()})
			}
		}
	default:
		for p.more(']') {
			v.Elems = append(v.Elems, p.value())
		}
	}
	if p.err == nil {
		v.Raw = p.text[start:p.at()]
	}
	return v
}

// skip reads to the end of the container whose depth this is, without recursing.
func (p *parser) skip(depth int) {
	for p.err == nil && p.in.StackDepth() >= depth {
		within, n := p.in.StackIndex(p.in.StackDepth())
		switch kind := p.token(); {
		case kind == '}' || kind == ']' || kind == 0:
		case within != '{' || n%2 == 1: // not a name
			p.shape.Values++
		}
	}
}

// decoderDepth is the nesting at which a jsontext.Decoder reads no further.
const decoderDepth = 10_000

// validDeep reports whether text is one JSON value, however deeply nested. It splits
// the text into layers of half the depth that a decoder reads: each layer is an array
// of the values that start in it, with a 0 for each value of the next layer.
func validDeep(text string) bool {
	const levels = decoderDepth / 2
	layers := [][]byte{nil}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		start, closes := i, 0
		switch c := text[i]; {
		case c == '\\': // the next byte neither ends the string nor starts an escape
			i = min(i+1, len(text)-1)
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			if n := depth / levels; depth%levels == 0 {
				layers[n-1] = append(layers[n-1], " 0 "...)
				if n == len(layers) {
					layers = append(layers, []byte("[0"))
				}
				layers[n] = append(layers[n], ',')
			}
		case c == ']' || c == '}':
			closes = 1
		}
		layers[depth/levels] = append(layers[depth/levels], text[start:i+1]...)
		if depth -= closes; depth < 0 {
			return false
		}
	}
	for n, layer := range layers {
		if n > 0 {
			layer = append(layer, ']')
		}
		if !jsontext.Value(layer).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			return false
		}
	}
	return true
}
