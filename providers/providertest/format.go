package providertest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// formatSchema is inside of what every provider enforces; " <&> " must survive.
const formatSchema = `{"type":"object","properties":{"city":{"type":"string","description":"a <city> & more"}},"required":["city"],"additionalProperties":false}`

// formatTool is the name of the schema and of the tool.
const formatTool = "name_city"

// formatted is call with a format.
func formatted(mode providers.Mode) providers.Call {
	c := call
	c.Format = &providers.Format{Mode: mode, Name: formatTool, Schema: []byte(formatSchema)}
	return c
}

var knownModes = []providers.Mode{providers.JSONObject, providers.JSONSchema, providers.ForcedTool}

// modesOf returns the modes a model says it has.
func modesOf(t *testing.T, m providers.Model) []providers.Mode {
	t.Helper()
	if c, ok := m.(*closing); ok {
		m = c.Model
	}
	f, ok := m.(providers.Formatter)
	require.True(t, ok, "%T does not say which output modes it has", m)
	return f.Modes()
}

// refused demands that m refuses a call, and why.
func refused(t *testing.T, m providers.Model, c providers.Call) *fault.Error {
	t.Helper()
	_, err := m.Call(context.Background(), c)
	e := asError(t, err, fault.InvalidRequest)
	require.Zero(t, e.Status)
	return e
}

func testModes(t *testing.T, s Subject) {
	m := s.answering(t, whole)
	defer done(m)
	modes := modesOf(t, m)
	require.NotEmpty(t, modes)
	for _, mode := range knownModes {
		require.Equal(t, !slices.Contains(modes, mode), s.Skip[string(mode)] != "", "%s: a mode is either there or skipped with a reason", mode)
	}
	clear(modes)
	modes = modesOf(t, m)
	for _, mode := range modes {
		require.Contains(t, knownModes, mode, "the list is the caller's to keep")
	}
	for _, mode := range append([]providers.Mode{"", "yaml"}, knownModes...) {
		if slices.Contains(modes, mode) {
			continue
		}
		e := refused(t, m, formatted(mode))
		for _, has := range modes {
			require.Contains(t, e.Error(), string(has), "an error must name the modes there are")
		}
	}
}

// testRefusedUnsent: what cannot be sent is refused before anything is sent.
func testRefusedUnsent(t *testing.T, s Subject) {
	m := s.handling(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	defer done(m)
	require.Contains(t, refused(t, m, formatted("yaml")).Message, "yaml")
	for _, mode := range modesOf(t, m) {
		if mode == providers.JSONObject {
			continue
		}
		for name, f := range map[string]providers.Format{
			"no name":            {Schema: []byte(formatSchema)},
			"a name with spaces": {Name: "name city", Schema: []byte(formatSchema)},
			"a long name":        {Name: strings.Repeat("x", 65), Schema: []byte(formatSchema)},
			"no schema":          {Name: formatTool},
			"half a schema":      {Name: formatTool, Schema: []byte(formatSchema[:9])},
			"a schema of true":   {Name: formatTool, Schema: []byte("true")},
			"a schema of null":   {Name: formatTool, Schema: []byte("null")},
		} {
			f.Mode = mode
			c := call
			c.Format = &f
			require.Contains(t, refused(t, m, c).Message, string(mode), name)
		}
	}
}

// testFormatBytes: a format changes the request, the same way every time, and
// its absence leaves no trace.
func testFormatBytes(t *testing.T, s Subject) {
	bodies := make(chan string, 1)
	m := s.handling(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		bodies <- string(text)
		_, _ = io.WriteString(w, s.Encode(whole))
	})
	defer done(m)
	sent := func(c providers.Call) string {
		_, err := m.Call(context.Background(), c)
		require.NoError(t, err)
		return <-bodies
	}
	plain := sent(call)
	for _, trace := range []string{"format", "tool", "schema", "null"} {
		require.NotContains(t, strings.ToLower(plain), trace)
	}
	for _, mode := range modesOf(t, m) {
		body := sent(formatted(mode))
		require.NotEqual(t, plain, body)
		require.True(t, within(t, plain, body), "%s: what is common must stay as it is:\n%s\n%s", mode, plain, body)
		require.Equal(t, body, sent(formatted(mode)))
		if mode != providers.JSONObject {
			require.Contains(t, body, formatSchema)
		}
	}
	require.Equal(t, plain, sent(call))
}

