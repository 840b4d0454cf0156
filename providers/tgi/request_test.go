package tgi

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
	zero, half, seed, negative := 0.0, 0.5, int64(7), int64(-1)
	user := []providers.Message{{Role: "user", Text: "hi"}}
	const begin = `{"inputs":"hi","parameters":{"details":true,"return_full_text":false`
	for _, c := range []struct {
		name     string
		call     providers.Call
		want     string
		warnings []string
	}{
		{"only a prompt", providers.Call{Messages: user}, begin + `}}`, nil},
		{"settings", providers.Call{Messages: user, MaxTokens: 9, Temperature: &half, Seed: &seed, Stop: []string{"END"}}, begin + `,"do_sample":true,"max_new_tokens":9,"temperature":0.5,"seed":7,"stop":["END"]}}`, nil},
		{"a temperature of zero", providers.Call{Messages: user, Temperature: &zero}, begin + `,"do_sample":false}}`, nil},
		{"a negative seed", providers.Call{Messages: user, Seed: &negative}, begin + `}}`, []string{"seed: a negative one is not taken, not sent"}},
		{"schema", providers.Call{Messages: user, Format: &providers.Format{Mode: providers.JSONSchema, Name: "n", Schema: []byte(`{"type":"object"}`)}}, begin + `,"grammar":{"type":"json","value":{"type":"object"}}}}`, nil},
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

func TestPrompts(t *testing.T) {
	user, assistant := providers.Message{Role: "user", Text: "Hi"}, providers.Message{Role: "assistant", Text: "Yes?"}
	picture := providers.Message{Role: "user", Text: "what", Images: []providers.Image{{Data: []byte("PNG")}, {URL: "http://host/a.png"}}}
	for _, c := range []struct {
		name, system string
		messages     []providers.Message
		want         string
	}{
		{"nothing", "", nil, "Assistant:"},
		{"a prompt alone", "", []providers.Message{user}, "Hi"},
		{"with a system", "Be brief.", []providers.Message{user}, "System: Be brief.\n\nUser: Hi\n\nAssistant:"},
		{"a talk", "", []providers.Message{user, assistant, user}, "User: Hi\n\nAssistant: Yes?\n\nUser: Hi\n\nAssistant:"},
		{"an answer begun", "", []providers.Message{user, assistant}, "User: Hi\n\nAssistant: Yes?"},
		{"pictures", "", []providers.Message{picture}, "![](data:image/png;base64,UE5H)![](http://host/a.png)what"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, problem := newPrompt(providers.Call{System: c.system, Messages: c.messages})
			require.Empty(t, problem)
			require.Equal(t, c.want, got)
		})
	}
}

// Tool results and tool calls cannot be sent, so they are an error and are not left
// out.
func TestToolsAreRefusedUnsent(t *testing.T) {
	for name, call := range map[string]providers.Call{
		"tools":         {Tools: []providers.Tool{{Name: "f"}}},
		"a call":        {Messages: []providers.Message{{Role: "assistant", Calls: []providers.ToolCall{{Name: "f"}}}}},
		"a tool's word": {Messages: []providers.Message{{Role: "tool", Text: "20"}}},
		"forced":        {Format: &providers.Format{Mode: providers.ForcedTool, Name: "f", Schema: []byte(`{}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			sent := errors.New("a request was made")
			m, err := New(providers.Options{HTTP: &http.Client{Transport: testkit.Refuse(sent)}})
			require.NoError(t, err)
			_, err = m.Call(context.Background(), call)
			var e *fault.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, fault.InvalidRequest, e.Kind)
			require.Contains(t, e.Message, "tool")
			require.NotErrorIs(t, err, sent)
		})
	}
}
