package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

func TestRequestBodies(t *testing.T) {
	temperature, seed := 0.0, int64(7)
	user := []providers.Message{{Role: "user", Text: "hi"}}
	weather := providers.Tool{Name: "get_weather", Description: "d", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"}}}`)}
	const offered = `,"tools":[{"type":"function","function":{"name":"get_weather","description":"d","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`
	const begin = `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":false`
	for _, c := range []struct {
		name     string
		call     providers.Call
		want     string
		warnings []string
	}{
		{"only a model", providers.Call{Model: "m"}, `{"model":"m","messages":[],"stream":false}`, nil},
		{
			"settings", providers.Call{Model: "m", System: "sys", Messages: user, MaxTokens: 9, Temperature: &temperature, Seed: &seed, Stop: []string{"END"}, Stream: true},
			`{"model":"m","messages":[{"role":"system","content":"sys"},{"role":"user","content":"hi"}],"stream":true,"options":{"num_predict":9,"temperature":0,"seed":7,"stop":["END"]}}`, nil,
		},
		{"any object", providers.Call{Model: "m", Messages: user, Format: &providers.Format{Mode: providers.JSONObject}}, begin + `,"format":"json"}`, nil},
		{"schema", providers.Call{Model: "m", Messages: user, Format: &providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(`{"type":"object"}`)}}, begin + `,"format":{"type":"object"}}`, nil},
		{"tools", providers.Call{Model: "m", Messages: user, Tools: []providers.Tool{weather}}, begin + offered + `}`, nil},
		{"tool without arguments", providers.Call{Model: "m", Messages: user, Tools: []providers.Tool{{Name: "now"}}}, begin + `,"tools":[{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}]}`, nil},
		{"no tool may be called", providers.Call{Model: "m", Messages: user, Tools: []providers.Tool{weather}, Choice: providers.Choice{Kind: providers.ChoiceNone}}, begin + `}`, nil},
		{
			"choices that are not taken", providers.Call{Model: "m", Messages: user, Tools: []providers.Tool{weather}, Choice: providers.Choice{Kind: providers.ChoiceNamed, Name: "get_weather"}, Serial: true}, begin + offered + `}`,
			[]string{"tool choice: not part of the Ollama API, not sent: the model decides", "serial tool calls: not part of the Ollama API, not sent"},
		},
		{
			"pictures", providers.Call{Model: "m", Messages: []providers.Message{{Role: "user", Text: "what", Images: []providers.Image{{MediaType: "image/png", Data: []byte("PNG")}, {URL: "data:image/png;base64,UE5H"}}}}},
			`{"model":"m","messages":[{"role":"user","content":"what","images":["UE5H","UE5H"]}],"stream":false}`, nil,
		},
		{
			"the tool loop", providers.Call{Model: "m", Messages: []providers.Message{
				{Role: "assistant", Calls: []providers.ToolCall{{ID: "c1", Name: "get_weather", Args: `{"city": "Rome"}`}, {ID: "c2", Name: "now"}}, Continuation: newContinuation("hm")},
				{Role: "tool", CallID: "c1", Name: "get_weather", Text: "20"},
			}},
			`{"model":"m","messages":[{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"c1","function":{"name":"get_weather","arguments":{"city":"Rome"}}},{"id":"c2","function":{"name":"now","arguments":{}}}]},` +
				`{"role":"tool","content":"20","tool_name":"get_weather","tool_call_id":"c1"}],"stream":false}`, nil,
		},
		{
			"arguments that are no object", providers.Call{Model: "m", Messages: []providers.Message{{Role: "assistant", Text: "a", Calls: []providers.ToolCall{{Name: "now", Args: `{"cut`}}, Continuation: []byte(`{"other":1}`)}}},
			`{"model":"m","messages":[{"role":"assistant","content":"a","tool_calls":[{"function":{"name":"now","arguments":{}}}]}],"stream":false}`,
			[]string{"message 1: the arguments of the call of now are not a JSON object, sent as {}"},
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

// An image that cannot be sent is an error, because the question without it is a
// different one.
func TestAnImageAddressIsRefused(t *testing.T) {
	sent := errors.New("a request was made")
	m, err := New(providers.Options{HTTP: &http.Client{Transport: testkit.Refuse(sent)}})
	require.NoError(t, err)
	_, err = m.Call(context.Background(), providers.Call{Model: "m", Messages: []providers.Message{{Role: "user", Images: []providers.Image{{URL: "http://host/a.png"}}}}})
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.InvalidRequest, e.Kind)
	require.Equal(t, "message 1: an image's address is not taken by the Ollama API, which wants its data", e.Message)
	require.NotErrorIs(t, err, sent)
}

func TestForeignContinuationsAreLeftOut(t *testing.T) {
	for _, raw := range []string{``, `null`, `{}`, `[]`, `"x"`, `{"ollama":null}`, `{"ollama":1}`, `{"thinking":"hm"}`, `{`} {
		require.Empty(t, readContinuation([]byte(raw)), raw)
	}
	require.Equal(t, "hm", readContinuation(newContinuation("hm")))
	require.Nil(t, newContinuation(""))
}
