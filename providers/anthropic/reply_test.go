package anthropic

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

func TestRequestBodies(t *testing.T) {
	temperature, zero, seed := 0.1, 0.0, int64(7)
	user := []providers.Message{{Role: "user", Text: "hi"}}
	for _, c := range []struct {
		name     string
		call     providers.Call
		want     string
		warnings []string
	}{
		{
			"everything", providers.Call{Model: "claude-3-5-haiku-latest", System: "sys", Messages: append(user, providers.Message{Role: "assistant", Text: "{"}), MaxTokens: 400, Temperature: &temperature, Seed: &seed, Stop: []string{"END"}, RequestID: "r"},
			`{"model":"claude-3-5-haiku-latest","max_tokens":400,"system":"sys","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"{"}],"temperature":0.1,"stop_sequences":["END"]}`,
			[]string{"seed: not part of the Messages API, not sent"},
		},
		{"only a model", providers.Call{Model: "m", Messages: user}, `{"model":"m","max_tokens":1024,"messages":[{"role":"user","content":"hi"}]}`, nil},
		{"no messages", providers.Call{Model: "m"}, `{"model":"m","max_tokens":1024,"messages":[]}`, nil},
		{"temperature zero is sent", providers.Call{Model: "claude-opus-4-6", Messages: user, Temperature: &zero}, `{"model":"claude-opus-4-6","max_tokens":1024,"messages":[{"role":"user","content":"hi"}],"temperature":0}`, nil},
		{"a family without temperature", providers.Call{Model: "claude-opus-4-7-20260416", Messages: user, Temperature: &zero}, `{"model":"claude-opus-4-7-20260416","max_tokens":1024,"messages":[{"role":"user","content":"hi"}]}`, []string{"temperature: not taken by this model, not sent"}},
		{"a name with only the same beginning", providers.Call{Model: "claude-opus-50", Messages: user, Temperature: &zero}, `{"model":"claude-opus-50","max_tokens":1024,"messages":[{"role":"user","content":"hi"}],"temperature":0}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, warnings := newRequest(c.call)
			text, err := json.Marshal(body)
			require.NoError(t, err)
			require.Equal(t, c.want, string(text))
			require.Equal(t, c.warnings, warnings)
		})
	}
}

func TestReplyForms(t *testing.T) {
	for _, c := range []struct {
		name, content, rest string
		want                providers.Reply
	}{
		{"text", `[{"type":"text","text":"a"}]`, `"stop_reason":"end_turn"`, providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "end_turn"}},
		{"several text blocks", `[{"type":"text","text":"a"},{"type":"text","text":"b","citations":[{}]}]`, `"stop_reason":"stop_sequence"`, providers.Reply{Text: "ab", Finish: providers.FinishStop, FinishRaw: "stop_sequence"}},
		{"thinking is not the answer", `[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"a"}]`, `"stop_reason":"end_turn"`, providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "end_turn", Continuation: []byte(`{"anthropic_content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"a"}]}`)}},
		{"only thinking", `[{"type":"thinking","thinking":"hm"}]`, `"stop_reason":"max_tokens"`, providers.Reply{Reasoning: "hm", Finish: providers.FinishLength, FinishRaw: "max_tokens", Continuation: []byte(`{"anthropic_content":[{"type":"thinking","thinking":"hm"}]}`)}},
		{"blocks of server tools", `[{"type":"server_tool_use","input":{"text":1}},{"type":"web_search_tool_result","content":[{"text":{}}],"text":5},{"type":"text","text":"a"}]`, `"stop_reason":"pause_turn"`, providers.Reply{
			Text: "a", Finish: providers.FinishOther, FinishRaw: "pause_turn",
			Continuation: []byte(`{"anthropic_content":[{"type":"server_tool_use","input":{"text":1}},{"type":"web_search_tool_result","content":[{"text":{}}],"text":5},{"type":"text","text":"a"}]}`),
		}},
		{"tool use", `[{"type":"tool_use","id":"t","name":"n","input":{}}]`, `"stop_reason":"tool_use"`, providers.Reply{Calls: []providers.ToolCall{{ID: "t", Name: "n", Args: "{}"}}, Finish: providers.FinishTools, FinishRaw: "tool_use"}},
		{"tool use as it came", `[{"type":"tool_use","id":"t","name":"n","input":{ "b":1.0, "a":"<" }},{"type":"tool_use","id":"t","name":"o","input":null}]`, `"stop_reason":"tool_use"`, providers.Reply{Calls: []providers.ToolCall{{ID: "t", Name: "n", Args: `{ "b":1.0, "a":"<" }`}, {ID: "call_2", Name: "o", Args: "{}"}}, Finish: providers.FinishTools, FinishRaw: "tool_use"}},
		{"the model's own think tags are text", `[{"type":"text","text":"<thinking>hm</thinking>a"}]`, `"stop_reason":"end_turn"`, providers.Reply{Text: "<thinking>hm</thinking>a", Finish: providers.FinishStop, FinishRaw: "end_turn"}},
		{"nothing but a stop sequence", `[]`, `"stop_reason":"stop_sequence","stop_sequence":"alpha"`, providers.Reply{Finish: providers.FinishStop, FinishRaw: "stop_sequence"}},
		{"empty content", `[]`, `"stop_reason":"end_turn"`, providers.Reply{Finish: providers.FinishStop, FinishRaw: "end_turn"}},
		{"window full", `[]`, `"stop_reason":"model_context_window_exceeded"`, providers.Reply{Finish: providers.FinishLength, FinishRaw: "model_context_window_exceeded"}},
		{"refusal", `[]`, `"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"no"}`, providers.Reply{Refusal: "no", Finish: providers.FinishRefusal, FinishRaw: "refusal"}},
		{"no stop reason", `[{"type":"text","text":"a"}]`, `"stop_reason":null`, providers.Reply{Text: "a", Finish: providers.FinishOther}},
		{"error null", `[{"type":"text","text":"a"}]`, `"error":null`, providers.Reply{Text: "a", Finish: providers.FinishOther}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(`{"type":"message","id":"x","model":"m","content":`+c.content+`,`+c.rest+`}`), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			c.want.Model, c.want.RequestID = "m", "x"
			require.Equal(t, c.want, got)
		})
	}
}

