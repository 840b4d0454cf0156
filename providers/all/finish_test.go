package all

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers/fault"
)

// TestAStreamThatBreaksOffAfterItsFinishReason: a finish reason without the stream's
// own end mark counts only if the body ends cleanly, and only if the API has no such
// mark or sends only the usage after the finish reason.
func TestAStreamThatBreaksOffAfterItsFinishReason(t *testing.T) {
	events := func(list ...string) string { return "data: " + strings.Join(list, "\n\ndata: ") + "\n\n" }
	lines := func(list ...string) string { return strings.Join(list, "\n") + "\n" }
	for name, c := range map[string]struct {
		wire, body, end string
		clean           bool // the stream is complete without the end mark, if the body ends cleanly
	}{
		"anthropic":         {"anthropic", events(`{"type":"message_start","message":{"model":"m","content":[]}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`), events(`{"type":"message_stop"}`), false},
		"vertex-anthropic":  {"vertex-anthropic", events(`{"type":"message_start","message":{"model":"m","content":[]}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`), events(`{"type":"message_stop"}`), false},
		"bedrock, converse": {"bedrock", messages(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a"}}`, "messageStop", `{"stopReason":"end_turn"}`), messages(t, "metadata", `{"usage":{"inputTokens":1,"outputTokens":1}}`), true},
		"bedrock, invoke":   {"bedrock", messages(t, "chunk", `{"bytes":"eyJjb21wbGV0aW9uIjoiYSIsInN0b3BfcmVhc29uIjoic3RvcF9zZXF1ZW5jZSJ9"}`), "", true},
		"cohere":            {"cohere", events(`{"type":"message-start","id":"x"}`, `{"type":"content-delta","delta":{"message":{"content":{"text":"a"}}}}`), events(`{"type":"message-end","delta":{"finish_reason":"COMPLETE"}}`), false},
		"cohere, version 1": {"cohere", lines(`{"event_type":"text-generation","text":"a"}`), lines(`{"event_type":"stream-end","finish_reason":"COMPLETE"}`), false},
		"gemini":            {"gemini", events(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`), "", true},
		"vertex":            {"vertex", events(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`), "", true},
		"ollama":            {"ollama", lines(`{"model":"m","message":{"content":"a"},"done":false}`), lines(`{"model":"m","message":{"content":""},"done":true,"done_reason":"stop"}`), false},
		"tgi":               {"tgi", events(`{"token":{"text":"a"}}`), events(`{"token":{"text":"","special":true},"generated_text":"a","details":{"finish_reason":"eos_token"}}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(body io.Reader) error {
				_, err := exchange(t, c.wire, recording{}, body, true)
				return err
			}
			broken := func(err error) {
				var e *fault.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, fault.Transport, e.Kind)
			}
			require.NoError(t, read(strings.NewReader(c.body+c.end)))
			broken(read(io.MultiReader(strings.NewReader(c.body), iotest.ErrReader(errors.New("connection reset")))))
			if cut := read(strings.NewReader(c.body)); c.clean {
				require.NoError(t, cut)
			} else {
				broken(cut)
			}
		})
	}
}

// messages writes events, each a name and its content, in AWS's event framing.
func messages(t *testing.T, list ...string) string {
	t.Helper()
	var body bytes.Buffer
	for i := 0; i < len(list); i += 2 {
		m := eventstream.Message{Payload: []byte(list[i+1])}
		m.Headers.Set(":message-type", eventstream.StringValue("event"))
		m.Headers.Set(":event-type", eventstream.StringValue(list[i]))
		require.NoError(t, eventstream.NewEncoder().Encode(&body, m))
	}
	return body.String()
}

// exceptionOf returns an error within a stream of AWS.
func exceptionOf(t *testing.T, kind, payload string) string {
	t.Helper()
	var body bytes.Buffer
	m := eventstream.Message{Payload: []byte(payload)}
	m.Headers.Set(":message-type", eventstream.StringValue("exception"))
	m.Headers.Set(":exception-type", eventstream.StringValue(kind))
	require.NoError(t, eventstream.NewEncoder().Encode(&body, m))
	return body.String()
}
