package bedrock

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

func TestInvokedBodies(t *testing.T) {
	counts := providers.Usage{Reported: true, Input: 3, Output: 2}
	for _, c := range []struct {
		name, body string
		want       providers.Reply
		raw        string
	}{
		{
			"Anthropic Messages", `{"id":"msg","type":"message","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a"},{"type":"tool_use","id":"i","name":"n","input":{"b": 1}}],"stop_reason":"max_tokens","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":7,"cache_read_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":1,"ephemeral_1h_input_tokens":6},"output_tokens":4,"output_tokens_details":{"thinking_tokens":1},"service_tier":"standard"}}`,
			providers.Reply{
				Text: "a", Reasoning: "hm", Model: "claude-x", Finish: providers.FinishLength, FinishRaw: "max_tokens", Calls: []providers.ToolCall{{ID: "i", Name: "n", Args: `{"b": 1}`}},
				Usage: providers.Usage{Reported: true, Input: 3, Output: 3, Reasoning: 1, CacheRead: 5, CacheWrite: 7, CacheWriteLong: 6, Tier: "standard"},
			},
			`{"input_tokens":3,"cache_creation_input_tokens":7,"cache_read_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":1,"ephemeral_1h_input_tokens":6},"output_tokens":4,"output_tokens_details":{"thinking_tokens":1},"service_tier":"standard"}`,
		},
		{"Anthropic Text Completions", `{"type":"completion","completion":" a","stop_reason":"stop_sequence","stop":"\n\nHuman:"}`, providers.Reply{Text: " a", Finish: providers.FinishStop, FinishRaw: "stop_sequence"}, ""},
		{"Titan", `{"inputTextTokenCount":3,"results":[{"tokenCount":2,"outputText":"a","completionReason":"LENGTH"}]}`, providers.Reply{Text: "a", Finish: providers.FinishLength, FinishRaw: "LENGTH", Usage: counts}, `{"inputTextTokenCount":3,"results":[{"tokenCount":2}]}`},
		{"Titan, blocked", `{"inputTextTokenCount":3,"results":[{"tokenCount":2,"outputText":"Sorry.","completionReason":"FINISH"}],"amazon-bedrock-guardrailAction":"INTERVENED","amazon-bedrock-trace":{}}`, providers.Reply{Text: "Sorry.", Finish: providers.FinishRefusal, FinishRaw: "FINISH", Usage: counts}, `{"inputTextTokenCount":3,"results":[{"tokenCount":2}]}`},
		{"Titan, let through", `{"inputTextTokenCount":3,"results":[{"tokenCount":2,"outputText":"a","completionReason":"FINISH"}],"amazon-bedrock-guardrailAction":"NONE"}`, providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "FINISH", Usage: counts}, `{"inputTextTokenCount":3,"results":[{"tokenCount":2}]}`},
		{"Llama", `{"generation":"\na","prompt_token_count":3,"generation_token_count":2,"stop_reason":"stop"}`, providers.Reply{Text: "\na", Finish: providers.FinishStop, FinishRaw: "stop", Usage: counts}, `{"prompt_token_count":3,"generation_token_count":2}`},
		{"Mistral", `{"outputs":[{"text":"a","stop_reason":"length"}]}`, providers.Reply{Text: "a", Finish: providers.FinishLength, FinishRaw: "length"}, ""},
		{
			"Mistral's chat", `{"choices":[{"index":0,"message":{"role":"assistant","content":"","tool_calls":[{"id":"i","function":{"name":"n","arguments":"{\"b\": 1}"}},{"id":"j","function":{"name":"n","arguments":"{}"}}]},"stop_reason":"tool_calls"}]}`,
			providers.Reply{Finish: providers.FinishTools, FinishRaw: "tool_calls", Calls: []providers.ToolCall{{ID: "i", Name: "n", Args: `{"b": 1}`}, {ID: "j", Name: "n", Args: "{}"}}}, "",
		},
		{"Cohere Command", `{"generations":[{"finish_reason":"COMPLETE","id":"g","text":" a"},{"finish_reason":"MAX_TOKENS","text":"second"}],"id":"x","prompt":"p"}`, providers.Reply{Text: " a", Finish: providers.FinishStop, FinishRaw: "COMPLETE"}, ""},
		{
			"Cohere Command R", `{"response_id":"r","text":"a","generation_id":"g","finish_reason":"COMPLETE","tool_calls":[{"name":"n","parameters":{"b":1}}],"chat_history":[{"role":"USER","message":"hi"}]}`,
			providers.Reply{Text: "a", Finish: providers.FinishTools, FinishRaw: "COMPLETE", Calls: []providers.ToolCall{{ID: "call_1", Name: "n", Args: `{"b":1}`}}}, "",
		},
		{"AI21 Jurassic-2", `{"id":1234,"prompt":{"text":"p","tokens":[{"generatedToken":{"token":"p"}}]},"completions":[{"data":{"text":"\na","tokens":[]},"finishReason":{"reason":"endoftext"}}]}`, providers.Reply{Text: "\na", Finish: providers.FinishStop, FinishRaw: "endoftext"}, ""},
		{
			"chat completions", `{"id":"c","model":"jamba","choices":[{"index":0,"message":{"role":"assistant","content":"a","reasoning_content":"hm"},"finish_reason":"stop"}],"usage":{"prompt_tokens":8,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens_details":{"reasoning_tokens":1}}}`,
			providers.Reply{Text: "a", Reasoning: "hm", Model: "jamba", Finish: providers.FinishStop, FinishRaw: "stop", Usage: providers.Usage{Reported: true, Input: 3, CacheRead: 5, Output: 2, Reasoning: 1}},
			`{"prompt_tokens":8,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens_details":{"reasoning_tokens":1}}`,
		},
		{"DeepSeek", `{"choices":[{"index":0,"text":"a","stop_reason":"length"}]}`, providers.Reply{Text: "a", Finish: providers.FinishLength, FinishRaw: "length"}, ""},
		{"no reason", `{"completion":"a","stop_reason":null}`, providers.Reply{Text: "a", Finish: providers.FinishOther}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := decode([]byte(c.body))
			require.NoError(t, err)
			require.True(t, complete)
			require.Equal(t, c.raw, string(got.RawUsage))
			got.RawUsage = nil
			require.Equal(t, c.want, got)
		})
	}
}

