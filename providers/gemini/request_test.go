package gemini

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func sent(t *testing.T, call providers.Call) (string, []string) {
	t.Helper()
	body, warnings := newRequest(call)
	text, err := json.Marshal(body)
	require.NoError(t, err)
	return string(text), warnings
}

var hi = []providers.Message{{Role: "user", Text: "hi"}}

func ref[T any](v T) *T { return &v }

func TestSettings(t *testing.T) {
	const begin = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]`
	tools := []providers.Tool{{Name: "f", Description: "d", Schema: []byte(`{"type":"object"}`)}, {Name: "g"}}
	const offered = `,"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object"}},{"name":"g"}]}]`
	for _, c := range []struct {
		name     string
		call     providers.Call
		want     string
		warnings []string
	}{
		{"none", providers.Call{}, ``, nil},
		{"all", providers.Call{MaxTokens: 9, Temperature: ref(0.0), Seed: ref(int64(7)), Stop: []string{"x"}}, `,"generationConfig":{"maxOutputTokens":9,"temperature":0,"seed":7,"stopSequences":["x"]}`, nil},
		{"a seed too long", providers.Call{Seed: ref(int64(1) << 40)}, ``, []string{"seed: not part of the Gemini API beyond 32 bits, not sent"}},
		{"too many stops", providers.Call{Stop: []string{"1", "2", "3", "4", "5", "6"}}, `,"generationConfig":{"stopSequences":["1","2","3","4","5"]}`, []string{"stop: 5 sequences are taken, the other 1 were not sent"}},
		{"tools", providers.Call{Tools: tools}, offered, nil},
		{"no tool", providers.Call{Tools: tools, Choice: providers.Choice{Kind: providers.ChoiceNone}}, offered + `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`, nil},
		{"no tool of none", providers.Call{Choice: providers.Choice{Kind: providers.ChoiceNone}}, ``, nil},
		{"some tool", providers.Call{Tools: tools, Choice: providers.Choice{Kind: providers.ChoiceAny}}, offered + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`, nil},
		{"that tool", providers.Call{Tools: tools, Choice: providers.Choice{Kind: providers.ChoiceNamed, Name: "g"}}, offered + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}`, nil},
		{"serial", providers.Call{Tools: tools, Serial: true}, offered, []string{"serial: not part of the Gemini API, not sent"}},
		{"a schema that is not enforced", providers.Call{Tools: []providers.Tool{{Name: "f", Schema: []byte(`{"type":"object","not":{}}`)}}}, `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","not":{}}}]}]`, []string{"tool f: the provider does not enforce all of the schema: /: keyword not"}},
		{"a format beside tools", providers.Call{Model: "gemini-2.5-pro", Tools: tools[1:], Format: &providers.Format{Mode: providers.JSONObject}}, `,"generationConfig":{"responseMimeType":"application/json"},"tools":[{"functionDeclarations":[{"name":"g"}]}]`, []string{"json_object: models before Gemini 3 refuse it beside tools"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.call.Messages = hi
			got, warnings := sent(t, c.call)
			require.Equal(t, begin+c.want+"}", got)
			require.Equal(t, c.warnings, warnings)
		})
	}
}

func TestFormatsAreSent(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"number","minimum":0}}}`
	plain, _ := sent(t, providers.Call{System: "be brief", Messages: hi, MaxTokens: 9})
	require.Equal(t, `{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":9}}`, plain)
	for mode, want := range map[providers.Mode]string{
		providers.JSONObject: `"maxOutputTokens":9,"responseMimeType":"application/json"}}`,
		providers.JSONSchema: `"maxOutputTokens":9,"responseMimeType":"application/json","responseJsonSchema":` + schema + `}}`,
		providers.ForcedTool: `"maxOutputTokens":9},"tools":[{"functionDeclarations":[{"name":"n","parametersJsonSchema":` + schema + `}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["n"]}}}`,
	} {
		call := providers.Call{System: "be brief", Messages: hi, MaxTokens: 9, Format: &providers.Format{Mode: mode, Name: "n", Schema: []byte(schema)}}
		got, warnings := sent(t, call)
		require.Equal(t, strings.TrimSuffix(plain, `"maxOutputTokens":9}}`)+want, got)
		require.Empty(t, warnings)
		again, _ := sent(t, call)
		require.Equal(t, got, again)
	}
	_, warnings := sent(t, providers.Call{Messages: hi, Format: &providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(`{"type":"object","properties":{"a":{"const":1}}}`)}})
	require.Equal(t, []string{"json_schema: the provider does not enforce all of the schema: /properties/a: keyword const"}, warnings)
}

