package tool

import (
	"encoding/json"
	"strconv"
)

// Duplicates returns the paths of names used twice in one object, such as
// .next_action.args.label, in document order, at most limit of them.
func (v JSON) Duplicates(limit int) []string {
	var out []string
	v.duplicates("", limit, &out)
	return out
}

// smallObject is how many members are compared pairwise rather than by a map.
const smallObject = 16

func (v JSON) duplicates(path string, limit int, out *[]string) {
	var seen map[string]int
	if len(v.Members) > smallObject {
		seen = make(map[string]int, len(v.Members))
	}
	for i, m := range v.Members {
		if len(*out) >= limit {
			return
		}
		if v.earlier(i, seen) == 1 {
			*out = append(*out, path+"."+Label(m.Name))
		}
		if len(m.Value.Members)+len(m.Value.Elems) > 0 {
			m.Value.duplicates(path+"."+Label(m.Name), limit, out)
		}
	}
	for i, e := range v.Elems {
		if len(e.Members)+len(e.Elems) > 0 {
			e.duplicates(path+"["+strconv.Itoa(i)+"]", limit, out)
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
	for _, m := range v.Members[:i] {
		if m.Name == name {
			n++
		}
	}
	return n
}

// decoded converts v to the types of encoding/json with json.Number: the last of
// repeated names wins, lone surrogates become U+FFFD, and containers beyond
// 64 levels come out empty.
func (v JSON) decoded() any {
	switch v.Kind {
	case '{':
		out := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			out[withoutSurrogates(m.Name)] = m.Value.decoded()
		}
		return out
	case '[':
		out := make([]any, len(v.Elems))
		for i, e := range v.Elems {
			out[i] = e.decoded()
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
