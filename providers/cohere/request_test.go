package cohere

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestRequestBodies(t *testing.T) {
	temperature, seed, negative := 0.0, int64(7), int64(-1)
	user := []providers.Message{{Role: "user", Text: "hi"}}
	const begin = `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":false`
	const schema = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`
	two := []providers.Tool{{Name: "f", Description: "d", Schema: []byte(schema)}, {Name: "g"}}
	const f, g = `{"type":"function","function":{"name":"f","description":"d","parameters":` + schema + `}}`, `{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}`
	choose := func(kind providers.ChoiceKind, name string) providers.Call {
		return providers.Call{Model: "m", Messages: user, Tools: two, Choice: providers.Choice{Kind: kind, Name: name}}
	}
	serial := choose("", "")
	serial.Serial = true
	for _, c := range []struct {
		name     string
		call     providers.Call
		want     string
		warnings []string
	}{
		{"only a model", providers.Call{Model: "m"}, `{"model":"m","messages":[],"stream":false}`, nil},
		{
			"settings", providers.Call{Model: "m", System: "sys", Messages: user, MaxTokens: 9, Temperature: &temperature, Seed: &seed, Stop: []string{"END"}, Stream: true},
			`{"model":"m","messages":[{"role":"system","content":"sys"},{"role":"user","content":"hi"}],"stream":true,"max_tokens":9,"temperature":0,"seed":7,"stop_sequences":["END"]}`, nil,
		},
		{"a negative seed", providers.Call{Model: "m", Messages: user, Seed: &negative}, begin + `}`, []string{"seed: a negative one is not taken, not sent"}},
		{"any object", providers.Call{Model: "m", Messages: user, Format: &providers.Format{Mode: providers.JSONObject}}, begin + `,"response_format":{"type":"json_object"}}`, nil},
		{"schema", providers.Call{Model: "m", Messages: user, Format: &providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(schema)}}, begin + `,"response_format":{"type":"json_object","json_schema":` + schema + `}}`, nil},
		{
			"schema outside of the subset", providers.Call{Model: "m", Messages: user, Format: &providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(`{"type":"object","properties":{"a":{"minimum":1}}}`)}},
			begin + `,"response_format":{"type":"json_object","json_schema":{"type":"object","properties":{"a":{"minimum":1}}}}}`, []string{"json_schema: the provider may refuse the schema: /properties/a: keyword minimum"},
		},
		{"forced tool", providers.Call{Model: "m", Messages: user, Format: &providers.Format{Mode: providers.ForcedTool, Name: "n", Schema: []byte(schema)}}, begin + `,"tools":[{"type":"function","function":{"name":"n","parameters":` + schema + `}}],"tool_choice":"REQUIRED"}`, nil},
		{"tools", choose("", ""), begin + `,"tools":[` + f + `,` + g + `]}`, nil},
		{"some tool", choose(providers.ChoiceAny, ""), begin + `,"tools":[` + f + `,` + g + `],"tool_choice":"REQUIRED"}`, nil},
		{"no tool", choose(providers.ChoiceNone, ""), begin + `,"tools":[` + f + `,` + g + `],"tool_choice":"NONE"}`, nil},
		{"this tool", choose(providers.ChoiceNamed, "g"), begin + `,"tools":[` + g + `],"tool_choice":"REQUIRED"}`, []string{"tool choice: the Chat API cannot name a tool, g is the only one sent"}},
		{"one at a time", serial, begin + `,"tools":[` + f + `,` + g + `]}`, []string{"serial tool calls: not part of the Chat API, not sent"}},
		{"a tool with a choice at its top", providers.Call{Model: "m", Messages: user, Tools: []providers.Tool{{Name: "f", Schema: []byte(`{"type":"object","oneOf":[]}`)}}}, begin + `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","oneOf":[]}}}]}`, []string{"tool f: the provider may refuse the schema: /: keyword oneOf"}},
		{
			"pictures", providers.Call{Model: "m", Messages: []providers.Message{{Role: "user", Text: "what", Images: []providers.Image{{MediaType: "image/jpeg", Data: []byte("JPG")}, {URL: "http://host/a.png"}}}}},
			`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,SlBH"}},{"type":"image_url","image_url":{"url":"http://host/a.png"}},{"type":"text","text":"what"}]}],"stream":false}`, nil,
		},
		{
			"the tool loop", providers.Call{Model: "m", Messages: []providers.Message{
				{Role: "assistant", Calls: []providers.ToolCall{{ID: "c1", Name: "f", Args: `{"a": 1}`}, {ID: "c2", Name: "g"}}, Continuation: newContinuation(continued{ToolPlan: "I will"})},
				{Role: "tool", CallID: "c1", Name: "f", Text: "20"}, {Role: "tool", CallID: "c2", Name: "g", Text: "21"},
			}},
			`{"model":"m","messages":[{"role":"assistant","tool_plan":"I will","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},` +
				`{"role":"tool","content":"20","tool_call_id":"c1"},{"role":"tool","content":"21","tool_call_id":"c2"}],"stream":false}`, nil,
		},
		{
			"thinking goes back", providers.Call{Model: "m", Messages: []providers.Message{
				{Role: "assistant", Text: "a", Calls: []providers.ToolCall{{ID: "c", Name: "f"}}, Continuation: newContinuation(continued{Thinking: "hm"})},
				{Role: "assistant", Calls: []providers.ToolCall{{ID: "c", Name: "f"}}, Continuation: newContinuation(continued{Thinking: "hm"})},
				{Role: "assistant", Text: "b", Continuation: []byte(`{"ollama":{"thinking":"x"}}`)},
			}},
			`{"model":"m","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
				`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"assistant","content":"b"}],"stream":false}`, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, warnings, problem := newRequest(c.call)
			require.Empty(t, problem)
			text, err := json.Marshal(body)
			require.NoError(t, err)
			require.Equal(t, c.want, string(text))
			require.Equal(t, c.warnings, warnings)
		})
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	_, _, problem := newRequest(providers.Call{Tools: []providers.Tool{{Name: "f"}}, Format: &providers.Format{Mode: providers.JSONObject}})
	require.Equal(t, "output mode json_object: the Chat API does not take it together with tools", problem)
	_, _, problem = newRequest(providers.Call{Messages: []providers.Message{{Role: "tool", Images: []providers.Image{{URL: "u"}}}}})
	require.Equal(t, "message 1: images are taken from users only", problem)
}

func TestForeignContinuationsAreLeftOut(t *testing.T) {
	for _, raw := range []string{``, `null`, `{}`, `[]`, `"x"`, `{"cohere":null}`, `{"cohere":1}`, `{"tool_plan":"x"}`, `{`} {
		require.Empty(t, readContinuation([]byte(raw)), raw)
	}
	both := continued{ToolPlan: "p", Thinking: "t"}
	require.Equal(t, both, readContinuation(newContinuation(both)))
	require.Nil(t, newContinuation(continued{}))
}
