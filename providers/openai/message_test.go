package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// messagesOf returns the messages of a conversation, and the warnings.
func messagesOf(t *testing.T, d Dialect, list ...providers.Message) (string, []string) {
	t.Helper()
	text, warnings := sent(t, d, providers.Call{Model: "m", Messages: list})
	return strings.TrimSuffix(strings.TrimPrefix(text, `{"model":"m","messages":`), `}`), warnings
}

func TestToolLoopMessages(t *testing.T) {
	call := func(id, args string) providers.ToolCall { return providers.ToolCall{ID: id, Name: "f", Args: args} }
	got, warnings := messagesOf(t, Dialect{},
		providers.Message{Role: providers.RoleUser, Text: "hi"},
		providers.Message{Role: providers.RoleAssistant, Calls: []providers.ToolCall{call("a", `{"x":1.0}`), call("b", "")}},
		providers.Message{Role: providers.RoleTool, CallID: "a", Name: "f", Text: "1"},
		providers.Message{Role: providers.RoleTool, CallID: "b", Name: "f", Text: "no", Failed: true},
		providers.Message{Role: providers.RoleAssistant, Text: "again", Calls: []providers.ToolCall{call("c", "{}")}},
	)
	require.Empty(t, warnings)
	require.Equal(t, `[{"role":"user","content":"hi"},`+
		`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1.0}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},`+
		`{"role":"tool","content":"1","tool_call_id":"a"},{"role":"tool","content":"error: no","tool_call_id":"b"},`+
		`{"role":"assistant","content":"again","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}]`, got)
}

// Mistral requires ids of the form "a-z, A-Z, 0-9, with a length of 9".
func TestIDsOfTheFormThatIsTaken(t *testing.T) {
	var before string
	for _, id := range []string{"call_1", "call_2", "Ab3456789"} {
		got, _ := messagesOf(t, dialectOf(t, "mistral"),
			providers.Message{Role: providers.RoleAssistant, Calls: []providers.ToolCall{{ID: id, Name: "f", Args: "{}"}}},
			providers.Message{Role: providers.RoleTool, CallID: id, Text: "1"})
		var list []struct {
			ToolCalls []struct{ ID string } `json:"tool_calls"`
			CallID    string                `json:"tool_call_id"`
		}
		require.NoError(t, json.Unmarshal([]byte(got), &list))
		made := list[0].ToolCalls[0].ID
		require.Equal(t, made, list[1].CallID)
		require.Regexp(t, `^[a-zA-Z0-9]{9}$`, made)
		require.NotEqual(t, before, made)
		before = made
	}
	require.Equal(t, "Ab3456789", before, "one that fits is kept")
}

func TestImages(t *testing.T) {
	png := providers.Image{MediaType: "image/png", Data: []byte("\x89PNG")}
	link := providers.Image{URL: "https://example.test/a.png"}
	user := func(images ...providers.Image) providers.Message {
		return providers.Message{Role: providers.RoleUser, Text: "what?", Images: images}
	}
	const (
		data = `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}`
		far  = `{"type":"image_url","image_url":{"url":"https://example.test/a.png"}}`
		text = `{"type":"text","text":"what?"}`
	)
	for _, c := range []struct {
		name, dialect string
		message       providers.Message
		want          string
		warnings      []string
	}{
		{"both", "openrouter", user(png, link), `[{"role":"user","content":[` + data + `,` + far + `,` + text + `]}]`, nil},
		{"image alone", "openrouter", providers.Message{Role: providers.RoleUser, Images: []providers.Image{png}}, `[{"role":"user","content":[` + data + `]}]`, nil},
		{"a data URL is no address", "ollama-compat", user(providers.Image{URL: "data:image/png;base64,iVBORw=="}), `[{"role":"user","content":[` + data + `,` + text + `]}]`, nil},
		{"no addresses", "ollama-compat", user(png, link), `[{"role":"user","content":[` + data + `,` + text + `]}]`, []string{"image URL: not part of ollama-compat, not sent"}},
		{"no images", "deepseek", user(png, link), `[{"role":"user","content":"what?"}]`, []string{"image: not part of deepseek, not sent"}},
		{"nothing in it", "openrouter", user(providers.Image{}), `[{"role":"user","content":"what?"}]`, []string{"image: neither data nor URL, not sent"}},
		{"of a tool", "openrouter", providers.Message{Role: providers.RoleTool, CallID: "a", Text: "1", Images: []providers.Image{png}}, `[{"role":"tool","content":"1","tool_call_id":"a"}]`, []string{"image: not taken in tool messages, not sent"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warnings := messagesOf(t, dialectOf(t, c.dialect), c.message)
			require.Equal(t, c.want, got)
			require.Equal(t, c.warnings, warnings)
		})
	}
}

