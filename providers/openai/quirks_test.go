package openai

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// TestNothingSaid: a reply can be empty and state a reason.
func TestNothingSaid(t *testing.T) {
	calls := []providers.ToolCall{{ID: "a", Name: "f", Args: "{}"}}
	const call = `"content":"","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{"empty text beside calls", `{"choices":[{"message":{` + call + `},"finish_reason":"tool_calls"}]}`, providers.Reply{Calls: calls, Finish: providers.FinishTools, FinishRaw: "tool_calls"}},
		{"empty text beside calls, streamed", string(events(delta(call, ``), delta(``, `,"finish_reason":"tool_calls"`), "[DONE]")), providers.Reply{Calls: calls, Finish: providers.FinishTools, FinishRaw: "tool_calls", Model: "m", RequestID: "x"}},
		{"calls with the reason stop", `{"choices":[{"message":{` + call + `},"finish_reason":"stop"}]}`, providers.Reply{Calls: calls, Finish: providers.FinishTools, FinishRaw: "stop"}},
		{"cut before the first word", `{"choices":[{"message":{"content":"","reasoning":"The user"},"finish_reason":"length"}]}`, providers.Reply{Reasoning: "The user", Finish: providers.FinishLength, FinishRaw: "length"}},
		{"cut before the first word, streamed", string(events(delta(`"role":"assistant","content":""`, ``), delta(``, `,"finish_reason":"length"`), "[DONE]")), providers.Reply{Finish: providers.FinishLength, FinishRaw: "length", Model: "m", RequestID: "x"}},
		{"an empty completion", `{"choices":[{"text":"","index":0,"finish_reason":"stop"}]}`, providers.Reply{Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"an empty list of parts", `{"choices":[{"message":{"content":[]},"finish_reason":"stop"}]}`, providers.Reply{Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"filtered away", `{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}`, providers.Reply{Finish: providers.FinishRefusal, FinishRaw: "content_filter"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(c.body), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			require.Equal(t, c.want, got)
		})
	}
}

// TestLinesOfAStream reads the forms that the standard for event streams allows.
func TestLinesOfAStream(t *testing.T) {
	a, b := delta(`"content":"a"`, ``), delta(`"content":"b"`, `,"finish_reason":"stop"`)
	for name, body := range map[string]string{
		"no space after data":  "data:" + a + "\n\ndata:" + b + "\n\ndata:[DONE]\n\n",
		"CRLF":                 "data: " + a + "\r\n\r\ndata: " + b + "\r\n\r\ndata: [DONE]\r\n\r\n",
		"comments":             ": PROCESSING\n\n" + ": more\ndata: " + a + "\n\n:\n\ndata: " + b + "\n\ndata: [DONE]\n\n",
		"an end with a blank":  "data: " + a + "\n\ndata: " + b + "\n\ndata: [DONE] \n\n",
		"no blank line at end": "data: " + a + "\n\ndata: " + b + "\n\ndata: [DONE]",
		"no end":               "data: " + a + "\n\ndata: " + b + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, complete := decodeStream(t, Dialect{}, []byte(body))
			require.True(t, complete)
			require.Equal(t, "ab", got.Text)
			require.Equal(t, providers.FinishStop, got.Finish)
		})
	}
}
