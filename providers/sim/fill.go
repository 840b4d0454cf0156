package sim

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// memberNames are the names of an object's members, sorted, and the members.
func memberNames(object string) ([]string, map[string]json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &members) != nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(members)), members
}

// formSchema is what a model looks at of a schema to be filled in.
type formSchema struct {
	Type       any                        `json:"type"` // a name or a list of names
	Properties map[string]json.RawMessage `json:"properties"`
	Items      json.RawMessage            `json:"items"`
	Enum       []any                      `json:"enum"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
}

// types are the types a schema allows; of none it allows text.
func (s formSchema) types() []string {
	switch t := s.Type.(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, one := range t {
			if name, ok := one.(string); ok {
				out = append(out, name)
			}
		}
		return out
	}
	if len(s.Properties) > 0 {
		return []string{"object"}
	}
	return []string{"string"}
}

// allows reports whether a value is among those a schema lists, if it lists any.
func (s formSchema) allows(v any) bool {
	text, ok := v.(string)
	return len(s.Enum) == 0 || ok && slices.Contains(s.Enum, any(text))
}

// synonyms are names of properties that ask for the same; of each the first is the
// name that an answer has.
var synonyms = [][]string{
	{"value", "count", "total", "number", "amount", "sum", "messages", "result"},
	{"answer", "message", "text", "summary", "explanation", "response", "output", "result", "note", "reason"},
	{"label", "category", "kind"},
	{"start", "start_date", "from", "date", "day"},
	{"end", "end_date", "to", "until"},
	{"name", "title", "best", "winner", "id"},
	{"items", "values", "list", "results", "rows"},
}

// fill answers in the form of a schema, from what an action says and knows.
func fill(schema json.RawMessage, a action) any {
	known := maps.Clone(a.said)
	if known == nil {
		known = map[string]any{}
	}
	known["answer"] = a.message
	return fillIn(schema, "", known, 0)
}

// maxNesting bounds how deep a schema is filled in.
const maxNesting = 8

func fillIn(raw json.RawMessage, name string, known map[string]any, depth int) any {
	var s formSchema
	if depth > maxNesting || len(raw) > 0 && json.Unmarshal(raw, &s) != nil {
		return nil
	}
	for _, one := range s.AnyOf {
		if v := fillIn(one, name, known, depth+1); v != nil {
			return v
		}
	}
	for _, kind := range s.types() {
		if kind == "object" && len(s.Properties) > 0 {
			out := obj{}
			for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
				out[property] = fillIn(s.Properties[property], property, known, depth+1)
			}
			return out
		}
		if v, ok := recalled(kind, name, known); ok && s.allows(v) {
			return v
		}
	}
	return blank(s, known)
}

// recalled finds what is known under a name or one that asks for the same, and is of
// a type.
func recalled(kind, name string, known map[string]any) (any, bool) {
	if v, ok := ofType(kind, known[name]); ok {
		return v, true
	}
	low := strings.ToLower(name)
	for _, same := range synonyms {
		if name != "" && !slices.ContainsFunc(same, func(s string) bool { return s == low || strings.HasSuffix(low, "_"+s) || strings.HasPrefix(low, s+"_") }) {
			continue
		}
		for _, s := range same {
			if v, ok := ofType(kind, known[s]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// ofType is a known value if it is of a type of JSON Schema, or says so when put so.
func ofType(kind string, v any) (any, bool) {
	ok := false
	switch v := v.(type) {
	case int64, int:
		ok = kind == "integer" || kind == "number"
	case float64:
		ok = kind == "number" || kind == "integer" && v == float64(int64(v))
	case json.Number:
		_, err := v.Int64()
		ok = kind == "number" || kind == "integer" && err == nil
	case string:
		ok = kind == "string"
	case bool:
		ok = kind == "boolean"
	case []any, []string:
		ok = kind == "array"
	case obj:
		ok = kind == "object"
	}
	return v, ok
}

// blank is a value of a schema about which nothing is known: null if that is
// allowed, else a text, or what says least. A number nobody knows is null, which does
// not fit: nothing is made up.
func blank(s formSchema, known map[string]any) any {
	types := s.types()
	switch {
	case slices.Contains(types, "null"):
		return nil
	case slices.Contains(types, "string") && len(s.Enum) > 0:
		return s.Enum[0]
	case slices.Contains(types, "string"):
		return known["answer"]
	case slices.Contains(types, "array"):
		return []any{}
	case slices.Contains(types, "boolean"):
		return false
	case slices.Contains(types, "object"):
		return obj{}
	}
	return nil
}
