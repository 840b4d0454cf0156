package tool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/agent/tool"
)

func TestNewSetRefusesContradictions(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		want         []string // empty if the schema has no contradiction
	}{
		{"required and forbidden", `{"type":"object","properties":{"a":{}},"required":["a","b"],"additionalProperties":false}`,
			[]string{`/: required names "b", which is not in properties while additionalProperties is false`}},
		{"required without properties", `{"required":["b"],"additionalProperties":false}`,
			[]string{`/: required names "b", which is not in properties while additionalProperties is false`}},
		{"required and allowed by a pattern", `{"patternProperties":{"^b":{}},"required":["b"],"additionalProperties":false}`, nil},
		{"required and allowed by default", `{"properties":{"a":{}},"required":["b"]}`, nil},
		{"required and allowed by a schema", `{"required":["b"],"additionalProperties":{"type":"string"}}`, nil},
		{"required and false", `{"properties":{"a":false},"required":["a"]}`, []string{`/: required names "a", whose schema is false`}},
		{"false and optional", `{"properties":{"a":false}}`, nil},
		{"more required than allowed", `{"required":["a","b"],"maxProperties":1}`, []string{"/: required names 2 properties, maxProperties allows 1"}},
		{"empty enum", `{"properties":{"label":{"type":"string","enum":[]}}}`, []string{"/properties/label: enum is empty, so that no value is allowed"}},
		{"enum of another type", `{"properties":{"n":{"type":"integer","enum":["1","2"]}}}`, []string{"/properties/n: no value of enum satisfies the keywords beside it"}},
		{"enum against a pattern", `{"properties":{"n":{"enum":["a"],"pattern":"^b"}}}`, []string{"/properties/n: no value of enum satisfies the keywords beside it"}},
		{"enum that fits in part", `{"properties":{"n":{"type":"integer","enum":["1",2.0]}}}`, nil},
		{"const of another type", `{"properties":{"n":{"type":"integer","const":1.5}}}`, []string{"/properties/n: const does not satisfy the keywords beside it"}},
		{"const null", `{"properties":{"n":{"const":null}}}`, nil},
		{"lengths", `{"properties":{"s":{"type":"string","minLength":3,"maxLength":2}}}`, []string{"/properties/s: minLength 3 is more than maxLength 2"}},
		{"lengths that a number escapes", `{"properties":{"s":{"type":["string","number"],"minLength":3,"maxLength":2}}}`, nil},
		{"items", `{"properties":{"l":{"type":"array","minItems":3,"maxItems":2}}}`, []string{"/properties/l: minItems 3 is more than maxItems 2"}},
		{"numbers", `{"properties":{"n":{"type":"integer","minimum":2,"maximum":1.5}}}`, []string{"/properties/n: minimum leaves nothing below maximum"}},
		{"one number", `{"properties":{"n":{"type":"number","minimum":1.5,"maximum":1.50}}}`, nil},
		{"open at one end", `{"properties":{"n":{"type":"number","exclusiveMinimum":1,"maximum":1}}}`, []string{"/properties/n: exclusiveMinimum leaves nothing below maximum"}},
		{"below items and anyOf", `{"properties":{"l":{"items":{"anyOf":[{"type":"string"},{"enum":[]}]}}}}`, []string{"/properties/l/items/anyOf/1: enum is empty, so that no value is allowed"}},
		{"in a list of items", `{"properties":{"l":{"prefixItems":[{},{"enum":[]}]}}}`, []string{"/properties/l/prefixItems/1: enum is empty, so that no value is allowed"}},
		{"of other properties", `{"additionalProperties":{"enum":[]},"patternProperties":{"^x":{"enum":[]}}}`,
			[]string{"/additionalProperties: enum is empty, so that no value is allowed", "/patternProperties/^x: enum is empty, so that no value is allowed"}},
		{"behind a reference, once", `{"properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"$ref":"#/$defs/x~1y"}},"$defs":{"x/y":{"enum":[]},"unused":{"enum":[]}}}`,
			[]string{"/$defs/x/y: enum is empty, so that no value is allowed"}},
		{"a schema that contains itself", `{"properties":{"a":{"$ref":"#"}}}`, nil},
		{"an older draft", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"l":{"items":{"type":"integer","enum":["x"]}}}}`, []string{"/properties/l/items: no value of enum satisfies the keywords beside it"}},
		{"below not", `{"properties":{"a":{"not":{"enum":[]}}}}`, nil},
		{"below if", `{"if":{"required":["a"]},"then":{"enum":[]}}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := tool.NewSet([]tool.Spec{spec("t", c.schema)})
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.Nil(t, s)
			require.EqualError(t, err, `tool 0 ("t"): schema: contradicts itself: `+strings.Join(c.want, "; "))
			var found tool.Contradictions
			require.ErrorAs(t, err, &found)
			require.Len(t, found, len(c.want))
		})
	}
}

// TestContradictionsAreReal checks that a schema that accepts some arguments is not
// refused for a contradiction at its root. It finds accepted arguments by trying them
// against the same schema in a place that is not searched for contradictions.
func TestContradictionsAreReal(t *testing.T) {
	pool := []string{`{}`, `{"a":1}`, `{"b":1}`, `{"a":1,"b":1}`, `{"a":"x"}`, `{"a":"x","b":2}`, `{"ab":3}`}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			`"type":"object"`, `"properties":{"a":{"type":"integer"}}`, `"required":["a"]`, `"required":["a","b"]`, `"additionalProperties":false`,
			`"patternProperties":{"b$":{}}`, `"minProperties":2`, `"maxProperties":1`, `"enum":[{"a":1},{"b":1}]`, `"const":{"a":1}`, `"enum":[]`,
		}), 1, 5, func(s string) string { return strings.SplitN(s, ":", 2)[0] }).Draw(t, "keywords")
		schema := "{" + strings.Join(parts, ",") + "}"
		unsearched, err := tool.NewSet([]tool.Spec{spec("t", `{"not":{"not":`+schema+`}}`)})
		require.NoError(t, err)
		_, err = tool.NewSet([]tool.Spec{spec("t", schema)})
		for _, args := range pool {
			if len(unsearched.Validate(tool.Call{Name: "t", Args: json.RawMessage(args)})) == 0 {
				require.NoError(t, err, "%s allows %s", schema, args)
			}
		}
	})
}

// FuzzNewSet checks that any schema text is accepted or refused with a reason, always
// the same.
func FuzzNewSet(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"],"pattern":"^x$"}},"required":["a"],"additionalProperties":false}`,
		`{"enum":[],"const":1,"required":["a","b"],"maxProperties":1,"additionalProperties":false}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#"}}}`, `{"$id":"http://x/","$ref":"y"}`, `{"$dynamicRef":"#a","$dynamicAnchor":"a"}`,
		`{"properties":{"a":{"minimum":2,"maximum":1,"type":"number"},"b":{"items":[{"enum":[]}]}}}`, `{"type":"text"}`, `[]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		s, err := tool.NewSet([]tool.Spec{spec("t", schema)})
		require.Equal(t, err == nil, s != nil)
		_, again := tool.NewSet([]tool.Spec{spec("t", schema)})
		require.Equal(t, err == nil, again == nil)
		var found tool.Contradictions
		if errors.As(err, &found) {
			require.EqualError(t, again, err.Error())
		}
	})
}
