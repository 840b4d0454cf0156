package bfcl

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// mutator makes answers of accepted ones: some right, some wrong.
type mutator struct{ *rand.Rand }

func pick[T any](m mutator, of []T) T { return of[m.IntN(len(of))] }

// answer is an accepted answer: a random accepted value for each argument, and some optional
// ones left out.
func (m mutator) answer(a *Answer) (calls []mutant) {
	for _, c := range a.accepted {
		name := c.name
		if c.of != nil {
			name = c.of.Offered
		}
		args := map[string]any{}
		for _, arg := range c.args {
			if len(arg.values) > 0 && (!arg.optional || m.IntN(2) > 0) {
				args[arg.name] = m.choose(pick(m, arg.values))
			}
		}
		calls = append(calls, mutant{name: name, args: args})
	}
	return calls
}

// mutant is a call; raw replaces the text of its arguments.
type mutant struct {
	name string
	args map[string]any
	raw  string
}

// choose makes a value of an accepted one: a member of an object has a list of them.
func (m mutator) choose(accepted any) any {
	switch v := accepted.(type) {
	case []any:
		out := slices.Clone(v)
		for i, e := range v {
			if object, ok := e.(map[string]any); ok {
				out[i] = m.choose(object)
			}
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for _, key := range sortedKeys(v) {
			out[key] = v[key]
			if list, ok := v[key].([]any); ok && len(list) > 0 {
				out[key] = pick(m, list)
			}
			if object, ok := out[key].(map[string]any); ok {
				out[key] = m.choose(object)
			}
		}
		return out
	}
	return accepted
}

func sortedKeys[V any](of map[string]V) []string {
	var out []string
	for key := range of {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// mutate changes an answer in one place.
func (m mutator) mutate(a *Answer, calls []mutant) []mutant {
	if len(calls) == 0 { // also of a question to which no call is right
		f := pick(m, a.functions)
		return append(calls, mutant{name: f.Offered, args: map[string]any{}, raw: pick(m, []string{"", "{}", "no", "[]", `{"a":1}`})})
	}
	i := m.IntN(len(calls))
	c := &calls[i]
	switch m.IntN(14) {
	case 0:
		f := pick(m, a.functions)
		c.name = pick(m, []string{f.Offered, f.Name, strings.ToUpper(c.name), c.name + "_1", " " + c.name, ""})
	case 1:
		return slices.Delete(calls, i, i+1)
	case 2:
		return append(calls, *c)
	case 3:
		m.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	case 4:
		if keys := sortedKeys(c.args); len(keys) > 0 {
			delete(c.args, pick(m, keys))
		}
	case 5:
		f := pick(m, a.functions)
		name := "extra"
		if len(f.order) > 0 && m.IntN(2) > 0 {
			name = pick(m, f.order)
		}
		c.args[name] = m.value()
	case 6:
		c.raw = pick(m, []string{"{", "null", "[1]", "text", `{"a":1} {"b":2}`, `"{}"`, "{'a': 1}"})
	default:
		if keys := sortedKeys(c.args); len(keys) > 0 {
			key := pick(m, keys)
			c.args[key] = m.changed(c.args[key])
		}
	}
	return calls
}

// value is any value.
func (m mutator) value() any {
	return pick(m, []any{"", "x", true, nil, json.Number("1"), json.Number("1.0"), []any{}, map[string]any{}})
}

// changed is a value that is like another.
func (m mutator) changed(v any) any {
	if m.IntN(12) == 0 {
		return m.value()
	}
	switch v := v.(type) {
	case string:
		return m.text(v)
	case bool:
		return pick(m, []any{!v, strconv.FormatBool(v), json.Number("1"), json.Number("0")})
	case json.Number:
		return m.number(string(v))
	case []any:
		out := slices.Clone(v)
		switch n := m.IntN(8); {
		case n > 5: // floats as whole numbers
			for i, e := range out {
				if number, ok := e.(json.Number); ok {
					out[i] = json.Number(strings.TrimSuffix(string(number), ".0"))
				}
			}
		case n == 0:
			slices.Reverse(out)
		case n == 1 && len(out) > 0:
			return out[1:]
		case n == 2:
			return append(out, m.value())
		case n == 3 && len(out) > 0:
			return out[0]
		case len(out) > 0:
			i := m.IntN(len(out))
			out[i] = m.changed(out[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = value
		}
		keys := sortedKeys(out)
		switch n := m.IntN(5); {
		case n == 0 && len(keys) > 0:
			delete(out, pick(m, keys))
		case n == 1:
			out["extra"] = m.value()
		case len(keys) > 0:
			key := pick(m, keys)
			out[key] = m.changed(out[key])
		}
		return out
	}
	return m.value()
}

func (m mutator) text(s string) any {
	if strings.ContainsAny(s, `'"`) && m.IntN(3) == 0 {
		return strings.NewReplacer("'", `"`, `"`, "'").Replace(s)
	}
	marks := []rune(" ,./-_*^")
	switch m.IntN(11) {
	case 0:
		return strings.ToUpper(s)
	case 1:
		return strings.ToLower(s)
	case 2, 3:
		at := m.IntN(len(s) + 1)
		return strings.ToValidUTF8(s[:at], "") + string(pick(m, marks)) + strings.ToValidUTF8(s[at:], "")
	case 4:
		return strings.ReplaceAll(s, string(pick(m, marks)), "")
	case 5, 6:
		return s + pick(m, []string{"s", "!", "\t", "\u00a0", "é", "0"})
	case 7:
		if f := strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '/' }); len(f) == 3 { // dates
			return pick(m, []string{f[1] + "/" + f[2] + "/" + f[0], f[2] + "." + f[1] + "." + f[0], f[0] + "/" + f[1] + "/" + f[2], f[0] + f[1] + f[2]})
		}
		return "'" + s + "'"
	case 8:
		return ""
	case 9:
		if _, err := strconv.ParseFloat(s, 64); err == nil && json.Valid([]byte(s)) {
			return json.Number(s)
		}
		return []any{s}
	}
	return s
}

func (m mutator) number(s string) any {
	switch m.IntN(7) {
	case 0:
		return json.Number(s + ".0")
	case 1:
		return json.Number(s + "e0")
	case 2:
		return json.Number(strings.TrimSuffix(s, ".0"))
	case 3:
		return s // as text
	case 4:
		return json.Number("1" + strings.TrimPrefix(s, "-"))
	case 5:
		return json.Number("-" + strings.TrimPrefix(s, "-"))
	}
	return json.Number(strings.Split(s, ".")[0])
}

// calls is the answer as a model writes it. A number that is not JSON makes a call that
// cannot be read.
func texts(calls []mutant) (out []Call) {
	for _, c := range calls {
		text := c.raw
		if text == "" {
			text = written(c.args)
		}
		out = append(out, Call{c.name, text})
	}
	return out
}

// written is a value as JSON, with numbers as they are: json.Marshal refuses some.
func written(v any) string {
	switch v := v.(type) {
	case json.Number:
		return string(v)
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, written(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for _, key := range sortedKeys(v) {
			parts = append(parts, written(key)+":"+written(v[key]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	text, _ := json.Marshal(v)
	return string(text)
}
