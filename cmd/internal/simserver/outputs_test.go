package simserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		output string
		want   output
	}{
		{`[{"a.b": {"x": 5.0}}, {"c": "{\"y\": 1}"}]`, output{calls: []call{{"a.b", `{"x": 5.0}`}, {"c", `{"y": 1}`}}}},
		{`"[{\"a\": {}}]"`, output{calls: []call{{"a", "{}"}}}},
		{`[{"name": "f", "arguments": {"x": 1}}]`, output{calls: []call{{"f", `{"x": 1}`}}}},
		{`{"f": {}}`, output{calls: []call{{"f", "{}"}}}},
		{`[{"f": "not JSON"}]`, output{calls: []call{{"f", "not JSON"}}}},
		{`null`, output{}}, {`[]`, output{}}, {`[{}]`, output{}}, {`[ { } ]`, output{}}, {`""`, output{}},
		{`"text"`, output{text: "text"}},
		{`"[f(x=1)]"`, output{text: "[f(x=1)]"}},
		{`[{"f": {}, "g": {}}]`, output{text: `[{"f": {}, "g": {}}]`}},
		{`[{"f": 1}]`, output{text: `[{"f": 1}]`}},
		{`5`, output{text: "5"}},
	} {
		got, err := Read("f", []byte(`{"id": "a", "more": 1, "output": `+c.output+`}`))
		require.NoError(t, err)
		require.Equal(t, c.want, got["a"], c.output)
	}
	_, err := Read("f", []byte("{\"id\": \"a\", \"output\": 1}\n\n{\"id\": \"a\", \"output\": 1}\n{\"id\": \"b\"}\n{"))
	require.ErrorContains(t, err, `f:3: id "a" has an output already, on line 1`)
	require.ErrorContains(t, err, "f:4: must have an id and an output")
	require.ErrorContains(t, err, "f:5: is not a JSON object with id and output")
	_, err = Read("f", nil)
	require.ErrorContains(t, err, "f: the file is empty")
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id": "a", "output": [{"f": {"x": 1}}]}`))
	f.Add([]byte("{\"id\": \"a\", \"output\": \"[{}]\"}\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		outputs, err := Read("f", text)
		for _, o := range outputs {
			require.True(t, o.text == "" || o.calls == nil)
		}
		_ = err
	})
}

// TestPlayer plays outputs of questions, of which two differ only in their functions.
func TestPlayer(t *testing.T) {
	const f, g = `{"name": "a.f", "parameters": {"type": "dict", "properties": {"x": {"type": "float"}}}}`, `{"name": "g", "parameters": {"type": "dict"}}`
	suite := &goldens.Suite{Name: "s", Tasks: []goldens.Task{
		{ID: "one", Request: "q", Functions: json.RawMessage(f)}, {ID: "two", Request: "q", Functions: json.RawMessage(g)},
		{ID: "three", Request: "r", Functions: json.RawMessage(g)}, {ID: "four", Request: "r", Functions: json.RawMessage(g)},
		{ID: "five", Request: "z", Functions: json.RawMessage(g)},
	}}
	outputs, err := Read("o", []byte(`{"id": "one", "output": [{"a.f": {"x": 5.0}}]}
{"id": "two", "output": "no"}
{"id": "three", "output": "a"}
{"id": "four", "output": "b"}`))
	require.NoError(t, err)
	p, err := NewPlayer(suite, outputs)
	require.NoError(t, err)
	require.Equal(t, "outputs of 4 of 5 tasks", p.String())
	ask := func(question, functions, more string) (int, string) {
		body := `{"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": ` + question + `}], "tools": [{"type": "function", "function": ` + functions + `}]` + more + `}`
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
	const offeredF, offeredG = `{"name": "a_f", "parameters": {"properties": {"x": {"type": "number"}}, "type": "object"}}`, `{"name": "g", "parameters": {"type": "object"}}`
	for _, c := range []struct {
		question, functions, more string
		status                    int
		want                      string
	}{
		{`"q"`, offeredF, "", 200, `"function":{"arguments":"{\"x\": 5.0}","name":"a_f"}`},
		{`[{"type": "text", "text": "q"}]`, offeredG, "", 200, `"content":"no"`},
		{`"q"`, offeredG, `, "stream": true`, 200, "data: [DONE]"},
		{`"other"`, offeredG, "", 404, "no task of the suite has this question with these functions"},
		{`"q"`, `{"name": "h"}`, "", 404, "no task of the suite has this question with these functions"},
		{`"z"`, offeredG, "", 404, "the file has no output of task five"},
		{`"r"`, offeredG, "", 404, "tasks three, four ask the same with the same functions, and their outputs differ"},
		{`"q"`, `[`, "", 400, "the request cannot be read"},
	} {
		status, body := ask(c.question, c.functions, c.more)
		require.Equal(t, c.status, status, body)
		require.Contains(t, body, c.want)
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/models", nil))
	require.Equal(t, 404, w.Code)
	_, err = NewPlayer(suite, map[string]output{"six": {}})
	require.ErrorContains(t, err, `1 outputs are of ids that are not tasks of suite s, such as "six"`)
}
