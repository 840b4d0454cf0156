package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Subset is the part of JSON Schema that a provider enforces while sampling.
type Subset struct {
	// Keywords are the ones it takes.
	Keywords []string
	// AllRequired reports that every property must be required.
	AllRequired bool
	// Open reports that objects need not be closed.
	Open bool
}

// maxProblems bounds the reported problems of a schema.
const maxProblems = 5

// Problems says what in a schema is outside of the subset, each with its
// place; nil if nothing does. Objects must be closed by
// additionalProperties: false unless the subset is Open, and the schema itself
// must describe an object.
func (s Subset) Problems(schema json.RawMessage) []string {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return []string{"/: not JSON"}
	}
	w := walk{subset: s}
	if m, ok := root.(map[string]any); !ok || m["type"] != "object" {
		w.problem("", `type is not "object"`)
	}
	w.schema("", root)
	if more := len(w.problems) - maxProblems; more > 0 {
		return append(w.problems[:maxProblems:maxProblems], fmt.Sprintf("and %d more", more))
	}
	return w.problems
}

// RootProblems says what keeps a schema from describing a tool's arguments:
// providers take no choice at its top level. nil if nothing does.
func RootProblems(schema json.RawMessage) []string {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return []string{"/: not a JSON object"}
	}
	w := walk{}
	if root["type"] != "object" {
		w.problem("", `type is not "object"`)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "enum", "not"} {
		if _, ok := root[key]; ok {
			w.problem("", "keyword "+key)
		}
	}
	return w.problems
}

// walk collects the problems of one schema.
type walk struct {
	subset   Subset
	problems []string
}

func (w *walk) problem(at, what string) {
	at = cmp.Or(at, "/")
	w.problems = append(w.problems, fmt.Sprintf("%.120s: %s", at, what))
}

// schema looks at one schema and those inside it. true and false are schemas
// that no provider enforces.
func (w *walk) schema(at string, value any) {
	m, ok := value.(map[string]any)
	if !ok {
		w.problem(at, "not an object")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(w.subset.Keywords, key) {
			w.problem(at, fmt.Sprintf("keyword %.40s", key))
			continue
		}
		w.inside(at+"/"+key, key, m[key])
	}
	if isObject(m) {
		w.object(at, m)
	}
}

// inside checks the schemas in a keyword.
func (w *walk) inside(at, key string, value any) {
	switch key {
	case "properties", "$defs", "definitions":
		named, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			w.schema(at+"/"+name, named[name])
		}
	case "items":
		w.schema(at, value)
	case "anyOf", "allOf", "oneOf", "prefixItems":
		list, _ := value.([]any)
		for i, one := range list {
			w.schema(fmt.Sprintf("%s/%d", at, i), one)
		}
	}
}

// isObject reports whether a schema describes objects, perhaps among others.
func isObject(m map[string]any) bool {
	if list, ok := m["type"].([]any); ok {
		return slices.Contains(list, any("object"))
	}
	return m["type"] == "object"
}

// object checks the rules for objects.
func (w *walk) object(at string, m map[string]any) {
	if !w.subset.Open && m["additionalProperties"] != false {
		w.problem(at, "additionalProperties is not false")
	}
	if !w.subset.AllRequired {
		return
	}
	required, _ := m["required"].([]any)
	properties, _ := m["properties"].(map[string]any)
	var optional []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(required, any(name)) {
			optional = append(optional, name)
		}
	}
	if len(optional) > 0 {
		w.problem(at, fmt.Sprintf("not required: %.120s", strings.Join(optional, ", ")))
	}
}
