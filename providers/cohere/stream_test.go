package cohere

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

const streamed = `event: message-start
data: {"id":"x","type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}

event: content-start
data: {"type":"content-start","index":0,"delta":{"message":{"content":{"type":"thinking","thinking":""}}}}

event: content-delta
data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"hm"}}}}

event: content-end
data: {"type":"content-end","index":0}

event: content-start
data: {"type":"content-start","index":1,"delta":{"message":{"content":{"type":"text","text":""}}}}

event: content-delta
data: {"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"It is"}}},"logprobs":{"token_ids":[1],"text":"It is","logprobs":[-0.1]}}

event: content-delta
data: {"type":"content-delta","index":1,"delta":{"message":{"content":{"text":" 24°C."}}}}

event: citation-start
data: {"type":"citation-start","index":0,"delta":{"message":{"citations":{"start":6,"end":10,"text":"24°C","sources":[{"type":"tool","id":"t:0"}],"type":"TEXT_CONTENT"}}}}

event: citation-end
data: {"type":"citation-end","index":0}

event: content-end
data: {"type":"content-end","index":1}

event: message-end
data: {"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":3,"output_tokens":4},"tokens":{"input_tokens":500,"output_tokens":9},"cached_tokens":480}}}

data: [DONE]

`

const toolStream = `data: {"id":"x","type":"message-start","delta":{"message":{"role":"assistant"}}}

data: {"type":"tool-plan-delta","delta":{"message":{"tool_plan":"I will"}}}

data: {"type":"tool-plan-delta","delta":{"message":{"tool_plan":" look."}}}

data: {"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"f_1","type":"function","function":{"name":"f","arguments":""}}}}}

data: {"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{\"city\":"}}}}}

data: {"type":"tool-call-start","index":1,"delta":{"message":{"tool_calls":[{"id":"f_2","type":"function","function":{"name":"f","arguments":""}}]}}}

data: {"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":" \"Rome\"}"}}}}}

data: {"type":"tool-call-end","index":0}

data: {"type":"tool-call-delta","index":1,"delta":{"message":{"tool_calls":[{"function":{"arguments":"{}"}}]}}}

data: {"type":"tool-call-end","index":1}

data: {"type":"message-end","delta":{"finish_reason":"TOOL_CALL","usage":{"tokens":{"input_tokens":913,"output_tokens":83}}}}

`

const oldStream = `{"is_finished":false,"event_type":"stream-start","generation_id":"g"}
{"is_finished":false,"event_type":"search-queries-generation","search_queries":[]}
{"is_finished":false,"event_type":"text-generation","text":"Hi"}
{"is_finished":false,"event_type":"text-generation","text":" there"}
{"is_finished":true,"event_type":"stream-end","response":{"response_id":"x","text":"Hi there","generation_id":"g","finish_reason":"COMPLETE","meta":{"tokens":{"input_tokens":7,"output_tokens":3}}},"finish_reason":"COMPLETE"}
`

func TestStreams(t *testing.T) {
	calls := []providers.ToolCall{{ID: "f_1", Name: "f", Args: `{"city": "Rome"}`}, {ID: "f_2", Name: "f", Args: `{}`}}
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{
			"thinking, text and a citation", streamed,
			providers.Reply{Text: "It is 24°C.", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "COMPLETE", Usage: providers.Usage{Reported: true, Input: 3, Output: 4, Processed: &providers.Processed{Input: 500, Output: 9}}},
		},
		{
			"a plan and two calls, interleaved", toolStream,
			providers.Reply{Reasoning: "I will look.", Calls: calls, Finish: providers.FinishTools, FinishRaw: "TOOL_CALL", Usage: providers.Usage{Reported: true, Input: 913, Output: 83}, Continuation: []byte(`{"cohere":{"tool_plan":"I will look."}}`)},
		},
		{"version 1, as lines", oldStream, providers.Reply{Text: "Hi there", Finish: providers.FinishStop, FinishRaw: "COMPLETE", Usage: providers.Usage{Reported: true, Input: 7, Output: 3}}},
		{"version 1, as events", "data: " + strings.ReplaceAll(strings.TrimSpace(oldStream), "\n", "\n\ndata: "), providers.Reply{Text: "Hi there", Finish: providers.FinishStop, FinishRaw: "COMPLETE", Usage: providers.Usage{Reported: true, Input: 7, Output: 3}}},
		{
			"version 1, calls", `{"is_finished":false,"event_type":"tool-calls-chunk","text":"I will"}` + "\n" +
				`{"is_finished":false,"event_type":"tool-calls-chunk","tool_call_delta":{"index":0,"name":"f"}}` + "\n" +
				`{"is_finished":false,"event_type":"tool-calls-generation","text":"I will","tool_calls":[{"name":"f","parameters":{"a":1}}]}` + "\n" +
				`{"is_finished":true,"event_type":"stream-end","finish_reason":"COMPLETE","response":{"response_id":"x","text":"I will","tool_calls":[{"name":"f","parameters":{"a":1}}]}}`,
			providers.Reply{Text: "I will", Calls: []providers.ToolCall{{ID: "call_1", Name: "f", Args: `{"a":1}`}}, Finish: providers.FinishTools, FinishRaw: "COMPLETE"},
		},
		{"version 1, the end alone", `{"event_type":"stream-end","finish_reason":"MAX_TOKENS","response":{"response_id":"x","text":"Hi"}}`, providers.Reply{Text: "Hi", Finish: providers.FinishLength, FinishRaw: "MAX_TOKENS"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := wire.Decode(&decoder{}, framing, []byte("\n "+c.body), true, "")
			require.NoError(t, err)
			require.True(t, complete)
			c.want.RequestID, c.want.RawUsage = "x", got.RawUsage
			require.Equal(t, c.want, got)
			require.Equal(t, got.Usage.Reported, got.RawUsage != nil)
		})
	}
}

// The frames do not depend on how the bytes are split.
func TestFramingOfSmallReads(t *testing.T) {
	for _, body := range []string{streamed, oldStream} {
		var whole, pieces []wire.Frame
		require.NoError(t, framing.Cut(strings.NewReader(body), 1<<20, func(f wire.Frame) error { whole = append(whole, f); return nil }))
		require.NoError(t, framing.Cut(iotest.OneByteReader(strings.NewReader(body)), 1<<20, func(f wire.Frame) error { pieces = append(pieces, f); return nil }))
		require.NotEmpty(t, whole)
		require.Equal(t, whole, pieces)
	}
}

func TestNotAStream(t *testing.T) {
	for name, body := range map[string]string{
		"no type":               `data: {"delta":{}}`,
		"a delta of no call":    `data: {"type":"tool-call-delta","index":3,"delta":{"message":{"tool_calls":{"function":{"arguments":"{}"}}}}}`,
		"content of a number":   `data: {"type":"content-delta","delta":{"message":{"content":7}}}`,
		"calls of a number":     `data: {"type":"tool-call-start","delta":{"message":{"tool_calls":7}}}`,
		"an end that is a text": `{"event_type":"stream-end","response":"x"}`,
		"no JSON":               `data: upstream is resting`,
	} {
		t.Run(name, func(t *testing.T) {
			_, complete, err := wire.Decode(&decoder{}, framing, []byte(body+"\n\n"), true, "")
			require.Error(t, err)
			require.False(t, complete)
			var f *wire.Fault
			require.NotErrorAs(t, err, &f)
		})
	}
}
