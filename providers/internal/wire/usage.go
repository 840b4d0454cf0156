package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/providers"
)

// Fields say what becomes of each number in the usage objects of a wire. They are
// immutable and safe for concurrent use.
type Fields struct {
	list  []providers.UsageField
	exact map[string]bool
	any   [][]string // paths with a * in them, cut at their dots
}

// NewFields makes Fields of a list.
func NewFields(list ...providers.UsageField) *Fields {
	f := &Fields{list: list, exact: map[string]bool{}}
	for _, field := range list {
		f.exact[field.Path] = true
		if strings.Contains(field.Path, "*") {
			f.any = append(f.any, strings.Split(field.Path, "."))
		}
	}
	return f
}

// List returns the fields. The slice is not to be changed.
func (f *Fields) List() []providers.UsageField { return f.list }

// Knows says whether the number at a path is accounted for.
func (f *Fields) Knows(path string) bool {
	if f.exact[path] {
		return true
	}
	for _, pattern := range f.any {
		if fits(path, pattern) {
			return true
		}
	}
	return false
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
// disjoint classes of; ok false means that it holds no counts. What does not
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

// AddServerTools counts uses of the provider's own tools; those beyond 16 names count
// as "other". It may change the map.
func AddServerTools(u *providers.Usage, uses map[string]int64) {
	maps.DeleteFunc(uses, func(_ string, count int64) bool { return count == 0 })
	for i, name := range slices.Sorted(maps.Keys(uses)) {
		count := uses[name]
		if i >= 16 || len(name) > maxCode {
			name = "other"
		}
		u.AddServerTool(name, count)
	}
}

// settle completes a usage with what stands outside its counts. A second reading of
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

// account names the numbers of a usage object that fields do not. A zero changes no
// cost, whatever it counts.
func account(u *providers.Usage, raw []byte, fields *Fields) {
	if fields == nil {
		return
	}
	Leaves(raw, func(path string, number []byte) {
		digits, _, _ := bytes.Cut(bytes.ToLower(number), []byte("e"))
		if bytes.ContainsAny(digits, "123456789") && !fields.Knows(path) {
			u.Doubt(path, "not understood")
		}
	})
}

const maxPath = 256

// Leaves calls visit with the path (see providers.UsageField) and the text of each
// number in a JSON value, up to where the value breaks off. No known path is longer than
// maxPath: longer ones are cut, so that many numbers under a long name stay linear.
func Leaves(raw []byte, visit func(path string, number []byte)) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var path []byte // of the value that comes next
	var ends []int  // the length of the path of each value that is open
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return
		}
		kind, n := dec.StackIndex(dec.StackDepth())
		switch token.Kind() {
		case '{', '[':
			ends = append(ends, len(path))
			if token.Kind() == '[' {
				path = append(path, "[]"...)
			}
			continue
		case '}', ']':
			path, ends = path[:ends[len(ends)-1]], ends[:len(ends)-1]
		case '"':
			if kind == '{' && n%2 == 1 { // a name
				path = path[:ends[len(ends)-1]]
				if len(path) > 0 {
					path = append(path, '.')
				}
				path = append(path, token.String()...)
				continue
			}
		case '0':
			visit(string(path[:min(len(path), maxPath)]), []byte(token.String()))
		}
		if kind, _ := dec.StackIndex(dec.StackDepth()); kind == '{' {
			path = path[:ends[len(ends)-1]]
		}
	}
}
