package responses

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// dialectOf returns the dialect that a factory opens.
func dialectOf(t *testing.T, make providers.Factory) *model {
	t.Helper()
	m, err := make(providers.Options{BaseURL: "http://127.0.0.1:1/v1"})
	require.NoError(t, err)
	return m.(*model)
}

func body(t *testing.T, m *model, call providers.Call) (string, []string) {
	t.Helper()
	r, warnings := m.newRequest(call)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	return string(text), warnings
}

const (
	hi     = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
	sealed = `,"include":["reasoning.encrypted_content"]`
)

func user(text string) []providers.Message {
	return []providers.Message{{Role: providers.RoleUser, Text: text}}
}

func TestSettings(t *testing.T) {
	warm, seed := 0.0, int64(7)
	full := providers.Call{Model: "gpt-4o", System: "sys", Messages: user("hi"), MaxTokens: 400, Temperature: &warm, Stream: true, RequestID: "not in the body"}
	with := func(change func(*providers.Call)) providers.Call {
		c := full
		change(&c)
		return c
	}
	begin := func(model string) string {
		return `{"model":"` + model + `","instructions":"sys","input":[` + hi + `],`
	}
	for _, c := range []struct {
		name     string
		make     providers.Factory
		call     providers.Call
		want     string
		warnings []string
	}{
		{"everything", New, full, begin("gpt-4o") + `"max_output_tokens":400,"temperature":0,"store":false,"stream":true}`, nil},
		{"only a model", New, providers.Call{Model: "m"}, `{"model":"m","input":[],"store":false}`, nil},
		{"no seed, no stop", New, with(func(c *providers.Call) { c.Seed, c.Stop = &seed, []string{"END"} }), begin("gpt-4o") + `"max_output_tokens":400,"temperature":0,"store":false,"stream":true}`, []string{"seed: not part of the Responses API, not sent", "stop: not part of the Responses API, not sent"}},
		{"reasoning", New, with(func(c *providers.Call) { c.Model = "o4-mini" }), begin("o4-mini") + `"max_output_tokens":400,"store":false` + sealed + `,"stream":true}`, []string{"temperature: not taken by reasoning models, not sent"}},
		{"chat variant", New, with(func(c *providers.Call) { c.Model = "gpt-5-chat-latest" }), begin("gpt-5-chat-latest") + `"max_output_tokens":400,"temperature":0,"store":false,"stream":true}`, nil},
		{"too few tokens", New, with(func(c *providers.Call) { c.MaxTokens = 9 }), begin("gpt-4o") + `"max_output_tokens":16,"temperature":0,"store":false,"stream":true}`, []string{"max_tokens: 9 is less than the API takes, 16 sent"}},
		{"few tokens elsewhere", DeepSeek, with(func(c *providers.Call) { c.MaxTokens = 9 }), begin("gpt-4o") + `"max_output_tokens":9,"temperature":0,"store":false,"stream":true}`, nil},
		{"grok reasons and takes a temperature", XAI, with(func(c *providers.Call) { c.Model = "grok-4.3" }), begin("grok-4.3") + `"max_output_tokens":400,"temperature":0,"store":false` + sealed + `,"stream":true}`, nil},
		{"grok that does not reason", XAI, with(func(c *providers.Call) { c.Model = "grok-4-fast-non-reasoning" }), begin("grok-4-fast-non-reasoning") + `"max_output_tokens":400,"temperature":0,"store":false,"stream":true}`, nil},
		{"behind a router", OpenRouter, providers.Call{Model: "openai/gpt-5.6-sol"}, `{"model":"openai/gpt-5.6-sol","input":[],"store":false` + sealed + `}`, nil},
		{"behind a router, without reasoning", OpenRouter, providers.Call{Model: "openai/gpt-4o"}, `{"model":"openai/gpt-4o","input":[],"store":false}`, nil},
		{"behind a router, of others", OpenRouter, providers.Call{Model: "anthropic/claude"}, `{"model":"anthropic/claude","input":[],"store":false` + sealed + `}`, nil},
		{"on Bedrock", BedrockMantle, providers.Call{Model: "openai.gpt-5.6-luna"}, `{"model":"openai.gpt-5.6-luna","input":[],"store":false` + sealed + `}`, nil},
		{"open weights on Bedrock", BedrockMantle, providers.Call{Model: "openai.gpt-oss-20b"}, `{"model":"openai.gpt-oss-20b","input":[],"store":false}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := body(t, dialectOf(t, c.make), c.call)
			require.Equal(t, c.want, got)
			require.Equal(t, c.warnings, warnings)
		})
	}
}

func TestMessages(t *testing.T) {
	picture := []providers.Image{{MediaType: "image/png", Data: []byte{1, 2, 3}}, {URL: "https://x.test/a.jpg"}}
	const pictures = `{"type":"input_image","image_url":"data:image/png;base64,AQID"},{"type":"input_image","image_url":"https://x.test/a.jpg"}`
	for _, c := range []struct {
		name    string
		make    providers.Factory
		message providers.Message
		want    string
		warning string
	}{
		{"empty text", New, providers.Message{Role: "user"}, `{"type":"message","role":"user","content":[{"type":"input_text","text":""}]}`, ""},
		{"images before text", New, providers.Message{Role: "user", Text: "what?", Images: picture}, `{"type":"message","role":"user","content":[` + pictures + `,{"type":"input_text","text":"what?"}]}`, ""},
		{"images alone", New, providers.Message{Role: "user", Images: picture[1:]}, `{"type":"message","role":"user","content":[{"type":"input_image","image_url":"https://x.test/a.jpg"}]}`, ""},
		{"assistant", New, providers.Message{Role: "assistant", Text: "yo"}, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yo"}]}`, ""},
		{"assistant without a word", New, providers.Message{Role: "assistant"}, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]}`, ""},
		{"calls", New, providers.Message{Role: "assistant", Calls: []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}, {ID: "b", Name: "g"}}}, `{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"},{"type":"function_call","call_id":"b","name":"g","arguments":"{}"}`, ""},
		{"text and a call", New, providers.Message{Role: "assistant", Text: "hm", Calls: []providers.ToolCall{{ID: "a", Name: "f", Args: "{}"}}}, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hm"}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`, ""},
		{"answer", New, providers.Message{Role: "tool", CallID: "a", Name: "f", Text: "42"}, `{"type":"function_call_output","call_id":"a","output":"42"}`, ""},
		{"empty answer", New, providers.Message{Role: "tool", CallID: "a"}, `{"type":"function_call_output","call_id":"a","output":""}`, ""},
		{"failure", New, providers.Message{Role: "tool", CallID: "a", Text: "no such file", Failed: true}, `{"type":"function_call_output","call_id":"a","output":"error: no such file"}`, ""},
		{"answer with an image", New, providers.Message{Role: "tool", CallID: "a", Text: "look", Images: picture[1:]}, `{"type":"function_call_output","call_id":"a","output":[{"type":"input_image","image_url":"https://x.test/a.jpg"},{"type":"input_text","text":"look"}]}`, ""},
		{"answer with an image where none is taken", LlamaCpp, providers.Message{Role: "tool", CallID: "a", Text: "look", Images: picture}, `{"type":"function_call_output","call_id":"a","output":"look"}`, "images: not taken as the answer to a tool call, not sent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := body(t, dialectOf(t, c.make), providers.Call{Model: "m", Messages: []providers.Message{c.message}})
			require.Equal(t, `{"model":"m","input":[`+c.want+`],"store":false}`, got)
			if c.warning != "" {
				require.Equal(t, []string{c.warning}, warnings)
			} else {
				require.Empty(t, warnings)
			}
		})
	}
}

