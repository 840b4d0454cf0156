package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

func TestTighten(t *testing.T) {
	const s = `{"type":"string"}`
	tests := []struct{ name, in, want string }{
		{"B010 object", `{"type":"object","properties":{"summary":` + s + `}}`, `{"type":"object","properties":{"summary":` + s + `},"additionalProperties":false,"required":["summary"]}`},
		{"without a type", `{"properties":{"a":{}}}`, `{"properties":{"a":{}},"additionalProperties":false,"required":["a"]}`},
		{"required stays", `{"type":"object","properties":{"a":{},"b":{}},"required":["b"]}`, `{"type":"object","properties":{"a":{},"b":{}},"required":["b"],"additionalProperties":false}`},
		{"what is said of others stays", `{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"number"}}`, `{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"number"},"required":["a"]}`},
		{"an open object stays open", `{"type":"object"}`, `{"type":"object"}`},
		{"array", `{"type":"array"}`, `{"type":"array","items":` + s + `}`},
		{"array or null", `{"type":["array","null"]}`, `{"type":["array","null"],"items":` + s + `}`},
		{"items", `{"type":"array","items":{"properties":{"a":{"type":"array"}}}}`, `{"type":"array","items":{"properties":{"a":{"type":"array","items":` + s + `}},"additionalProperties":false,"required":["a"]}}`},
		{"anyOf", `{"anyOf":[{"properties":{"a":{}}},{"type":"array"}]}`, `{"anyOf":[{"properties":{"a":{}},"additionalProperties":false,"required":["a"]},{"type":"array","items":` + s + `}]}`},
		{"oneOf", `{"oneOf":[{"properties":{"a":{}}}]}`, `{"oneOf":[{"properties":{"a":{}},"additionalProperties":false,"required":["a"]}]}`},
		{"allOf of one", `{"allOf":[{"properties":{"a":{}}}]}`, `{"allOf":[{"properties":{"a":{}},"additionalProperties":false,"required":["a"]}]}`},
		{"allOf of two, each of which must take the other", `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{"type":"array"}}}]}`, `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{"type":"array","items":` + s + `}}}]}`},
		{"alternatives beside properties", `{"properties":{"k":{}},"anyOf":[{"properties":{"a":{}}},{"required":["k"]}]}`, `{"properties":{"k":{}},"anyOf":[{"properties":{"a":{}}},{"required":["k"]}]}`},
		{"white space, and < as it is", "{ \"type\" : \"string\",\n\"description\":\"a < b\" }", `{"type":"string","description":"a < b"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Tighten(test.in)
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
			again, err := Tighten(string(got))
			require.NoError(t, err)
			require.Equal(t, test.want, string(again), "tight is tight")
		})
	}
	for in, want := range map[string]string{
		"type: object": "not JSON", "[]": "not a JSON object", `{"type":"x"}`: "not a usable JSON Schema",
		`{"a":"` + strings.Repeat("x", 70_000) + `"}`: "larger than", `{"type":"string","type":"null"}`: "name used twice",
	} {
		_, err := Tighten(in)
		require.ErrorContains(t, err, want)
	}
}

// FuzzTighten checks that a tightened schema compiles, is not changed by tightening it
// again, and accepts only what the original accepts.
func FuzzTighten(f *testing.F) {
	for _, s := range []string{`{"type":"object","properties":{"a":{"type":"array"}}}`, `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}`, `{"anyOf":[{}]}`, `{"items":{"$ref":"#"}}`} {
		f.Add(s, `{"a":[1]}`)
		f.Add(s, `null`)
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		tight, err := Tighten(schema)
		if err != nil {
			return
		}
		again, err := Tighten(string(tight))
		require.NoError(t, err)
		require.Equal(t, string(tight), string(again))
		after, err := NewResult(tight)
		require.NoError(t, err)
		before, err := NewResult(json.RawMessage(schema))
		if _, _, ok := tool.ParseJSON(value); !ok || err != nil || len(value) > 1000 || string(tight) == "{}" {
			return
		}
		if strings.Contains(schema, "not") || strings.Contains(schema, "if") || strings.Contains(schema, "oneOf") || strings.Contains(schema, "contains") || strings.Contains(schema, "#") || strings.Contains(schema, "\\") {
			return // there a tighter part can accept more in total
		}
		if len(after.Check(json.RawMessage(value))) == 0 {
			require.Empty(t, before.Check(json.RawMessage(value)))
		}
	})
}

func TestResult(t *testing.T) {
	r, err := NewResult(json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"},"next":{"$ref":"#"}},"required":["n"]}`))
	require.NoError(t, err)
	require.Equal(t, Finish, r.Spec.Name)
	require.JSONEq(t, `{"type":"object","properties":{"result":{"type":"object","properties":{"n":{"type":"number"},"next":{"$ref":"#/properties/result"}},"required":["n"]}},"required":["result"],"additionalProperties":false}`, string(r.Spec.Schema))
	require.Empty(t, r.Check(json.RawMessage(`{"n":1,"next":{"n":2}}`)))
	require.Equal(t, []string{"result.next.n:required"}, r.Check(json.RawMessage(`{"n":1,"next":{}}`)))
	require.Equal(t, []string{"result:type"}, r.Check(json.RawMessage(`null`)))
	require.Equal(t, []string{"args:not_json"}, r.Check(json.RawMessage(`{`)))

	r, err = NewResult(json.RawMessage(`{"type":["number","null"]}`))
	require.NoError(t, err)
	require.Empty(t, r.Check(json.RawMessage(`null`)), "null can be a result")

	for _, none := range []string{"", "{}", " { } "} {
		r, err = NewResult(json.RawMessage(none))
		require.NoError(t, err)
		require.JSONEq(t, `{"type":"object","properties":{"result":{"type":"object","additionalProperties":true}},"required":["result"],"additionalProperties":false}`, string(r.Spec.Schema))
		require.Empty(t, r.Check(json.RawMessage(`{"any":["thing"]}`)))
		require.NotEmpty(t, r.Check(json.RawMessage(`"text"`)))
	}
	_, err = NewResult(json.RawMessage(`{`))
	require.EqualError(t, err, "not JSON")
}