func TestUserMessagesInARow(t *testing.T) {
	a, b := providers.Message{Role: providers.RoleUser, Text: "a"}, providers.Message{Role: providers.RoleUser, Text: "b", Images: []providers.Image{{URL: "https://example.test/a.png"}}}
	perplexity := dialectOf(t, "perplexity")
	got, _ := messagesOf(t, perplexity, a, a)
	require.Equal(t, `[{"role":"user","content":"a\n\na"}]`, got)
	got, _ = messagesOf(t, perplexity, a, b)
	require.Equal(t, `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://example.test/a.png"}},{"type":"text","text":"b"}]}]`, got)
	got, _ = messagesOf(t, Dialect{}, a, a)
	require.Equal(t, `[{"role":"user","content":"a"},{"role":"user","content":"a"}]`, got)
}

// TestWhatGoesBack: some services require their reasoning in the next request, together
// with the calls. It is kept from a complete or streamed reply and sent to these
// services, and not to others.
func TestWhatGoesBack(t *testing.T) {
	const (
		toolCall = `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`
		sentBack = `"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}`
	)
	for _, c := range []struct {
		name, dialect string
		message       string // a complete reply
		pieces        []string
		want          string
	}{
		{"reasoning_content", "deepseek", `"reasoning_content":"hm",` + toolCall, []string{`"reasoning_content":"h"`, `"reasoning_content":"m"`, toolCall}, sentBack + `}],"reasoning_content":"hm"`},
		{"reasoning_details", "openrouter", `"reasoning":"hm","reasoning_details":[{"format":"x","index":0,"signature":"s","text":"hm","type":"reasoning.text"},{"data":"z","type":"reasoning.encrypted"}],` + toolCall,
			[]string{`"reasoning_details":[{"type":"reasoning.text","format":"x","text":"h","index":0,"signature":null}]`, `"reasoning_details":[{"type":"reasoning.text","text":"m","index":0,"signature":"s"}]`, `"reasoning_details":[{"type":"reasoning.encrypted","data":"z"}]`, toolCall},
			sentBack + `}],"reasoning_details":[{"format":"x","index":0,"signature":"s","text":"hm","type":"reasoning.text"},{"data":"z","type":"reasoning.encrypted"}]`},
		{"extra_content", "google-compat", `"extra_content":{"m":1},"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]`,
			[]string{`"extra_content":{"m":1}`, `"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]`},
			sentBack + `,"extra_content":{"google":{"thought_signature":"s"}}}],"extra_content":{"m":1}`},
		{"nothing", "groq", `"reasoning":"hm",` + toolCall, []string{`"reasoning":"hm"`, toolCall}, sentBack + `}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := dialectOf(t, c.dialect)
			whole, fault, err := decodeAs(d, []byte(`{"choices":[{"finish_reason":"tool_calls","message":{"content":null,`+c.message+`}}]}`), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			var chunks []string
			for _, p := range c.pieces {
				chunks = append(chunks, delta(p, ``))
			}
			streamed, complete := decodeStream(t, d, events(append(chunks, delta(``, `,"finish_reason":"tool_calls"`), "[DONE]")...))
			require.True(t, complete)
			require.Equal(t, string(whole.Continuation), string(streamed.Continuation))
			again := providers.Message{Role: providers.RoleAssistant, Calls: whole.Calls, Continuation: whole.Continuation}
			got, _ := messagesOf(t, d, again)
			require.Equal(t, `[{"role":"assistant","content":null,`+c.want+`}]`, got)
			plain, _ := messagesOf(t, dialectOf(t, "together"), again)
			require.Equal(t, `[{"role":"assistant","content":null,`+sentBack+`}]}]`, plain)
		})
	}
	d := dialectOf(t, "deepseek")
	reply, _, err := decodeAs(d, []byte(`{"choices":[{"message":{"content":"a","reasoning_content":"hm"}}]}`), "")
	require.NoError(t, err)
	require.Nil(t, reply.Continuation, "without calls nothing goes back")
	for _, foreign := range []string{`{"wire":"other","reasoning_content":"x"}`, `[1]`, `oops`} {
		got, _ := messagesOf(t, d, providers.Message{Role: providers.RoleAssistant, Text: "t", Calls: []providers.ToolCall{{ID: "a", Name: "f", Args: "{}"}}, Continuation: []byte(foreign)})
		require.NotContains(t, got, "reasoning")
	}
}