func TestUsageClasses(t *testing.T) {
	for _, c := range []struct {
		name, usage string
		want        providers.Usage
	}{
		{"the cache is not part of the input", `{"input_tokens":4,"cache_creation_input_tokens":11107,"cache_read_input_tokens":2836,"output_tokens":155,"output_tokens_details":{"thinking_tokens":26}}`, providers.Usage{Reported: true, Input: 4, Output: 129, CacheRead: 2836, CacheWrite: 11107, Reasoning: 26}},
		{"plain", `{"input_tokens":3,"output_tokens":0}`, providers.Usage{Reported: true, Input: 3}},
		{"null caches", `{"input_tokens":3,"output_tokens":1,"cache_read_input_tokens":null,"cache_creation_input_tokens":null,"output_tokens_details":null}`, providers.Usage{Reported: true, Input: 3, Output: 1}},
		{"never negative", `{"input_tokens":3,"output_tokens":1,"output_tokens_details":{"thinking_tokens":2}}`, providers.Usage{Reported: true, Input: 3, Reasoning: 2, NotUnderstood: []string{"output_tokens_details.thinking_tokens: is more than output_tokens"}}},
		{"half a report", `{"output_tokens":1}`, providers.Usage{Output: 1}},
		{"an hour in the cache", `{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"service_tier":"priority"}`, providers.Usage{Reported: true, Input: 1, Output: 2, CacheWrite: 30, CacheWriteLong: 20, Tier: "priority"}},
		{"the cache by its parts alone", `{"input_tokens":1,"output_tokens":2,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}`, providers.Usage{Reported: true, Input: 1, Output: 2, CacheWrite: 30, CacheWriteLong: 20}},
		{"more for an hour than in all", `{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":20}}`, providers.Usage{Reported: true, Input: 1, Output: 2, CacheWrite: 20, CacheWriteLong: 20, NotUnderstood: []string{"cache_creation_input_tokens: is not the sum of cache_creation"}}},
		{"less than in all", `{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":50,"cache_creation":{"ephemeral_1h_input_tokens":20}}`, providers.Usage{Reported: true, Input: 1, Output: 2, CacheWrite: 50, CacheWriteLong: 20, NotUnderstood: []string{"cache_creation_input_tokens: is not the sum of cache_creation"}}},
		{"searches", `{"input_tokens":1,"output_tokens":2,"server_tool_use":{"web_search_requests":3,"web_fetch_requests":0,"code_execution_requests":1}}`, providers.Usage{Reported: true, Input: 1, Output: 2, ServerTools: map[string]int64{"code_execution": 1, "web_search": 3}}},
		{"a tool that is not counted", `{"input_tokens":1,"output_tokens":2,"server_tool_use":{"web_search_requests":"3"}}`, providers.Usage{Reported: true, Input: 1, Output: 2, NotUnderstood: []string{"server_tool_use.web_search_requests: is not a count"}}},
		{"a tool to come", `{"input_tokens":1,"output_tokens":2,"server_tool_use":{"moon_requests":3}}`, providers.Usage{Reported: true, Input: 1, Output: 2, NotUnderstood: []string{"server_tool_use.moon_requests: not understood"}}},
		{"no tools", `{"input_tokens":1,"output_tokens":2,"server_tool_use":null,"iterations":null,"speed":"standard","inference_geo":"global"}`, providers.Usage{Reported: true, Input: 1, Output: 2}},
		{"a count to come", `{"input_tokens":1,"output_tokens":2,"video_tokens":3,"zero_tokens":0}`, providers.Usage{Reported: true, Input: 1, Output: 2, NotUnderstood: []string{"video_tokens: not understood"}}},
		{"fast", `{"input_tokens":1,"output_tokens":2,"service_tier":"standard","speed":"fast"}`, providers.Usage{Reported: true, Input: 1, Output: 2, Tier: "fast"}},
		{"another price of a place", `{"input_tokens":1,"output_tokens":2,"inference_geo":"us"}`, providers.Usage{Reported: true, Input: 1, Output: 2, NotUnderstood: []string{"inference_geo: inference in the US alone has another price"}}},
		{"a tier that is no text", `{"input_tokens":1,"output_tokens":2,"service_tier":{},"cache_creation":null}`, providers.Usage{Reported: true, Input: 1, Output: 2}},
		{"wrong type", `{"input_tokens":"3","output_tokens":1}`, providers.Usage{}},
		{"null", `null`, providers.Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(`{"content":[{"type":"text","text":"paid for"}],"usage":`+c.usage+`}`), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			require.Equal(t, c.want, got.Usage)
			require.Equal(t, "paid for", got.Text)
			if c.usage != "null" {
				require.Equal(t, c.usage, string(got.RawUsage))
			}
		})
	}
}

