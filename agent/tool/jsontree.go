package tool

import "strings"

// JSON is one value of a tree read from untrusted text, which loses nothing: not
// the order of members, repeated names, number lexemes or lone surrogates. It
// refers to the text it was read from and must not be changed; it is safe for
// concurrent use.
type JSON struct {
	// Kind is the character that values of its sort begin with: '{', '[', '"',
	// '0' for any number, 't', 'f' or 'n'. 0 is no value.
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
	shape, ok = checkJSON(text)
	if !ok {
		return JSON{}, Shape{}, false
	}
	p := parser{text: text, at: skipSpace(text, 0)}
	if shape.TooLarge() {
		return JSON{Kind: shape.Kind, Raw: strings.TrimRight(text[p.at:], " \n\t\r")}, shape, true
	}
	p.room = make([]Member, 0, shape.members)
	return p.value(1), shape, true
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

// parser builds trees from text that checkJSON has accepted.
type parser struct {
	text string
	at   int
	// room is for the members of all objects, one after the other.
	room []Member
}

// value reads the value at the cursor; depth is that of a container read here.
func (p *parser) value(depth int) JSON {
	start := p.at
	v := JSON{Kind: kindOf(p.text[start])}
	switch {
	case v.Kind != '{' && v.Kind != '[':
		p.at, _ = scalarEnd(p.text, start, v.Kind)
	case depth > maxDepth:
		p.skip()
	case v.Kind == '{':
		v.Members = p.members(depth)
	default:
		v.Elems = p.elems(depth)
	}
	v.Raw = p.text[start:p.at]
	return v
}

func (p *parser) members(depth int) []Member {
	var few [4]Member
	own := few[:0]
	for p.more('}') {
		end, _ := stringEnd(p.text, p.at)
		name := unquote(p.text[p.at:end])
		p.at = skipSpace(p.text, skipSpace(p.text, end)+1) // past the colon
		own = append(own, Member{Name: name, Value: p.value(depth + 1)})
	}
	if len(own) == 0 {
		return nil
	}
	from := len(p.room) // the members of members are before
	p.room = append(p.room, own...)
	return p.room[from:len(p.room):len(p.room)]
}

func (p *parser) elems(depth int) []JSON {
	var out []JSON
	for p.more(']') {
		out = append(out, p.value(depth+1))
	}
	return out
}

// more steps over an opening bracket or comma to the next name or value, or
// over the closing bracket.
func (p *parser) more(closing byte) bool {
	p.at = skipSpace(p.text, p.at)
	if p.text[p.at] != closing {
		p.at = skipSpace(p.text, p.at+1)
		if p.text[p.at] != closing {
			return true
		}
	}
	p.at++
	return false
}

// skip steps over the container at the cursor without recursing.
func (p *parser) skip() {
	depth := 0
	for {
		switch p.text[p.at] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end, _ := stringEnd(p.text, p.at)
			p.at = end - 1
		}
		p.at++
		if depth == 0 {
			return
		}
	}
}
