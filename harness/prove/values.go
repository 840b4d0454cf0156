package prove

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// column is the values that results have in the same place: of the same tool, at the same path, except for the indices of
// lists. Each is there once, in the order in which it came. Arguments have columns, too.
type column struct {
	args   bool
	values []any
}

// maxColumn bounds the values of a column.
const maxColumn = 500

// columnsOf are the columns of a conversation, in the order in which they came.
func columnsOf(t *talk) (out []column) {
	index := map[string]int{}
	for _, g := range t.groups {
		for _, r := range g.results {
			for i, text := range []json.RawMessage{r.Value, r.Args} {
				root := decoded(text)
				for _, path := range leaves(root, nil) {
					at := fmt.Sprint(r.Tool, i, pattern(path))
					k, ok := index[at]
					if !ok {
						k = len(out)
						index[at], out = k, append(out, column{args: i == 1})
					}
					if v, _ := lookUp(root, path); len(out[k].values) < maxColumn && !slices.Contains(out[k].values, v) {
						out[k].values = append(out[k].values, v)
					}
				}
			}
		}
	}
	return out
}

// pattern is a path without the indices of lists.
func pattern(path []string) string {
	var out []string
	for _, name := range path {
		if strings.Trim(name, "0123456789") == "" {
			name = "*"
		}
		out = append(out, name)
	}
	return strings.Join(out, ".")
}

// maxLeaves bounds what is looked at of one value.
const maxLeaves = 2_000

// leaves are the paths to the texts, numbers and booleans in a JSON value, in a fixed order.
func leaves(v any, at []string) (out [][]string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, leaves(v[name], append(slices.Clone(at), name))...)
		}
	case []any:
		for i := range v {
			out = append(out, leaves(v[i], append(slices.Clone(at), fmt.Sprint(i)))...)
		}
	case nil:
	default:
		out = append(out, at)
	}
	return out[:min(len(out), maxLeaves)]
}

// lookUp finds the value at a path.
func lookUp(v any, path []string) (any, bool) {
	for _, name := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(in) {
				return nil, false
			}
			v = in[i]
		default:
			return nil, false
		}
	}
	return v, v != nil
}

// put replaces the value at a path that is there, and returns the whole.
func put(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	in, _ := lookUp(v, path[:len(path)-1])
	if len(path) == 1 {
		in = v
	}
	switch last := path[len(path)-1]; in := in.(type) {
	case map[string]any:
		in[last] = value
	case []any:
		var i int
		if _, err := fmt.Sscan(last, &i); err == nil && i < len(in) {
			in[i] = value
		}
	}
	return v
}

// decoded reads JSON, numbers as they are written; nil if it is none.
func decoded(text json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// show is a value on one line.
func show(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}
