package tool_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

// spec builds a tool from the text of its schema.
func spec(name, schema string) tool.Spec {
	return tool.Spec{Name: name, Schema: json.RawMessage(schema)}
}

func newSet(t testing.TB, specs ...tool.Spec) *tool.Set {
	t.Helper()
	s, err := tool.NewSet(specs)
	require.NoError(t, err)
	return s
}

func TestNewSetProblems(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.json")
	require.NoError(t, os.WriteFile(file, []byte(`{}`), 0o600))
	for _, c := range []struct{ name, schema, want string }{
		{"no schema", ``, "not JSON"},
		{"one bracket too many", `{"type":"object"}}`, "not JSON"},
		{"not an object", `true`, "not a JSON object"},
		{"unknown type", `{"type":"text"}`, "compile"},
		{"bad pattern", `{"properties":{"a":{"pattern":"("}}}`, "compile"},
		{"not RE2", `{"properties":{"a":{"pattern":"(?=x)"}}}`, "compile"},
		{"name used twice", `{"properties":{"a":{},"a":{}}}`, "name used twice: .properties.a"},
		{"file reference", `{"$ref":"file://` + file + `"}`, "not allowed"},
		{"network reference", `{"$ref":"https://example.invalid/s.json"}`, "not allowed"},
		{"too deep", strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70), "levels"},
		{"huge number", `{"maximum":1e99999999}`, "huge exponent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := tool.NewSet([]tool.Spec{spec("t", c.schema)})
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, `tool 0 ("t")`)
			require.Nil(t, s)
		})
	}
}

func TestNewSetReportsEveryProblem(t *testing.T) {
	_, err := tool.NewSet([]tool.Spec{spec("", `{}`), spec("a", `{}`), spec("a", `{}`), spec("b", `[]`), spec("c", `{`)})
	for _, want := range []string{"tool 0: empty name", `tool 2: name "a" used twice`, `tool 3 ("b")`, `tool 4 ("c")`} {
		require.ErrorContains(t, err, want)
	}
}

func TestSetLooksUpExactNames(t *testing.T) {
	given := []tool.Spec{spec("b", `{"properties":{"z":{},"a":{},"m":{}}}`), spec("a", `{}`)}
	s := newSet(t, given...)
	given[0].Name = "changed" // the set keeps its own copy
	require.Equal(t, "b", s.Specs()[0].Name)
	require.Equal(t, "a", s.Specs()[1].Name)
	require.True(t, s.Has("b"))
	for _, name := range []string{"B", "b ", "", "constructor", "__proto__", "changed"} {
		require.False(t, s.Has(name), name)
	}
	got, ok := s.Spec("b")
	require.True(t, ok)
	require.Equal(t, s.Specs()[0], got)
	_, ok = s.Spec("B")
	require.False(t, ok)
	require.Equal(t, []string{"z", "a", "m"}, s.Fields("b"))
	require.Nil(t, s.Fields("a"))
	require.Nil(t, s.Fields("absent"))
}

func TestNilSetOffersNothing(t *testing.T) {
	var s *tool.Set
	require.False(t, s.Has("a"))
	require.Empty(t, s.Specs())
	require.Equal(t, []string{"name:unknown_tool"}, s.Validate(tool.Call{Name: "a"}))
}

func TestDerivedIsWrittenOnce(t *testing.T) {
	s := newSet(t, spec("a", `{}`), spec("b", `{}`))
	written := 0
	names := func(specs []tool.Spec) (string, error) {
		written++
		out := ""
		for _, one := range specs {
			out += one.Name
		}
		return out, nil
	}
	failing := func([]tool.Spec) (string, error) { written++; return "part", errors.New("no") }
	for range 2 {
		text, err := s.Derived("names", names)
		require.NoError(t, err)
		require.Equal(t, "ab", text)
	}
	require.Equal(t, 1, written)
	for range 2 {
		_, err := s.Derived("other", failing)
		require.EqualError(t, err, "no")
	}
	require.Equal(t, 3, written, "an error is not kept")
	var none *tool.Set
	for range 2 {
		text, err := none.Derived("names", names)
		require.NoError(t, err)
		require.Empty(t, text)
	}
	require.Equal(t, 5, written)
}