// within reports whether all fields of a JSON object are in another one, those
// of objects in it as well.
func within(t *testing.T, small, large string) bool {
	t.Helper()
	var s, l any
	require.NoError(t, json.Unmarshal([]byte(small), &s))
	require.NoError(t, json.Unmarshal([]byte(large), &l))
	return covered(s, l)
}

func covered(small, large any) bool {
	s, ok := small.(map[string]any)
	l, ok2 := large.(map[string]any)
	if !ok || !ok2 {
		return reflect.DeepEqual(small, large)
	}
	for name, value := range s {
		if other, ok := l[name]; !ok || !covered(value, other) {
			return false
		}
	}
	return true
}

// testJSONText: with these modes the answer is the text, as ever.
func testJSONText(mode providers.Mode) func(*testing.T, Subject) {
	return func(t *testing.T, s Subject) {
		a := Answer{Text: " {\"city\": \"Zürich\",\n \"n\": 1.0e0} ", Finish: providers.FinishStop}
		m := s.answering(t, a)
		defer done(m)
		got, err := m.Call(context.Background(), formatted(mode))
		require.NoError(t, err)
		require.Equal(t, a.Text, got.Text)
		require.Equal(t, providers.FinishStop, got.Finish)
		require.Empty(t, got.Warnings)
	}
}

// testForcedTool: the arguments of the call are the text, byte for byte.
func testForcedTool(t *testing.T, s Subject) {
	args := `{"city": "Zürich \u003c\"x\"", "n": 1.0e0, "n": 2}`
	for _, finish := range []providers.Finish{providers.FinishStop, providers.FinishTools} {
		m := s.answering(t, Answer{Tool: formatTool, Args: []string{args}, Finish: finish})
		got, err := m.Call(context.Background(), formatted(providers.ForcedTool))
		done(m)
		require.NoError(t, err)
		require.Equal(t, args, got.Text)
		require.Empty(t, got.Warnings)
		if s.New != nil { // a script says what it says
			require.Equal(t, providers.FinishTools, got.Finish)
		}
	}
}

func testForcedToolCut(t *testing.T, s Subject) {
	m := s.answering(t, Answer{Tool: formatTool, Args: []string{`{}`}, Finish: providers.FinishLength})
	defer done(m)
	got, err := m.Call(context.Background(), formatted(providers.ForcedTool))
	require.NoError(t, err)
	require.Equal(t, `{}`, got.Text)
	require.Equal(t, providers.FinishLength, got.Finish)
}

// testForcedToolOdd: replies that do not follow the format lose nothing and
// say so.
func testForcedToolOdd(t *testing.T, s Subject) {
	for name, c := range map[string]struct {
		answer    Answer
		text, why string
	}{
		"no call":       {Answer{Text: "I would rather talk.", Finish: providers.FinishStop}, "I would rather talk.", "did not call " + formatTool},
		"several calls": {Answer{Tool: formatTool, Args: []string{`{"city":"a"}`, `{"city":"b"}`}, Finish: providers.FinishTools}, `{"city":"a"}`, "2 calls"},
		"another tool":  {Answer{Text: "Hm.", Tool: "other", Args: []string{`{"city":"a"}`}, Finish: providers.FinishTools}, "Hm.", `called "other" instead of ` + formatTool},
		"text besides":  {Answer{Text: "Here you are.", Tool: formatTool, Args: []string{`{"city":"a"}`}, Finish: providers.FinishTools}, `{"city":"a"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := s.serving(t, http.StatusOK, "application/json", s.Encode(c.answer))
			defer done(m)
			got, err := m.Call(context.Background(), formatted(providers.ForcedTool))
			require.NoError(t, err)
			require.Equal(t, c.text, got.Text)
			if c.why == "" {
				require.Empty(t, got.Warnings)
				return
			}
			require.Len(t, got.Warnings, 1)
			require.Contains(t, got.Warnings[0], c.why)
		})
	}
}