func TestTools(t *testing.T) {
	const (
		fits  = `{"type":"object","properties":{"a":{"type":"number"}},"required":["a"],"additionalProperties":false}`
		loose = `{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`
	)
	f := providers.Tool{Name: "f", Description: "does f", Schema: []byte(fits)}
	g := providers.Tool{Name: "g"}
	const (
		sentF = `{"type":"function","name":"f","description":"does f","parameters":` + fits + `,"strict":true}`
		sentG = `{"type":"function","name":"g","parameters":` + noArguments + `,"strict":true}`
	)
	for _, c := range []struct {
		name    string
		make    providers.Factory
		call    providers.Call
		want    string
		warning string
	}{
		{"two", New, providers.Call{Tools: []providers.Tool{f, g}}, `,"tools":[` + sentF + `,` + sentG + `]}`, ""},
		{"one at a time", New, providers.Call{Tools: []providers.Tool{g}, Serial: true}, `,"tools":[` + sentG + `],"parallel_tool_calls":false}`, ""},
		{"none must be called", New, providers.Call{Tools: []providers.Tool{g}, Choice: providers.Choice{Kind: providers.ChoiceNone}}, `,"tools":[` + sentG + `],"tool_choice":"none"}`, ""},
		{"some must be called", New, providers.Call{Tools: []providers.Tool{g}, Choice: providers.Choice{Kind: providers.ChoiceAny}}, `,"tools":[` + sentG + `],"tool_choice":"required"}`, ""},
		{"one must be called", New, providers.Call{Tools: []providers.Tool{f, g}, Choice: providers.Choice{Kind: providers.ChoiceNamed, Name: "g"}}, `,"tools":[` + sentF + `,` + sentG + `],"tool_choice":{"type":"function","name":"g"}}`, ""},
		{"one must be called, where it has no name", LlamaCpp, providers.Call{Tools: []providers.Tool{f, g}, Choice: providers.Choice{Kind: providers.ChoiceNamed, Name: "g"}}, `,"tools":[` + sentF + `,` + sentG + `],"tool_choice":"required"}`, "tool choice: the server takes no name, so any tool may come, not only g"},
		{"the only one, where it has no name", LlamaCpp, providers.Call{Format: &providers.Format{Mode: providers.ForcedTool, Name: "g", Schema: []byte(fits)}}, `,"tools":[{"type":"function","name":"g","parameters":` + fits + `,"strict":true}],"tool_choice":"required"}`, ""},
		{"no tools, no choice", New, providers.Call{Serial: true, Choice: providers.Choice{Kind: providers.ChoiceNone}}, `}`, ""},
		{
			"outside of the strict subset", New, providers.Call{Tools: []providers.Tool{{Name: "f", Schema: []byte(loose)}}}, `,"tools":[{"type":"function","name":"f","parameters":` + loose + `,"strict":false}]}`,
			"tool f: sent with strict: false, as the schema is outside of what strict: true takes: /properties/a: keyword minLength; /: additionalProperties is not false; /: not required: a",
		},
		{"a choice at the top", New, providers.Call{Tools: []providers.Tool{{Name: "f", Schema: []byte(`{"anyOf":[]}`)}}}, `,"tools":[{"type":"function","name":"f","parameters":{"anyOf":[]},"strict":false}]}`, `tool f: the provider may refuse the schema: /: type is not "object"; /: keyword anyOf`},
		{"forced, loose", New, providers.Call{Format: &providers.Format{Mode: providers.ForcedTool, Name: "n", Schema: []byte(loose)}}, `,"tools":[{"type":"function","name":"n","parameters":` + loose + `,"strict":false}],"tool_choice":{"type":"function","name":"n"}}`, ""},
		{"forced, with a choice at the top", New, providers.Call{Format: &providers.Format{Mode: providers.ForcedTool, Name: "n", Schema: []byte(`{"anyOf":[]}`)}}, `,"tools":[{"type":"function","name":"n","parameters":{"anyOf":[]},"strict":false}],"tool_choice":{"type":"function","name":"n"}}`, `forced_tool: the provider may refuse the schema: /: type is not "object"; /: keyword anyOf`},
		{
			"schema outside of the strict subset", New, providers.Call{Format: &providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(loose)}}, `,"text":{"format":{"type":"json_schema","name":"n","schema":` + loose + `,"strict":false}}}`,
			"json_schema: sent with strict: false, as the schema is outside of what strict: true takes: /properties/a: keyword minLength; /: additionalProperties is not false; /: not required: a",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.call.Model, c.call.Messages = "m", user("hi")
			got, warnings := body(t, dialectOf(t, c.make), c.call)
			require.Equal(t, `{"model":"m","input":[`+hi+`],"store":false`+c.want, got)
			if c.warning != "" {
				require.Equal(t, []string{c.warning}, warnings)
			} else {
				require.Empty(t, warnings)
			}
		})
	}
}

