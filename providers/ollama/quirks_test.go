package ollama

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// TestQuirks reads what servers send beyond the documentation.
func TestQuirks(t *testing.T) {
	call := []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{"a":1}`}}
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{"calls with the reason stop", `{"message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":true,"done_reason":"stop"}`, providers.Reply{Calls: call, Finish: providers.FinishTools, FinishRaw: "stop"}},
		{"calls before the line that says stop", "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}}}]}}\n{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n", providers.Reply{Calls: call, Finish: providers.FinishTools, FinishRaw: "stop"}},
		{"the same tool twice", `{"message":{"tool_calls":[{"function":{"index":0,"name":"f","arguments":{"a":1}}},{"function":{"index":0,"name":"f","arguments":{"a":1}}}]},"done":true,"done_reason":"stop"}`, providers.Reply{Calls: append(call, providers.ToolCall{ID: "call_2", Name: "f", Args: `{"a":1}`}), Finish: providers.FinishTools, FinishRaw: "stop"}},
		{"nothing said", `{"message":{"content":""},"done":true,"done_reason":"stop"}`, providers.Reply{Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"nothing but thinking, cut", `{"message":{"content":"","thinking":"hm"},"done":true,"done_reason":"length"}`, providers.Reply{Reasoning: "hm", Finish: providers.FinishLength, FinishRaw: "length"}},
		{"lines of CRLF", "{\"message\":{\"content\":\"a\"}}\r\n\r\n{\"message\":{\"content\":\"b\"},\"done\":true,\"done_reason\":\"stop\"}\r\n", providers.Reply{Text: "ab", Finish: providers.FinishStop, FinishRaw: "stop"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := wire.Decode(&decoder{}, wire.Lines, []byte(c.body), true, "")
			require.NoError(t, err)
			require.True(t, complete)
			got.Continuation = nil
			require.Equal(t, c.want, got)
		})
	}
}
