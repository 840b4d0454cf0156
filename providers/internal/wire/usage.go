package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/providers"
)

// UsageField says what becomes of one number of a provider's usage object.
type UsageField struct {
	// Path names the number: members separated by dots, [] for the elements of a list
	// and * for a member of any name, such as "usage.details[].tokens".
	Path string
	// Column is the ledger column that the number is read into; empty if it is not read.
	Column string
	// Reason says why a number that is not read changes no cost, or how one that is
	// read is checked.
	Reason string
}

// Fields say what becomes of each number in the usage objects of a wire. They are
// immutable and safe for concurrent use.
type Fields struct {
	list  []UsageField
	exact map[string]string // to itself, so that a path is found without a copy
	any   [][]string        // paths with a * in them, cut at their dots
}

// NewFields makes Fields of a list.
func NewFields(list ...UsageField) *Fields {
	f := &Fields{list: list, exact: map[string]string{}}
	for _, field := range list {
		f.exact[field.Path] = field.Path
		if strings.Contains(field.Path, "*") {
			f.any = append(f.any, strings.Split(field.Path, "."))
		}
	}
	return f
}

// List returns the fields. The slice is not to be changed.
func (f *Fields) List() []UsageField { return f.list }

// Knows reports whether the number at a path is accounted for.
func (f *Fields) Knows(path string) bool {
	_, known := f.exact[path]
	return known || f.matches([]byte(path))
}

// matches reports whether a path is one that a * represents.
func (f *Fields) matches(path []byte) bool {
	return slices.ContainsFunc(f.any, func(pattern []string) bool { return fits(string(path), pattern) })
}

func fits(path string, pattern []string) bool {
	for i, want := range pattern {
		name, rest, more := strings.Cut(path, ".")
		if want != "*" && want != name || more != (i < len(pattern)-1) {
			return false
		}
		path = rest
	}
	return true
}

// Usage sets the usage of a reply from the provider's object, which read makes
// disjoint classes of; ok false means that it has no counts. What does not
// decode is kept and counted as not reported. fields account for the numbers of the
// object: one that they do not name, and that is not 0, is not understood.
func (b *Builder) Usage(raw json.RawMessage, fields *Fields, read func(json.RawMessage) (u providers.Usage, ok bool, err error)) {
	if !Given(raw) {
		return
	}
	b.Reply.RawUsage, b.Fields = raw, fields
	u, ok, err := read(raw)
	switch {
	case err != nil:
		b.Warn("usage: not understood, counted as not reported")
	case ok:
		u.Reported = true
		b.Reply.Usage = u
	}
}

// ServerTool counts a use of one of the provider's own tools that the reply shows. It
// counts only if the usage reports none, which would be the same uses again.
func (b *Builder) ServerTool(name string) {
	if b.tools == nil {
		b.tools = map[string]int64{}
	}
	b.tools[name]++
}

// AddServerTools counts uses of the provider's own tools. Those beyond 16 names count as
// "other", as do those whose name is not plain. It may change the map.
func AddServerTools(u *providers.Usage, uses map[string]int64) {
	if len(uses) == 0 {
		return
	}
	maps.DeleteFunc(uses, func(_ string, count int64) bool { return count == 0 })
	for i, name := range slices.Sorted(maps.Keys(uses)) {
		count := uses[name]
		if i >= 16 || name == "" || len(name) > maxCode || !plainASCII(name) {
			name = "other"
		}
		u.AddServerTool(name, count)
	}
}

// settle completes a usage with what is not part of its counts. A second reading of
// these has all of it, too.
func (b *Builder) settle(u *providers.Usage) {
	account(u, b.Reply.RawUsage, b.Fields)
	if len(u.ServerTools) == 0 {
		AddServerTools(u, b.tools)
	}
	if u.Other != nil {
		second := *u.Other
		second.Reported, second.Tier, second.ServerTools, second.NotUnderstood = u.Reported, u.Tier, u.ServerTools, u.NotUnderstood
		u.Other = &second
	}
}

// isZero reports whether a JSON number is 0.
func isZero(number []byte) bool {
	if end := bytes.IndexAny(number, "eE"); end >= 0 {
		number = number[:end]
	}
	return !bytes.ContainsAny(number, "123456789")
}

// account names the numbers of a usage object that fields do not. A zero changes no
// cost, regardless of the meaning of its counts.
func account(u *providers.Usage, raw []byte, fields *Fields) {
	if fields == nil {
		return
	}
	leaves(raw, func(path, number []byte) {
		if _, known := fields.exact[string(path)]; !known && !isZero(number) && !fields.matches(path) {
			u.Doubt(printable(path), "not understood")
		}
	})
}

// maxPath bounds a path, in bytes. No known one is as long: longer ones are cut, so that
// many numbers under a long name stay linear.
const maxPath = 256

// Leaves calls visit with the path (see UsageField) and the text of each
// number in a JSON value, up to where the value breaks off.
func Leaves(raw []byte, visit func(path string, number []byte)) {
	leaves(raw, func(path, number []byte) { visit(printable(path), number) })
}

// printable is a path as text: names are the server's.
func printable(path []byte) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || invisible.Rune(r) {
			return unicode.ReplacementChar
		}
		return r
	}, string(path))
}

// decoders are reused, because every reply is read twice by leaves.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// leaves is Leaves without a copy of the path, which is valid until visit returns.
func leaves(raw []byte, visit func(path, number []byte)) {
	dec := decoders.Get().(*jsontext.Decoder)
	defer decoders.Put(dec)
	dec.Reset(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	path := make([]byte, 0, maxPath) // of the value that comes next
	var ends []int                   // the length of the path of each value that is open
	for {
		switch next := dec.PeekKind(); next {
		case '{', '[', '}', ']':
			if _, err := dec.ReadToken(); err != nil {
				return
			}
			if next == '{' || next == '[' {
				ends = append(ends, len(path))
				if next == '[' {
					path = append(path, "[]"...)
				}
				continue
			}
			path, ends = path[:ends[len(ends)-1]], ends[:len(ends)-1]
		default:
			value, err := dec.ReadValue()
			if err != nil {
				return
			}
			if kind, n := dec.StackIndex(dec.StackDepth()); kind == '{' && n%2 == 1 {
				path = appendMember(path[:ends[len(ends)-1]], value)
				continue
			}
			if next == '0' {
				visit(path[:min(len(path), maxPath)], value)
			}
		}
		if kind, _ := dec.StackIndex(dec.StackDepth()); kind == '{' {
			path = path[:ends[len(ends)-1]]
		}
	}
}

// appendMember appends the name of a member to the path of its object.
func appendMember(path, quoted []byte) []byte {
	if len(path) > 0 {
		path = append(path, '.')
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(path, quoted[1:len(quoted)-1]...)
	}
	name, _ := Unquote(quoted) // it is a string: it has been parsed before
	return append(path, name...)
}