// TestJSONObjectIsSpokenOf: the word JSON must be in a message, not only in the
// instructions.
func TestJSONObjectIsSpokenOf(t *testing.T) {
	const format = `"store":false,"text":{"format":{"type":"json_object"}}}`
	for _, c := range []struct{ name, system, text, want string }{
		{"in the instructions", "Answer in JSON.", "hi", `{"model":"m","input":[{"type":"message","role":"system","content":[{"type":"input_text","text":"Answer in JSON."}]},` + hi + `],` + format},
		{"in both", "Answer in JSON.", "json!", `{"model":"m","instructions":"Answer in JSON.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"json!"}]}],` + format},
		{"nowhere", "Be brief.", "hi", `{"model":"m","instructions":"Be brief.","input":[` + hi + `],` + format},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := body(t, dialectOf(t, New), providers.Call{Model: "m", System: c.system, Messages: user(c.text), Format: &providers.Format{Mode: providers.JSONObject}})
			require.Equal(t, c.want, got)
			require.Empty(t, warnings)
		})
	}
}

func TestReasons(t *testing.T) {
	for name, want := range map[string]bool{
		"o1": true, "o3-mini": true, "o4-mini-2025-04-16": true, "GPT-5.1": true, "openai/gpt-5": true, "openai.gpt-5.6-luna": true, "codex-mini-latest": true,
		"gpt-4o": false, "gpt-5-chat-latest": false, "o1labs": false, "gpt-50": false, "openai.gpt-oss-20b": false, "grok-4": false, "": false,
	} {
		require.Equal(t, want, reasons(name), name)
	}
}
