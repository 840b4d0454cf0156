package tool

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Duplicate is a name used twice in one object: its path, such as
// .next_action.args.label, and its JSON pointer (RFC 6901). Names are cut to
// labels in both.
type Duplicate struct{ Path, Pointer string }

// Duplicates returns the names used twice, in document order, at most limit of
// them.
func (v JSON) Duplicates(limit int) []Duplicate {
	if !v.repeats() {
		return nil
	}
	var out []Duplicate
	v.duplicates(Duplicate{}, limit, &out)
	return out
}

// repeats reports whether any name is used twice, without saying where: most
// texts need no paths.
func (v JSON) repeats() bool {
	seen := v.names()
	for i := range v.Members {
		if v.earlier(i, seen) > 0 || v.Members[i].Value.repeats() {
			return true
		}
	}
	return slices.ContainsFunc(v.Elems, JSON.repeats)
}

// names makes room to count the names of a large object, nil for any other.
func (v JSON) names() map[string]int {
	if len(v.Members) > smallObject {
		return make(map[string]int, len(v.Members))
	}
	return nil
}

func (d Duplicate) name(name string) Duplicate {
	return Duplicate{d.Path + "." + Label(name), d.Pointer + Pointer(name)}
}

func (d Duplicate) index(i int) Duplicate {
	n := strconv.Itoa(i)
	return Duplicate{d.Path + "[" + n + "]", d.Pointer + "/" + n}
}

// Pointer is the part of a JSON pointer (RFC 6901) that names a member: the
// name as a label, escaped, after a slash.
func Pointer(name string) string {
	return "/" + strings.ReplaceAll(strings.ReplaceAll(Label(name), "~", "~0"), "/", "~1")
}

// smallObject is how many members are compared pairwise rather than by a map.
const smallObject = 16

func (v JSON) duplicates(at Duplicate, limit int, out *[]Duplicate) {
	seen := v.names()
	for i, m := range v.Members {
		if len(*out) >= limit {
			return
		}
		if v.earlier(i, seen) == 1 {
			*out = append(*out, at.name(m.Name))
		}
		if len(m.Value.Members)+len(m.Value.Elems) > 0 {
			m.Value.duplicates(at.name(m.Name), limit, out)
		}
	}
	for i, e := range v.Elems {
		if len(e.Members)+len(e.Elems) > 0 {
			e.duplicates(at.index(i), limit, out)
		}
	}
}

// earlier counts the members before i with the same name.
func (v JSON) earlier(i int, seen map[string]int) int {
	name := v.Members[i].Name
	if seen != nil {
		n := seen[name]
		seen[name] = n + 1
		return n
	}
	n := 0
	for k := range i {
		if v.Members[k].Name == name {
			n++
		}
	}
	return n
}

// Decoded converts v to the types of encoding/json with json.Number: the last of
// repeated names wins, lone surrogates become U+FFFD, and containers beyond
// 64 levels come out empty.
func (v JSON) Decoded() any {
	switch v.Kind {
	case '{':
		out := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			out[withoutSurrogates(m.Name)] = m.Value.Decoded()
		}
		return out
	case '[':
		out := make([]any, len(v.Elems))
		for i, e := range v.Elems {
			out[i] = e.Decoded()
		}
		return out
	case '"':
		return v.Text()
	case '0':
		return json.Number(v.Raw)
	case 't', 'f':
		return v.Kind == 't'
	}
	return nil
}
