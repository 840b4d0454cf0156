package openai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestFormatsAreSent(t *testing.T) {
	const (
		fits  = `{"type":"object","properties":{"a":{"type":"number","minimum":0}},"required":["a"],"additionalProperties":false}`
		loose = `{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`
		begin = `{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":9`
	)
	for _, c := range []struct {
		name    string
		format  providers.Format
		want    string
		warning string
	}{
		{"object", providers.Format{Mode: providers.JSONObject, Name: "unused", Schema: []byte(loose)}, `,"response_format":{"type":"json_object"}}`, ""},
		{"strict schema", providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(fits)}, `,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":` + fits + `,"strict":true}}}`, ""},
		{
			"schema outside of the strict subset", providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(loose)}, `,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":` + loose + `,"strict":false}}}`,
			"json_schema: sent with strict: false, as the schema is outside of what strict: true takes: /properties/a: keyword minLength; /: additionalProperties is not false; /: not required: a",
		},
		{"tool", providers.Format{Mode: providers.ForcedTool, Name: "n", Schema: []byte(loose)}, `,"tools":[{"type":"function","function":{"name":"n","parameters":` + loose + `}}],"tool_choice":{"type":"function","function":{"name":"n"}}}`, ""},
		{"tool with a choice at the top", providers.Format{Mode: providers.ForcedTool, Name: "n", Schema: []byte(`{"anyOf":[]}`)}, `,"tools":[{"type":"function","function":{"name":"n","parameters":{"anyOf":[]}}}],"tool_choice":{"type":"function","function":{"name":"n"}}}`, `forced_tool: the provider may refuse the schema: /: type is not "object"; /: keyword anyOf`},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, warnings := newRequest(Dialect{Name: "openai"}, providers.Call{Model: "m", Messages: []providers.Message{{Role: "user", Text: "hi"}}, MaxTokens: 9, Format: &c.format})
			text, err := json.Marshal(body)
			require.NoError(t, err)
			require.Equal(t, begin+c.want, string(text))
			if c.warning == "" {
				require.Empty(t, warnings)
				return
			}
			require.Equal(t, []string{c.warning}, warnings)
		})
	}
}

// TestForcedCallForms has arguments in the forms in which servers send them.
func TestForcedCallForms(t *testing.T) {
	for _, c := range []struct {
		name, message, finish string
		text                  string
		want                  providers.Finish
		warnings              int
	}{
		{"text", `{"content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{\"a\": 1.0}"}}]}`, "stop", `{"a": 1.0}`, providers.FinishTools, 0},
		{"object", `{"tool_calls":[{"function":{"name":"n","arguments":{"a": 1.0}}}]}`, "tool_calls", `{"a": 1.0}`, providers.FinishTools, 0},
		{"cut", `{"tool_calls":[{"function":{"name":"n","arguments":"{\"a\": 1"}}]}`, "length", `{"a": 1`, providers.FinishLength, 0},
		{"null", `{"content":"hm","tool_calls":[{"function":{"name":"n","arguments":null}}]}`, "tool_calls", ``, providers.FinishTools, 0},
		{"no arguments", `{"tool_calls":[{"function":{"name":"n"}}]}`, "tool_calls", ``, providers.FinishTools, 0},
		{"null calls", `{"content":"hm","tool_calls":null}`, "stop", `hm`, providers.FinishStop, 1},
		{"calls of another form", `{"content":"hm","tool_calls":{"n":1}}`, "stop", `hm`, providers.FinishStop, 1},
		{"refusal", `{"content":null,"refusal":"no"}`, "stop", ``, providers.FinishRefusal, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(`{"choices":[{"finish_reason":"`+c.finish+`","message":`+c.message+`}]}`), "n")
			require.NoError(t, err)
			require.Nil(t, fault)
			require.Equal(t, c.text, got.Text)
			require.Equal(t, c.want, got.Finish)
			require.Equal(t, c.finish, got.FinishRaw)
			require.Len(t, got.Warnings, c.warnings)
		})
	}
}

func FuzzForced(f *testing.F) {
	f.Add([]byte(`[{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}},{"function":{"name":"n","arguments":{}}}]`))
	f.Add([]byte(`[{"function":{"name":"n","arguments":"\ud800"}}]`))
	f.Fuzz(func(t *testing.T, calls []byte) {
		if !json.Valid(calls) {
			return
		}
		got, fault, err := decode([]byte(`{"choices":[{"finish_reason":"tool_calls","message":{"content":"said","tool_calls":`+string(calls)+`}}]}`), "n")
		require.NoError(t, err)
		require.Nil(t, fault)
		require.LessOrEqual(t, len(got.Warnings), 2)
		require.True(t, got.Text == "said" || len(got.Calls) > 0)
	})
}
