package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestLeaves(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{`{"a": 1, "b": {"c": 2.5, "d": "7", "e": true, "f": null}, "g": -3e2}`, "a=1 b.c=2.5 g=-3e2"},
		{`{"list": [{"n": 1}, {"n": 2, "deep": [3, [4]]}], "after": 5}`, "list[].n=1 list[].n=2 list[].deep[]=3 list[].deep[][]=4 after=5"},
		{`[1, {"a": 2}]`, "[]=1 [].a=2"},
		{`7`, "=7"},
		{`{"a": 1, "b": {"c": 2`, "a=1 b.c=2"},
		{`{"a": 1, "a": 2}`, "a=1 a=2"},
		{`{"a": 1 x`, "a=1"},
		{"{\"a\\n\\u001b[31m\xff\": {\"b\\\"\": 1}}", "a\ufffd\ufffd[31m\ufffd.b\"=1"},
		{``, ""},
	} {
		var got []string
		Leaves([]byte(c.raw), func(path string, number []byte) { got = append(got, fmt.Sprintf("%s=%s", path, number)) })
		require.Equal(t, c.want, strings.Join(got, " "), c.raw)
	}
}

func FuzzLeaves(f *testing.F) {
	f.Add([]byte(`{"a": 1, "b\u002e": {"c": [2.5, {"d": -3e2}]}, "g": "7"}`))
	f.Add([]byte(`{"a": }]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		Leaves(raw, func(path string, number []byte) {
			require.LessOrEqual(t, len(path), maxPath)
			require.True(t, json.Valid(number))
		})
	})
}

// TestLeavesUnderALongName would take minutes if each path were stored with its full
// length.
func TestLeavesUnderALongName(t *testing.T) {
	raw := `{"` + strings.Repeat("n", 1<<20) + `":[` + strings.Repeat("1,", 200_000) + `1]}`
	n := 0
	Leaves([]byte(raw), func(path string, _ []byte) {
		n++
		require.Len(t, path, maxPath)
	})
	require.Equal(t, 200_001, n)
}

func TestNumbersThatNoFieldNames(t *testing.T) {
	fields := NewFields(
		UsageField{Path: "in", Column: "tokens_in"},
		UsageField{Path: "times.*"},
		UsageField{Path: "*.list[].n"},
	)
	for _, c := range []struct {
		raw  string
		want []string
	}{
		{`{"in": 3, "times": {"a": 1, "b": 2}, "x": {"list": [{"n": 1}]}}`, nil},
		{`{"in": 3, "new": 0, "deep": {"zero": 0.0, "none": -0e5}}`, nil},
		{`{"in": 3, "new": 4, "deep": {"also": 0.5}}`, []string{"new: not understood", "deep.also: not understood"}},
		{`{"times": 1, "a": {"b": {"list": [{"n": 1}]}}}`, []string{"times: not understood", "a.b.list[].n: not understood"}},
		{`{"list": [1, 2, 3]}`, []string{"list[]: not understood"}},
	} {
		var b Builder
		b.Usage([]byte(c.raw), fields, func(json.RawMessage) (providers.Usage, bool, error) { return providers.Usage{}, true, nil })
		require.Equal(t, c.want, b.build("").Usage.NotUnderstood, c.raw)
	}
	many := `{"` + strings.Repeat("long", 1000) + `": 1`
	for i := range 10_000 {
		many += fmt.Sprintf(`, "n%d": 1`, i)
	}
	var u providers.Usage
	account(&u, []byte(many+"}"), fields)
	require.Len(t, u.NotUnderstood, 16)
	require.Less(t, len(u.NotUnderstood[0]), 200)
}

func TestServerTools(t *testing.T) {
	reading := func(u providers.Usage) func(json.RawMessage) (providers.Usage, bool, error) {
		return func(json.RawMessage) (providers.Usage, bool, error) { return u, true, nil }
	}
	searches := func(n int64) map[string]int64 {
		return map[string]int64{"web_search": n}
	}
	var b Builder
	b.ServerTool("web_search")
	b.ServerTool("web_search")
	require.Equal(t, searches(2), b.build("").Usage.ServerTools, "of a reply without a usage")
	b.Usage([]byte(`{"in":1}`), nil, reading(providers.Usage{Input: 1, ServerTools: searches(3)}))
	require.Equal(t, searches(3), b.build("").Usage.ServerTools, "as the usage reports")
	b.Usage([]byte(`{"in":1,"odd":2}`), NewFields(), reading(providers.Usage{Tier: "flex", Other: &providers.Usage{Input: 7}}))
	u := b.build("").Usage
	require.Equal(t, &providers.Usage{Reported: true, Input: 7, Tier: "flex", ServerTools: searches(2), NotUnderstood: []string{"in: not understood", "odd: not understood"}}, u.Other,
		"a second reading of the counts")

	uses := map[string]int64{strings.Repeat("long", 100): 1, "": 3, "a\nb": 4}
	for i := range 10_000 {
		uses[fmt.Sprintf("tool%05d", i)] = 2
	}
	u = providers.Usage{}
	AddServerTools(&u, uses)
	require.Len(t, u.ServerTools, 14)
	require.EqualValues(t, 2*(10_000-13)+8, u.ServerTools["other"])
}
