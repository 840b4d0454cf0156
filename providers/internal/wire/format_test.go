package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestProblemsOfASchema(t *testing.T) {
	s := Subset{AllRequired: true, Keywords: []string{"type", "properties", "required", "additionalProperties", "items", "anyOf", "$defs", "$ref", "enum"}}
	closed := func(properties, required string) string {
		return `{"type":"object","properties":` + properties + `,"required":` + required + `,"additionalProperties":false}`
	}
	for _, c := range []struct {
		name, schema string
		want         []string
	}{
		{"fits", closed(`{"a":{"type":"string"},"required":{"type":["number","null"]}}`, `["a","required"]`), nil},
		{"no properties at all", `{"type":"object","additionalProperties":false}`, nil},
		{"names of properties and values of enum are no keywords", closed(`{"minLength":{"enum":[{"pattern":1}]}}`, `["minLength"]`), nil},
		{"optional", closed(`{"b":{"type":"string"},"a":{"type":"string"}}`, `[]`), []string{"/: not required: a, b"}},
		{"open", `{"type":"object","properties":{}}`, []string{"/: additionalProperties is not false"}},
		{"open to strings", `{"type":"object","additionalProperties":{"type":"string"}}`, []string{"/: additionalProperties is not false"}},
		{"keyword, deep", closed(`{"a":{"type":"array","items":{"type":"string","minLength":1}}}`, `["a"]`), []string{"/properties/a/items: keyword minLength"}},
		{"inside anyOf and $defs", `{"type":"object","additionalProperties":false,"$defs":{"x":{"type":"object"}},"anyOf":[{"$ref":"#/$defs/x"},{"not":{}}]}`, []string{"/$defs/x: additionalProperties is not false", "/anyOf/1: keyword not"}},
		{"object among others", closed(`{"a":{"type":["object","null"]}}`, `["a"]`), []string{"/properties/a: additionalProperties is not false"}},
		{"no object", `{"type":"array","items":{"type":"string"}}`, []string{`/: type is not "object"`}},
		{"anything", closed(`{"a":true}`, `["a"]`), []string{"/properties/a: not an object"}},
		{"odd forms", `{"type":"object","properties":[1],"required":7,"anyOf":{"x":1},"additionalProperties":false}`, nil},
		{"many", `{"type":"object","additionalProperties":false,"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`, []string{"/: keyword a", "/: keyword b", "/: keyword c", "/: keyword d", "/: keyword e", "and 2 more"}},
		{"not JSON", `{`, []string{"/: not JSON"}},
		{"null", `null`, []string{`/: type is not "object"`, "/: not an object"}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, s.Problems(json.RawMessage(c.schema))) })
	}
	s.AllRequired = false
	require.Empty(t, s.Problems(json.RawMessage(closed(`{"a":{"type":"string"}}`, `[]`))))
}

func TestRootProblems(t *testing.T) {
	for schema, want := range map[string][]string{
		`{"type":"object","properties":{"a":{"oneOf":[]}}}`: nil,
		`{"oneOf":[],"type":"object"}`:                      {"/: keyword oneOf"},
		`{}`:                                                {`/: type is not "object"`},
		`[]`:                                                {"/: not a JSON object"},
	} {
		require.Equal(t, want, RootProblems(json.RawMessage(schema)), schema)
	}
}

func TestForcedToolTellsAPartFromTheWhole(t *testing.T) {
	type arrived struct{ name, args string }
	calls := []arrived{{"other", "0"}, {"mine", "1"}, {"mine", "2"}}
	build := func(finish providers.Finish, calls []arrived) providers.Reply {
		b := Builder{Reply: providers.Reply{Finish: finish}}
		b.Text("said")
		for _, c := range calls {
			b.Call("", "", c.name).Args(c.args)
		}
		return b.build("mine")
	}
	for _, c := range []struct {
		name     string
		finish   providers.Finish
		calls    []arrived
		text     string
		want     providers.Finish
		warnings int
	}{
		{"first of its name", providers.FinishTools, calls, "1", providers.FinishTools, 1},
		{"alone", providers.FinishStop, calls[1:2], "1", providers.FinishTools, 0},
		{"cut", providers.FinishLength, calls[1:2], "1", providers.FinishLength, 0},
		{"unknown word", providers.FinishOther, calls[1:2], "1", providers.FinishOther, 0},
		{"refused", providers.FinishRefusal, nil, "said", providers.FinishRefusal, 1},
		{"another tool", providers.FinishTools, calls[:1], "said", providers.FinishTools, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := build(c.finish, c.calls)
			require.Equal(t, c.text, r.Text)
			require.Equal(t, c.want, r.Finish)
			require.Len(t, r.Warnings, c.warnings)
		})
	}
	r := build(providers.FinishStop, []arrived{{name: strings.Repeat("x", 1<<20)}})
	require.Less(t, len(r.Warnings[0]), 300)
}

func FuzzProblems(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"anyOf":[{"type":"string","minLength":1},true]}},"required":["a"],"additionalProperties":false}`))
	f.Add([]byte(`{"type":["object"],"items":{"$defs":{"x":[]}}}`))
	s := Subset{AllRequired: true, Keywords: []string{"type", "properties", "items", "anyOf", "$defs"}}
	f.Fuzz(func(t *testing.T, schema []byte) {
		problems := s.Problems(schema)
		require.LessOrEqual(t, len(problems), maxProblems+1)
		require.Equal(t, problems, s.Problems(schema), "told in the same order every time")
		for _, p := range append(problems, RootProblems(schema)...) {
			require.Less(t, len(p), 1200)
		}
	})
}

func TestAnOpenSubsetTakesOpenObjects(t *testing.T) {
	open := Subset{Keywords: []string{"type", "properties", "oneOf", "prefixItems", "additionalProperties"}, Open: true}
	require.Empty(t, open.Problems([]byte(`{"type":"object","properties":{"a":{"type":"object","additionalProperties":true}}}`)))
	require.Equal(t,
		[]string{"/properties/a/oneOf/0: keyword const", "/properties/b/prefixItems/1: keyword not"},
		open.Problems([]byte(`{"type":"object","properties":{"a":{"oneOf":[{"const":1}]},"b":{"prefixItems":[{},{"not":{}}]}}}`)))
}
