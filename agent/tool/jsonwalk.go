package tool

import (
	"encoding/json"
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
	var out []Duplicate
	v.duplicates(func() Duplicate { return Duplicate{} }, limit, &out)
	return out
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

// duplicates appends those within v. at is asked for the place of v once one is found:
// most texts need no paths.
func (v JSON) duplicates(at func() Duplicate, limit int, out *[]Duplicate) {
	seen := map[string]int{}
	for _, m := range v.Members {
		if len(*out) >= limit {
			return
		}
		here := func() Duplicate { return at().name(m.Name) }
		if seen[m.Name]++; seen[m.Name] == 2 {
			*out = append(*out, here())
		}
		m.Value.duplicates(here, limit, out)
	}
	for i, e := range v.Elems {
		e.duplicates(func() Duplicate { return at().index(i) }, limit, out)
	}
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
