package bedrock

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

var (
	hi      = providers.Message{Role: providers.RoleUser, Text: "hi"}
	weather = providers.Tool{Name: "weather", Description: "Tells it.", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}
	asks    = providers.Message{Role: providers.RoleAssistant, Text: "Let me see.", Calls: []providers.ToolCall{{ID: "c-1", Name: "weather", Args: `{"city":"a"}`}, {ID: "c-2", Name: "clock"}}}
	told1   = providers.Message{Role: providers.RoleTool, CallID: "c-1", Name: "weather", Text: "rain"}
	told2   = providers.Message{Role: providers.RoleTool, CallID: "c-2", Name: "clock", Text: "broken", Failed: true}
)

const (
	hiSent      = `{"role":"user","content":[{"text":"hi"}]}`
	weatherSent = `{"toolSpec":{"name":"weather","description":"Tells it.","inputSchema":{"json":{"type":"object","properties":{"city":{"type":"string"}}}}}}`
	asksSent    = `{"role":"assistant","content":[{"text":"Let me see."},{"toolUse":{"toolUseId":"c-1","name":"weather","input":{"city":"a"}}},{"toolUse":{"toolUseId":"c-2","name":"clock","input":{}}}]}`
	toldSent    = `{"toolResult":{"toolUseId":"c-1","content":[{"text":"rain"}]}},{"toolResult":{"toolUseId":"c-2","content":[{"text":"broken"}],"status":"error"}}`
)