func TestInvokedStreams(t *testing.T) {
	const metrics = `"amazon-bedrock-invocationMetrics":{"inputTokenCount":3,"outputTokenCount":2,"invocationLatency":9,"firstByteLatency":4}`
	counted := providers.Usage{Reported: true, Input: 3, Output: 2}
	for _, c := range []struct {
		name   string
		chunks []string
		want   providers.Reply
	}{
		{
			"Anthropic Messages: its own counts before the metrics", []string{
				`{"type":"message_start","message":{"model":"claude-x","id":"msg","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":5,"output_tokens":1}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"ping"}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, `{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"i","name":"n","input":{}}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"b\":1}"}}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":null,"output_tokens":7}}`, `{"type":"message_stop",` + metrics + `}`,
			},
			providers.Reply{
				Text: "a", Model: "claude-x", Finish: providers.FinishTools, FinishRaw: "tool_use", Calls: []providers.ToolCall{{ID: "i", Name: "n", Args: `{"b":1}`}},
				Usage: providers.Usage{Reported: true, Input: 3, Output: 7, CacheRead: 5, NotUnderstood: []string{"amazon-bedrock-invocationMetrics: counts another number of tokens than the model"}}, RawUsage: []byte(`{"cache_read_input_tokens":5,"input_tokens":3,"output_tokens":7}`),
			},
		},
		{
			"Anthropic thinking", []string{`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop",` + metrics + `}`},
			providers.Reply{Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "end_turn", Usage: counted},
		},
		{"Anthropic Text Completions, nothing said", []string{`{"completion":"","stop_reason":"stop_sequence","stop":"\n\nHuman:",` + metrics + `}`}, providers.Reply{Finish: providers.FinishStop, FinishRaw: "stop_sequence", Usage: counted}},
		{
			"Titan", []string{`{"outputText":"a","index":0,"totalOutputTextTokenCount":null,"completionReason":null,"inputTextTokenCount":3}`, `{"outputText":"b","index":0,"totalOutputTextTokenCount":2,"completionReason":"FINISH","inputTextTokenCount":null,` + metrics + `}`},
			providers.Reply{Text: "ab", Finish: providers.FinishStop, FinishRaw: "FINISH", Usage: counted},
		},
		{
			"blocked, counted in floats, without metrics", []string{`{"outputText":"Sorry.","index":0.0,"totalOutputTextTokenCount":2.0,"inputTextTokenCount":3.0,"amazon-bedrock-guardrailAction":"INTERVENED"}`},
			providers.Reply{Text: "Sorry.", Finish: providers.FinishRefusal, Usage: counted},
		},
		{
			"Llama", []string{`{"generation":"a","prompt_token_count":3,"generation_token_count":1,"stop_reason":null}`, `{"generation":"","prompt_token_count":null,"generation_token_count":2,"stop_reason":"stop",` + metrics + `}`},
			providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "stop", Usage: counted},
		},
		{"Mistral", []string{`{"outputs":[{"text":"a","stop_reason":null}]}`, `{"outputs":[{"text":"","stop_reason":"stop"}],` + metrics + `}`}, providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "stop", Usage: counted}},
		{
			"Cohere Command R", []string{
				`{"is_finished":false,"event_type":"text-generation","text":"a"}`, `{"is_finished":false,"event_type":"tool-calls-generation","tool_calls":[{"name":"n","parameters":{}}]}`,
				`{"is_finished":true,"event_type":"stream-end","finish_reason":"COMPLETE","response":{"text":"a","tool_calls":[{"name":"n","parameters":{}}]},` + metrics + `}`,
			},
			providers.Reply{Text: "a", Finish: providers.FinishTools, FinishRaw: "COMPLETE", Calls: []providers.ToolCall{{ID: "call_1", Name: "n", Args: "{}"}}, Usage: counted},
		},
		{
			"chat completions", []string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":"a","tool_calls":[{"index":0,"id":"i","function":{"name":"n","arguments":"{\"b\""}}]}}]}`, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":"tool_calls"}]}`, `{"choices":[],` + metrics + `}`},
			providers.Reply{Text: "a", Finish: providers.FinishTools, FinishRaw: "tool_calls", Calls: []providers.ToolCall{{ID: "i", Name: "n", Args: `{"b":1}`}}, Usage: counted},
		},
		{
			"Nova: events of Converse", []string{
				`{"messageStart":{"role":"assistant"}}`, `{"contentBlockDelta":{"delta":{"text":"a"},"contentBlockIndex":0}}`, `{"contentBlockStart":{"start":{"toolUse":{"toolUseId":"i","name":"n"}},"contentBlockIndex":1}}`,
				`{"contentBlockDelta":{"delta":{"toolUse":{"input":"{}"}},"contentBlockIndex":1}}`, `{"contentBlockStop":{"contentBlockIndex":1}}`, `{"messageStop":{"stopReason":"tool_use"}}`,
				`{"metadata":{"usage":{"inputTokens":3,"outputTokens":2},"metrics":{},"trace":{}},` + metrics + `}`,
			},
			providers.Reply{Text: "a", Finish: providers.FinishTools, FinishRaw: "tool_use", Calls: []providers.ToolCall{{ID: "i", Name: "n", Args: "{}"}}, Usage: counted, RawUsage: []byte(`{"inputTokens":3,"outputTokens":2}`)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := decode(chunked(t, c.chunks...))
			require.NoError(t, err)
			require.True(t, complete)
			if c.want.RawUsage == nil {
				got.RawUsage = nil
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestInvokedStreamsThatFail(t *testing.T) {
	half := chunked(t, `{"outputText":"a","index":0,"completionReason":null}`)
	_, complete, err := decode(half)
	require.NoError(t, err)
	require.False(t, complete)
	_, _, err = decode(append(bytes.Clone(half), chunked(t, `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`)...))
	var f *wire.Fault
	require.ErrorAs(t, err, &f)
	require.Equal(t, wire.Fault{Type: "overloaded_error", Message: "m"}, *f)
	for _, bad := range []string{`{"bytes":"?"}`, `{"bytes":"bm8="}`, `{"bytes":"eyJ0eXBlIjoxfQ=="}`, "no"} {
		_, complete, err = decode(events(t, "chunk", bad))
		require.Error(t, err, bad)
		require.False(t, complete)
	}
}
