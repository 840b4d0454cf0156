package cohere

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

func TestReplyForms(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{"text", `{"id":"x","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"finish_reason":"COMPLETE"}`, providers.Reply{Text: "ab", Finish: providers.FinishStop, FinishRaw: "COMPLETE"}},
		{"stop sequence", `{"id":"x","message":{"content":"a"},"finish_reason":"STOP_SEQUENCE"}`, providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "STOP_SEQUENCE"}},
		{"thinking", `{"id":"x","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}]},"finish_reason":"MAX_TOKENS"}`, providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishLength, FinishRaw: "MAX_TOKENS"}},
		{"a block of another type", `{"id":"x","message":{"content":[{"type":"document","document":{}},{"type":"text","text":"a"}],"citations":[{}]},"finish_reason":"COMPLETE"}`, providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "COMPLETE"}},
		{
			"plan and calls", `{"id":"x","message":{"tool_plan":"I will","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"function":{"name":"f","arguments":""}}]},"finish_reason":"TOOL_CALL"}`,
			providers.Reply{
				Reasoning: "I will", Finish: providers.FinishTools, FinishRaw: "TOOL_CALL", Continuation: []byte(`{"cohere":{"tool_plan":"I will"}}`),
				Calls: []providers.ToolCall{{ID: "c1", Name: "f", Args: `{"a": 1}`}, {ID: "call_2", Name: "f", Args: `{}`}},
			},
		},
		{"no reason", `{"id":"x","message":{"content":null}}`, providers.Reply{Finish: providers.FinishOther}},
		{"version 1", `{"response_id":"x","text":"a","generation_id":"y","chat_history":[{"message":"b"}],"finish_reason":"COMPLETE","meta":{"api_version":{"version":"1"}}}`, providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "COMPLETE"}},
		{
			"version 1, calls", `{"response_id":"x","text":"I will","tool_calls":[{"name":"f","parameters":{ "a" : 1.0 }}],"finish_reason":"COMPLETE"}`,
			providers.Reply{Text: "I will", Finish: providers.FinishTools, FinishRaw: "COMPLETE", Calls: []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{ "a" : 1.0 }`}}},
		},
		{"version 1, unsafe", `{"response_id":"x","text":"","finish_reason":"ERROR_TOXIC"}`, providers.Reply{Finish: providers.FinishRefusal, FinishRaw: "ERROR_TOXIC"}},
		{"version 1, window full", `{"response_id":"x","text":"a","finish_reason":"ERROR_LIMIT"}`, providers.Reply{Text: "a", Finish: providers.FinishLength, FinishRaw: "ERROR_LIMIT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := wire.Decode(&decoder{}, framing, []byte(c.body), true, "")
			require.NoError(t, err)
			require.True(t, complete)
			c.want.RequestID = "x"
			require.Equal(t, c.want, got)
		})
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name, usage string
		want        providers.Usage
		raw         bool
		warnings    int
	}{
		{"what is billed", `{"billed_units":{"input_tokens":12,"output_tokens":10},"tokens":{"input_tokens":614,"output_tokens":13},"cached_tokens":480}`, providers.Usage{Reported: true, Input: 12, Output: 10, Processed: &providers.Processed{Input: 614, Output: 13}}, true, 0},
		{"all is billed", `{"billed_units":{"input_tokens":614,"output_tokens":13},"tokens":{"input_tokens":614,"output_tokens":13},"cached_tokens":480}`, providers.Usage{Reported: true, Input: 134, Output: 13, CacheRead: 480}, true, 0},
		{"reasoning beside what is billed", `{"billed_units":{"input_tokens":431,"output_tokens":661,"reasoning_tokens":590},"tokens":{"input_tokens":2190,"output_tokens":1257}}`, providers.Usage{Reported: true, Input: 431, Output: 661, Reasoning: 590, Processed: &providers.Processed{Input: 2190, Output: 1257}}, true, 0},
		{"reasoning among what was processed", `{"billed_units":{"input_tokens":431,"output_tokens":661},"tokens":{"input_tokens":2190,"output_tokens":1257,"reasoning_tokens":590}}`, providers.Usage{Reported: true, Input: 431, Output: 661, Reasoning: 590, Processed: &providers.Processed{Input: 2190, Output: 1257}}, true, 0},
		{"reasoning beside the counts, part of what is billed", `{"billed_units":{"input_tokens":4,"output_tokens":661},"tokens":{"input_tokens":4,"output_tokens":663},"reasoning_tokens":590}`, providers.Usage{Reported: true, Input: 4, Output: 71, Reasoning: 590, Processed: &providers.Processed{Input: 4, Output: 663}}, true, 0},
		{"reasoning without anything billed", `{"tokens":{"input_tokens":4,"output_tokens":661,"reasoning_tokens":590}}`, providers.Usage{Reported: true, Input: 4, Output: 71, Reasoning: 590}, true, 0},
		{"reasoning of two readings", `{"billed_units":{"input_tokens":4,"output_tokens":661,"reasoning_tokens":590}}`, providers.Usage{Reported: true, Input: 4, Output: 661, Reasoning: 590, Other: &providers.Usage{Reported: true, Input: 4, Output: 71, Reasoning: 590}}, true, 0},
		{"reasoning with one reading", `{"billed_units":{"input_tokens":4,"output_tokens":61,"reasoning_tokens":590}}`, providers.Usage{Reported: true, Input: 4, Output: 61, Reasoning: 590}, true, 0},
		{"reasoning that does not fit", `{"billed_units":{"input_tokens":4,"output_tokens":61},"tokens":{"input_tokens":4,"output_tokens":70,"reasoning_tokens":590}}`, providers.Usage{Reported: true, Input: 4, Output: 61, Reasoning: 590, Processed: &providers.Processed{Input: 4, Output: 70}, NotUnderstood: []string{"reasoning_tokens: is more than the output tokens"}}, true, 0},
		{"billed more than processed", `{"billed_units":{"input_tokens":14,"output_tokens":10},"tokens":{"input_tokens":12,"output_tokens":10}}`, providers.Usage{Reported: true, Input: 14, Output: 10, Processed: &providers.Processed{Input: 12, Output: 10}, NotUnderstood: []string{"billed_units: is more than was processed"}}, true, 0},
		{"searches", `{"billed_units":{"input_tokens":4,"output_tokens":1,"search_units":2,"classifications":1}}`, providers.Usage{Reported: true, Input: 4, Output: 1, ServerTools: map[string]int64{"classification": 1, "search": 2}}, true, 0},
		{"images", `{"billed_units":{"input_tokens":4,"output_tokens":1,"image_tokens":2}}`, providers.Usage{Reported: true, Input: 4, Output: 1, NotUnderstood: []string{"billed_units.image_tokens: not understood"}}, true, 0},
		{"floats", `{"tokens":{"input_tokens":913.0,"output_tokens":83.0}}`, providers.Usage{Reported: true, Input: 913, Output: 83}, true, 0},
		{"more cached than read", `{"tokens":{"input_tokens":5,"output_tokens":1},"cached_tokens":9}`, providers.Usage{Reported: true, Output: 1, CacheRead: 9, NotUnderstood: []string{"cached_tokens: is more than tokens.input_tokens"}}, true, 0},
		{"only billed units", `{"billed_units":{"input_tokens":12,"output_tokens":10}}`, providers.Usage{Reported: true, Input: 12, Output: 10}, true, 0},
		{"half", `{"tokens":{"output_tokens":13}}`, providers.Usage{Output: 13}, true, 0},
		{"null", `null`, providers.Usage{}, false, 0},
		{"no counts", `{"api_version":{"version":"1"}}`, providers.Usage{}, false, 0},
		{"of a wrong type", `{"tokens":{"input_tokens":"1"}}`, providers.Usage{}, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, body := range []string{`{"message":{"content":"paid for"},"usage":` + c.usage + `}`, `{"text":"paid for","meta":` + c.usage + `}`} {
				got, _, err := wire.Decode(&decoder{}, framing, []byte(body), false, "")
				require.NoError(t, err)
				require.Equal(t, c.want, got.Usage)
				require.Equal(t, "paid for", got.Text)
				require.Len(t, got.Warnings, c.warnings)
				if c.raw {
					require.Equal(t, c.usage, string(got.RawUsage))
				} else {
					require.Nil(t, got.RawUsage)
				}
			}
		})
	}
}

// TestCallsThatAreLeftOut checks that a call of another kind is reported.
func TestCallsThatAreLeftOut(t *testing.T) {
	const call = `{"id":"c","type":"custom","custom":{"name":"n"}}`
	for _, body := range []string{
		`{"message":{"tool_calls":[` + call + `]},"finish_reason":"TOOL_CALL"}`,
		`data: {"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":` + call + `}}}` + "\n\n" + `data: {"type":"message-end","delta":{"finish_reason":"TOOL_CALL"}}` + "\n\n",
	} {
		got, complete, err := wire.Decode(&decoder{}, framing, []byte(body), true, "")
		require.True(t, complete)
		require.Contains(t, fmt.Sprint(err, got.Warnings), "does not read: custom")
		require.Empty(t, got.Calls)
	}
}

// TestAReplyWithoutItsMessage checks that the usage is kept, because it is paid for,
// and that the error states the reason.
func TestAReplyWithoutItsMessage(t *testing.T) {
	const usage = `"usage":{"tokens":{"input_tokens":16,"output_tokens":2}}`
	got, _, err := wire.Decode(&decoder{}, framing, []byte(`{"id":"x","finish_reason":"COMPLETE",`+usage+`}`), false, "")
	require.EqualError(t, err, "decode reply: no message")
	require.Equal(t, providers.Usage{Reported: true, Input: 16, Output: 2}, got.Usage)
	require.Equal(t, "x", got.RequestID)
	got, _, err = wire.Decode(&decoder{}, framing, []byte(`{"id":"x","finish_reason":"TIMEOUT",`+usage+`}`), false, "")
	var f *wire.Fault
	require.ErrorAs(t, err, &f)
	require.Equal(t, "TIMEOUT", f.Type)
	require.True(t, got.Usage.Reported)
}

func TestNotAReply(t *testing.T) {
	for name, body := range map[string]string{
		"no message":          `{"id":"x","finish_reason":"COMPLETE"}`,
		"message is a list":   `{"message":[]}`,
		"content is a number": `{"message":{"content":1}}`,
		"text is a number":    `{"message":{"content":[{"text":1}]}}`,
		"calls are text":      `{"message":{"tool_calls":"f"}}`,
		"arguments are none":  `{"message":{"tool_calls":[{"function":{"arguments":{}}}]}}`,
		"null":                `null`,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := wire.Decode(&decoder{}, framing, []byte(body), false, "")
			require.Error(t, err)
			var f *wire.Fault
			require.NotErrorAs(t, err, &f)
		})
	}
}

func fuzz(f *testing.F, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, complete, err := wire.Decode(&decoder{}, framing, body, true, "")
		u := r.Usage
		require.GreaterOrEqual(t, min(u.Input, u.Output, u.CacheRead), int64(0))
		if err == nil && complete {
			require.NotEmpty(t, r.Finish)
		}
		ids := map[string]bool{}
		for _, c := range r.Calls {
			require.False(t, ids[c.ID] || c.ID == "")
			ids[c.ID] = true
		}
	})
}

func FuzzWhole(f *testing.F) {
	fuzz(f,
		`{"id":"x","message":{"tool_plan":"p","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"}],"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"TOOL_CALL","usage":{"tokens":{"input_tokens":1,"output_tokens":2},"cached_tokens":1}}`,
		`{"response_id":"x","text":"a","tool_calls":[{"name":"f","parameters":{}}],"finish_reason":"COMPLETE","meta":{"tokens":{}}}`,
		`{"message":"no"}`)
}

func FuzzStream(f *testing.F) { fuzz(f, streamed, toolStream, oldStream) }
