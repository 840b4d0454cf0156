package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFromText(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"B005 fence", "Here:\n```json\n{\"a\": 1}\n```\nDone.", `{"a": 1}`},
		{"B006 fence without language", "```\n{\"a\":1}\n```", `{"a":1}`},
		{"B007 between prose", `First {"a":{"b":"}"}} then {"c":2}`, `{"a":{"b":"}"}}`},
		{"B008 after thinking", "<think>{\"draft\":1}</think>\n```json\n{\"a\":1}\n```", `{"a":1}`},
		{"thinking", "<thinking>{\"draft\":1}</thinking>{\"a\":1}", `{"a":1}`},
		{"thinking without end", `{"a":1} <think>{"b":2}`, `{"a":1}`},
		{"only thoughts", `<think>{"b":2}`, ``},
		{"B009 nothing", "", ""},
		{"B009 no JSON", "I would search first.", ""},
		{"a placeholder before", `Use {name} like {"a":1}`, `{"a":1}`},
		{"an open brace before", `Use { like {"a":1}`, `{"a":1}`},
		{"the fence that holds one", "```\nsearch\n```\n```\n{\"a\":1}\n```", `{"a":1}`},
		{"fence in one line", "```{\"a\":1}```", `{"a":1}`},
		{"a list", `[1]`, ``},
		{"cut", `{"a":1`, ``},
		{"escapes", `{"a":"\"}"}`, `{"a":"\"}"}`},
		{"too many braces", strings.Repeat("{", 100) + `"a":1}`, ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := FromText(test.text)
			require.Equal(t, test.want, got)
			require.Equal(t, test.want != "", ok)
		})
	}
}

func TestWithoutThinking(t *testing.T) {
	require.Equal(t, "a  b", WithoutThinking("a <think>x\ny</think> b"))
	require.Equal(t, "a ", WithoutThinking("a <think>x"))
	require.Empty(t, WithoutThinking(""))
}

func TestFill(t *testing.T) {
	tests := []struct{ name, template, item, want, err string }{
		{"field", "Height of {name}, {year}.", `{"name":"Alder","year":1880}`, "Height of Alder, 1880.", ""},
		{"item", "Open {item}.", `"alder"`, "Open alder.", ""},
		{"item of JSON", "Open {item}.", `{"id": 1}`, `Open {"id":1}.`, ""},
		{"field named item", "{item}", `{"item":[1, 2]}`, "[1,2]", ""},
		{"null is a value", "{a}", `{"a":null}`, "null", ""},
		{"nothing to fill", "Open it.", `1`, "Open it.", ""},
		{"braces", "{{name}} {name}", `{"name":"x"}`, "{name} x", ""},
		{"what an item says is no template", "{a} {b}", `{"a":"{b}","b":"{{"}`, "{b} {{", ""},
		{"missing", "{name}", `{"title":"x"}`, "", "the item has no field {name}"},
		{"missing of text", "{name}", `"x"`, "", "the item has no field {name}"},
		{"open", "a {name", `{}`, "", `at "{name"`},
		{"closed", "a } b", `{}`, "", `at "} b"`},
		{"no name", `{"a":1}`, `{}`, "", "write {{ or }}"},
		{"empty name", `{}`, `{}`, "", "no placeholder"},
		{"no JSON", "a", `{`, "", "not JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Fill(test.template, json.RawMessage(test.item))
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

// FuzzFill checks that a template can be filled if and only if the item has its fields.
func FuzzFill(f *testing.F) {
	for _, s := range []string{"", "{a}", "{{a}}", "{a}{b}", "{", "}}", "{a b}", "{a{b}}", "{item}"} {
		f.Add(s, "{x}")
	}
	f.Fuzz(func(t *testing.T, template, value string) {
		names, err := placeholders(template)
		item := map[string]string{}
		for _, n := range names {
			item[n] = value
		}
		text, _ := json.Marshal(item)
		filled, fillErr := Fill(template, text)
		require.Equal(t, err == nil, fillErr == nil)
		if err == nil && len(names) == 0 && !strings.ContainsAny(template, "{}") {
			require.Equal(t, template, filled)
		}
		if err == nil && len(names) > 0 && names[0] != wholeItem {
			delete(item, names[0])
			text, _ = json.Marshal(item)
			_, fillErr = Fill(template, text)
			require.Error(t, fillErr)
		}
	})
}

func TestItems(t *testing.T) {
	tests := []struct {
		name, value string
		want        int
		ok          bool
	}{
		{"array", `[1,"a",{}]`, 3, true},
		{"empty", `[]`, 0, true},
		{"the only array of an object", `{"n":1,"found":[1,2]}`, 2, true},
		{"two arrays", `{"a":[],"b":[]}`, 0, false},
		{"no array", `{"a":1}`, 0, false},
		{"text", `"a"`, 0, false},
		{"no JSON", `[`, 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			items, ok := Items(json.RawMessage(test.value))
			require.Equal(t, test.ok, ok)
			require.Len(t, items, test.want)
		})
	}
}

// BenchmarkRead reads a plan of ten steps with schemas. The floor is one pass over
// the text (BenchmarkParseJSON in package tool) and compiling ten schemas.
func BenchmarkRead(b *testing.B) {
	var s []string
	for i := range 10 {
		s = append(s, `{"id":"s`+string(rune('a'+i))+`","instructions":"look it up","depends_on":["lights"],"output_schema":{"type":"object","properties":{"height":{"type":"number"}}}}`)
	}
	text, known := steps(s...), Known{Inputs: testKnown.Inputs}
	b.ReportAllocs()
	for b.Loop() {
		if _, faults := Read(text, known); len(faults) > 0 {
			b.Fatal(faults)
		}
	}
}