func TestNotAReply(t *testing.T) {
	for name, body := range map[string]string{
		"no content":         `{"type":"message","stop_reason":"end_turn"}`,
		"content is text":    `{"content":"a"}`,
		"text is a number":   `{"content":[{"type":"text","text":1}]}`,
		"text is missing":    `{"content":[{"type":"text"}]}`,
		"thinking is a list": `{"content":[{"type":"thinking","thinking":["a"]}]}`,
		"model is a number":  `{"model":1,"content":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, fault, err := decode([]byte(body), "")
			require.Error(t, err)
			require.Nil(t, fault)
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"message","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":1,"output_tokens":2}}`))
	f.Add([]byte(`{"type":"error","error":{"type":"overloaded_error","message":"m"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		reply, complete, err := wire.Decode(&decoder{}, wire.Events, body, false, "")
		u := reply.Usage
		require.GreaterOrEqual(t, min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning), int64(0))
		if err == nil && complete && !wire.Events.Starts(body, false) {
			require.NotEmpty(t, reply.Finish)
			require.True(t, json.Valid(body))
		}
	})
}

// decode reads a complete body.
func decode(body []byte, forced string) (providers.Reply, *wire.Fault, error) {
	r, _, err := wire.Decode(&decoder{}, wire.Events, body, false, forced)
	var f *wire.Fault
	if errors.As(err, &f) {
		return r, f, nil
	}
	return r, nil, err
}