func TestRequestBodies(t *testing.T) {
	temperature, seed := 0.0, int64(7)
	fits := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`)
	loose := json.RawMessage(`{"type":"object","oneOf":[]}`)
	for _, c := range []struct {
		name     string
		call     providers.Call
		want     string
		warnings []string
	}{
		{
			"every setting", providers.Call{System: "a <b>", Messages: []providers.Message{hi}, MaxTokens: 9, Temperature: &temperature, Seed: &seed, Stop: []string{"END"}, Serial: true},
			`{"messages":[` + hiSent + `],"system":[{"text":"a <b>"}],"inferenceConfig":{"maxTokens":9,"temperature":0,"stopSequences":["END"]}}`,
			[]string{"seed: not part of the Converse API, not sent", "serial: not part of the Converse API, not sent"},
		},
		{"no setting", providers.Call{Messages: []providers.Message{hi}}, `{"messages":[` + hiSent + `]}`, nil},
		{"no messages", providers.Call{}, `{"messages":[]}`, nil},
		{
			"a model without temperature", providers.Call{Model: "us.anthropic.claude-opus-4-7-v1:0", Messages: []providers.Message{hi}, Temperature: &temperature},
			`{"messages":[` + hiSent + `]}`, []string{"temperature: not taken by this model, not sent"},
		},
		{
			"tools", providers.Call{Messages: []providers.Message{hi}, Tools: []providers.Tool{weather, {Name: "clock"}}},
			`{"messages":[` + hiSent + `],"toolConfig":{"tools":[` + weatherSent + `,{"toolSpec":{"name":"clock","inputSchema":{"json":{"type":"object","properties":{}}}}}]}}`, nil,
		},
		{
			"some tool", providers.Call{Messages: []providers.Message{hi}, Tools: []providers.Tool{weather}, Choice: providers.Choice{Kind: providers.ChoiceAny}},
			`{"messages":[` + hiSent + `],"toolConfig":{"tools":[` + weatherSent + `],"toolChoice":{"any":{}}}}`, nil,
		},
		{
			"one tool", providers.Call{Messages: []providers.Message{hi}, Tools: []providers.Tool{weather}, Choice: providers.Choice{Kind: providers.ChoiceNamed, Name: "weather"}},
			`{"messages":[` + hiSent + `],"toolConfig":{"tools":[` + weatherSent + `],"toolChoice":{"tool":{"name":"weather"}}}}`, nil,
		},
		{
			"no tool", providers.Call{Messages: []providers.Message{hi}, Tools: []providers.Tool{weather}, Choice: providers.Choice{Kind: providers.ChoiceNone}},
			`{"messages":[` + hiSent + `]}`, nil,
		},
		{
			"results of one turn stand in one message", providers.Call{Model: "amazon.nova-lite-v1:0", Messages: []providers.Message{hi, asks, told1, told2, hi}, Tools: []providers.Tool{weather}},
			`{"messages":[` + hiSent + `,` + asksSent + `,{"role":"user","content":[` + toldSent + `,{"text":"hi"}]}],"toolConfig":{"tools":[` + weatherSent + `]}}`, nil,
		},
		{
			"no tool after calls", providers.Call{Model: "amazon.nova-lite-v1:0", Messages: []providers.Message{hi, asks, told1, told2}, Tools: []providers.Tool{weather}, Choice: providers.Choice{Kind: providers.ChoiceNone}},
			`{"messages":[` + hiSent + `,` + asksSent + `,{"role":"user","content":[` + toldSent + `]}],"toolConfig":{"tools":[` + weatherSent + `]}}`,
			[]string{"tool choice none: not part of the Converse API; the tools are sent anyway, as the messages have calls"},
		},
		{
			"calls, but no tools", providers.Call{Model: "amazon.nova-lite-v1:0", Messages: []providers.Message{hi, asks, told1, told2}},
			`{"messages":[` + hiSent + `,` + asksSent + `,{"role":"user","content":[` + toldSent + `]}],"toolConfig":{"tools":[{"toolSpec":{"name":"weather","inputSchema":{"json":{"type":"object","properties":{}}}}},{"toolSpec":{"name":"clock","inputSchema":{"json":{"type":"object","properties":{}}}}}]}}`,
			[]string{"tools: none is on offer, but the messages have calls: the API demands tools, the names called are sent"},
		},
		{
			"a model that takes no status", providers.Call{Model: "meta.llama3-1-70b-instruct-v1:0", Messages: []providers.Message{{Role: providers.RoleTool, CallID: "c-2", Text: "no", Failed: true}}, Tools: []providers.Tool{weather}},
			`{"messages":[{"role":"user","content":[{"toolResult":{"toolUseId":"c-2","content":[{"text":"error: no"}]}}]}],"toolConfig":{"tools":[` + weatherSent + `]}}`, nil,
		},
		{
			"blank text is left out", providers.Call{Messages: []providers.Message{hi, {Role: providers.RoleAssistant, Text: " \n"}, hi}},
			`{"messages":[{"role":"user","content":[{"text":"hi"},{"text":"hi"}]}]}`, []string{"message 2 is empty: not sent, the API refuses blank text"},
		},
		{
			"a schema as text", providers.Call{Messages: []providers.Message{hi}, Format: &providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: fits}},
			`{"messages":[` + hiSent + `],"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":` + testkit.Quote(string(fits)) + `,"name":"n"}}}}}`, nil,
		},
		{
			"a forced tool", providers.Call{Messages: []providers.Message{hi}, Format: &providers.Format{Mode: providers.ForcedTool, Name: "n", Schema: loose}},
			`{"messages":[` + hiSent + `],"toolConfig":{"tools":[{"toolSpec":{"name":"n","inputSchema":{"json":{"type":"object","oneOf":[]}}}}],"toolChoice":{"tool":{"name":"n"}}}}`,
			[]string{"forced_tool: the provider may refuse the schema: /: keyword oneOf"},
		},
		{
			"a schema outside of the subset", providers.Call{Messages: []providers.Message{hi}, Format: &providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: loose}},
			`{"messages":[` + hiSent + `],"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":` + testkit.Quote(string(loose)) + `,"name":"n"}}}}}`,
			[]string{"json_schema: the provider may refuse the schema: /: keyword oneOf; /: additionalProperties is not false"},
		},
		{
			"a tool with a choice at the top", providers.Call{Messages: []providers.Message{hi}, Tools: []providers.Tool{{Name: "n", Schema: loose}}},
			`{"messages":[` + hiSent + `],"toolConfig":{"tools":[{"toolSpec":{"name":"n","inputSchema":{"json":{"type":"object","oneOf":[]}}}}]}}`,
			[]string{"tool n: the provider may refuse the schema: /: keyword oneOf"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, warnings := newRequest(c.call)
			require.Equal(t, c.want, encoded(t, body))
			require.Equal(t, c.warnings, warnings)
		})
	}
}

// encoded writes JSON as the provider does, without HTML escapes.
func encoded(t *testing.T, v any) string {
	t.Helper()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSuffix(text.String(), "\n")
}

func TestImages(t *testing.T) {
	for _, c := range []struct {
		name    string
		image   providers.Image
		want    string
		warning string
	}{
		{"png", providers.Image{MediaType: "image/png", Data: []byte("x")}, `{"format":"png","source":{"bytes":"eA=="}}`, ""},
		{"jpg", providers.Image{MediaType: "image/jpg", Data: []byte("x")}, `{"format":"jpeg","source":{"bytes":"eA=="}}`, ""},
		{"no media type", providers.Image{Data: []byte("GIF89a")}, `{"format":"gif","source":{"bytes":"R0lGODlh"}}`, ""},
		{"S3", providers.Image{MediaType: "image/webp", URL: "s3://bucket/a.webp"}, `{"format":"webp","source":{"s3Location":{"uri":"s3://bucket/a.webp"}}}`, ""},
		{"another format", providers.Image{MediaType: "image/tiff", Data: []byte("x")}, "", `image: the API takes png, jpeg, gif and webp, not "image/tiff", not sent`},
		{"an address", providers.Image{MediaType: "image/png", URL: "https://x.test/a.png"}, "", "image: the API takes bytes or an s3:// address, not sent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, m := range []providers.Message{
				{Role: providers.RoleUser, Text: "what", Images: []providers.Image{c.image}},
				{Role: providers.RoleTool, CallID: "c", Text: "what", Images: []providers.Image{c.image}},
			} {
				body, warnings := newRequest(providers.Call{Messages: []providers.Message{m}})
				content := `[{"image":` + c.want + `},{"text":"what"}]`
				if c.want == "" {
					content = `[{"text":"what"}]`
					require.Equal(t, []string{c.warning}, warnings)
				}
				if m.Role == providers.RoleTool {
					content = `[{"toolResult":{"toolUseId":"c","content":` + content + `}}]`
				}
				require.Equal(t, `{"messages":[{"role":"user","content":`+content+`}]}`, encoded(t, body))
			}
		})
	}
}

func TestArgumentsSentBack(t *testing.T) {
	for _, c := range []struct {
		args, want string
		warnings   int
	}{
		{"", `{}`, 0},
		{`{}`, `{}`, 0},
		{`{"a":1.0e0}`, `{"a":1.0e0}`, 0},
		{`{"a":`, `{"arguments":"{\"a\":"}`, 1},
		{`[1]`, `{"arguments":"[1]"}`, 1},
		{`null`, `{"arguments":"null"}`, 1},
	} {
		r := &request{}
		require.Equal(t, c.want, string(r.input(providers.ToolCall{ID: "c", Args: c.args})))
		require.Len(t, r.warnings, c.warnings, c.args)
	}
}

func TestReasoningGoesBack(t *testing.T) {
	signed := `{"output":{"message":{"content":[
		{"reasoningContent":{"reasoningText":{"text":"hm <x>","signature":"c2ln"}}},
		{"reasoningContent":{"redactedContent":"AAEC"}},
		{"reasoningContent":{"reasoningText":{"text":"unsigned"}}},
		{"text":"so"},{"toolUse":{"toolUseId":"c","name":"clock","input":{}}}]}},"stopReason":"tool_use"}`
	streamed := events(t,
		"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"hm "}}}`,
		"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"<x>"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`,
		"contentBlockStop", `{"contentBlockIndex":0}`,
		"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"AAE="}}}`,
		"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"Ag=="}}}`,
		"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"reasoningContent":{"text":"unsigned"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":3,"delta":{"text":"so"}}`,
		"contentBlockStart", `{"contentBlockIndex":4,"start":{"toolUse":{"toolUseId":"c","name":"clock"}}}`,
		"messageStop", `{"stopReason":"tool_use"}`,
		"metadata", `{}`)
	for name, body := range map[string][]byte{"whole": []byte(signed), "streamed": streamed} {
		t.Run(name, func(t *testing.T) {
			r, complete, err := decode(body)
			require.NoError(t, err)
			require.True(t, complete)
			require.Equal(t, "hm <x>unsigned", r.Reasoning)
			require.Equal(t, "so", r.Text)
			body, warnings := newRequest(providers.Call{Messages: []providers.Message{{Role: providers.RoleAssistant, Text: r.Text, Calls: r.Calls, Continuation: r.Continuation}}, Tools: []providers.Tool{{Name: "clock"}}})
			require.Empty(t, warnings)
			require.Equal(t, `[{"reasoningContent":{"reasoningText":{"text":"hm <x>","signature":"c2ln"}}},{"reasoningContent":{"redactedContent":"AAEC"}},{"text":"so"},{"toolUse":{"toolUseId":"c","name":"clock","input":{}}}]`, encoded(t, body.Messages[0].Content))
		})
	}
	for _, foreign := range []string{"", "null", `[{"type":"thinking"}]`, `{"thinking":[]}`, `{"bedrock_reasoning":5}`, "{"} {
		require.Empty(t, putBack(json.RawMessage(foreign)), foreign)
	}
}
