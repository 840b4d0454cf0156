package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

func TestValidate(t *testing.T) {
	s := newSet(t, spec("book", `{
		"type": "object",
		"properties": {
			"when": {"type": "string", "pattern": "^\\d{4}$"},
			"seats": {"type": "integer", "minimum": 1, "multipleOf": 2},
			"area": {"type": "string", "enum": ["left", "right"]},
			"guest": {"$ref": "#/$defs/guest"},
			"tags": {"type": "array", "items": {"type": "string", "minLength": 2}},
			"either": {"anyOf": [{"type": "string"}, {"type": "integer"}]}
		},
		"required": ["when", "area"],
		"additionalProperties": false,
		"$defs": {"guest": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "number"}}, "required": ["name"]}}
	}`), spec("now", `{"type": "object", "additionalProperties": false}`))
	for _, c := range []struct {
		name, args string
		want       []string
	}{
		{"valid", `{"when":"2026","seats":2.0,"area":"left","guest":{"name":"x","extra":1},"tags":["ab"],"either":7}`, nil},
		{"all missing", `{}`, []string{"args.when:required", "args.area:required"}},
		{"in the order of the schema, then as written", `{"z":1,"area":"up","seats":1,"a":1,"when":"26"}`,
			[]string{"args.when:pattern", "args.seats:multipleOf", "args.area:enum", "args.z:additional", "args.a:additional"}},
		{"two errors of one field", `{"when":"2026","area":"left","seats":-1}`, []string{"args.seats:minimum", "args.seats:multipleOf"}},
		{"a wrong type hides the rest", `{"when":"2026","area":null,"seats":"x"}`, []string{"args.seats:type", "args.area:type"}},
		{"pattern ends at the very end", `{"when":"2026\n","area":"left"}`, []string{"args.when:pattern"}},
		{"digits of other scripts", `{"when":"٢٠٢٦","area":"left"}`, []string{"args.when:pattern"}},
		{"nested", `{"when":"2026","area":"left","guest":{"age":"x"},"tags":["ab","c",3]}`,
			[]string{"args.guest.age:type", "args.guest.name:required", "args.tags.1:minLength", "args.tags.2:type"}},
		{"anyOf is one error", `{"when":"2026","area":"left","either":null}`, []string{"args.either:anyOf"}},
		{"key case", `{"When":"2026","area":"left"}`, []string{"args.when:required", "args.When:additional"}},
		{"duplicate key", `{"when":"2026","area":"left","area":"right"}`, []string{"args.area:duplicate_key"}},
		{"nested duplicate key", `{"when":"2026","area":"left","guest":{"name":"a","name":"b"}}`, []string{"args.guest.name:duplicate_key"}},
		{"unprintable name", `{"when":"2026","area":"left","a\n:b":1}`, []string{"args.a\uFFFD\uFFFDb:additional"}},
		{"not JSON", `{"when":`, []string{"args:not_json"}},
		{"array", `[]`, []string{"args:not_object"}},
		{"string", `"{}"`, []string{"args:not_object"}},
		{"too deep", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), []string{"args:too_deep"}},
		{"too large", `{"a":"` + strings.Repeat("x", 64<<10) + `"}`, []string{"args:too_large"}},
		{"number that would take gigabytes", `{"when":"2026","area":"left","seats":1e999999999}`, []string{"args:number_out_of_range"}},
		{"number beyond float64", `{"when":"2026","area":"left","seats":1e400}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 20 { // the library reports errors in random order
				require.Equal(t, c.want, s.Validate(tool.Call{Name: "book", Args: json.RawMessage(c.args)}))
			}
		})
	}
	for _, args := range []string{"", " ", "null", " null\n", "{}"} {
		require.Empty(t, s.Validate(tool.Call{Name: "now", Args: json.RawMessage(args)}), "%q", args)
	}
	require.Equal(t, []string{"name:unknown_tool"}, s.Validate(tool.Call{Name: "Now", Args: json.RawMessage(`{}`)}))
}

func TestValidateBoundsErrors(t *testing.T) {
	s := newSet(t, spec("now", `{"additionalProperties": false}`))
	var args strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&args, `,"k%d":1`, i)
	}
	got := s.Validate(tool.Call{Name: "now", Args: json.RawMessage("{" + args.String()[1:] + "}")})
	require.Len(t, got, 32)
	require.Equal(t, "args.k0:additional", got[0])
	require.Equal(t, "args.k31:additional", got[31])
}

// BenchmarkValidate checks a call that was validated before, and one that was not and
// finds the cache full. The floor of the first is two lookups by text; the floor of the
// second is the schema library alone on decoded arguments, about half of the time.
func BenchmarkValidate(b *testing.B) {
	s := newSet(b, spec("t", `{"properties":{"a":{"type":"string","pattern":"^\\d{4}$"},"b":{"enum":["x","y"]}},"required":["a"],"additionalProperties":false}`))
	call := func(year int) tool.Call {
		return tool.Call{Name: "t", Args: json.RawMessage(fmt.Sprintf(`{"a":"%d","b":"x"}`, year))}
	}
	for year := range 2000 {
		require.Empty(b, s.Validate(call(1000+year)))
	}
	for name, call := range map[string]tool.Call{"met": call(1000), "new": call(9999)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Validate(call)
			}
		})
	}
}