// contentsOf returns the contents of a request as JSON.
func contentsOf(t *testing.T, call providers.Call) string {
	t.Helper()
	text, err := json.Marshal(contents(call))
	require.NoError(t, err)
	return string(text)
}

func TestMessages(t *testing.T) {
	png := providers.Image{MediaType: "image/png", Data: []byte{1}}
	for _, c := range []struct {
		name     string
		model    string
		messages []providers.Message
		want     string
	}{
		{"images stand before text", "", []providers.Message{{Role: "user", Text: "what?", Images: []providers.Image{png, {URL: "gs://b/o.jpg", MediaType: "image/jpeg"}}}},
			`[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AQ=="}},{"fileData":{"mimeType":"image/jpeg","fileUri":"gs://b/o.jpg"}},{"text":"what?"}]}]`},
		{"an image alone, and nothing at all", "", []providers.Message{{Role: "user", Images: []providers.Image{png}}, {Role: "assistant"}, {Role: "user"}},
			`[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AQ=="}}]},{"role":"user","parts":[{"text":""}]}]`},
		{"foreign calls and their answers", "", []providers.Message{
			{Role: "assistant", Text: "so", Calls: []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}, {ID: "b", Name: "g", Args: `{"x":`}}, Continuation: []byte(`[{"type":"thinking"}]`)},
			{Role: "tool", CallID: "a", Name: "f", Text: "1"}, {Role: "tool", CallID: "b", Text: "no", Failed: true, Images: []providers.Image{png}}, {Role: "user", Text: "on"},
		}, `[{"role":"model","parts":[{"text":"so"},{"functionCall":{"name":"f","args":{"x":1}}},{"functionCall":{"name":"g","args":{"malformed_arguments":"{\"x\":"}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}},{"functionResponse":{"name":"g","response":{"error":"no"}}},{"inlineData":{"mimeType":"image/png","data":"AQ=="}}]},` +
			`{"role":"user","parts":[{"text":"on"}]}]`},
		{"an answer to nothing", "", []providers.Message{{Role: "tool", CallID: "z", Name: "f", Text: "1"}}, `[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}}]}]`},
		{"foreign calls to the third generation", "gemini-3-pro", []providers.Message{{Role: "assistant", Calls: []providers.ToolCall{{ID: "a", Name: "f", Args: `{}`}, {ID: "b", Name: "f", Args: `{}`}}}},
			`[{"role":"model","parts":[{"thoughtSignature":"` + foreignSignature + `","functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, contentsOf(t, providers.Call{Model: c.model, Messages: c.messages}))
		})
	}
}

// TestToolLoop checks that messages go back unchanged. An id that cupel made up does
// not go back.
func TestToolLoop(t *testing.T) {
	reply, _, err := decode(candidateOf(`{"text":"hm","thought":true},{"functionCall":{"name":"f","args":{"n":1.0}},"thoughtSignature":"s1"},{"functionCall":{"id":"x","name":"g","args":{}}}`, stopped), false)
	require.NoError(t, err)
	got := contentsOf(t, providers.Call{Model: "gemini-3-pro", Messages: []providers.Message{
		{Role: "user", Text: "hi"},
		{Role: "assistant", Text: reply.Text, Calls: reply.Calls, Continuation: reply.Continuation},
		{Role: "tool", CallID: reply.Calls[0].ID, Text: "1"},
		{Role: "tool", CallID: reply.Calls[1].ID, Name: "g", Text: "2"},
	}})
	require.Equal(t, `[{"role":"user","parts":[{"text":"hi"}]},`+
		`{"role":"model","parts":[{"thoughtSignature":"s1","functionCall":{"name":"f","args":{"n":1.0}}},{"functionCall":{"id":"x","name":"g","args":{}}}]},`+
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}},{"functionResponse":{"id":"x","name":"g","response":{"output":"2"}}}]}]`, got)
}

func TestForeignContinuationsAreLeftOut(t *testing.T) {
	for _, foreign := range []string{``, `null`, `[]`, `{"thinking":1}`, `{"gemini_parts":1}`, `{"gemini_parts":[7]}`, `{"gemini_parts":[{"functionCall":{"name":"other"}}]}`, `{`} {
		got := contentsOf(t, providers.Call{Messages: []providers.Message{{Role: "assistant", Text: "so", Continuation: []byte(foreign)}}})
		require.Equal(t, `[{"role":"model","parts":[{"text":"so"}]}]`, got, foreign)
	}
}

func TestPaths(t *testing.T) {
	for name, want := range map[string]string{
		"gemini-x": "/models/gemini-x", "models/gemini-x": "/models/gemini-x", "tunedModels/mine": "/tunedModels/mine", "a/b?c": "/models/a%2Fb%3Fc",
	} {
		require.Equal(t, want, path(name))
	}
}
