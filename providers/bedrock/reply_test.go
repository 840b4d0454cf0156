package bedrock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// decode reads a body, complete or streamed.
func decode(body []byte) (providers.Reply, bool, error) {
	return wire.Decode(&decoder{}, eventStream, body, true, "")
}

func TestReplyForms(t *testing.T) {
	call := func(id, name, args string) []providers.ToolCall {
		return []providers.ToolCall{{ID: id, Name: name, Args: args}}
	}
	for _, c := range []struct {
		name, content, stop string
		want                providers.Reply
	}{
		{"text", `[{"text":"a"}]`, "end_turn", providers.Reply{Text: "a", Finish: providers.FinishStop}},
		{"several texts", `[{"text":"a"},{"text":"b"}]`, "stop_sequence", providers.Reply{Text: "ab", Finish: providers.FinishStop}},
		{"tags of thinking are text", `[{"text":"<thinking>hm</thinking> a"}]`, "end_turn", providers.Reply{Text: "<thinking>hm</thinking> a", Finish: providers.FinishStop}},
		{"reasoning is not the answer", `[{"reasoningContent":{"reasoningText":{"text":"hm"}}},{"text":"a"}]`, "end_turn", providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop}},
		{"cited text", `[{"citationsContent":{"content":[{"text":"a"},{"text":"b"}],"citations":[{"title":"t"}]}}]`, "end_turn", providers.Reply{Text: "ab", Finish: providers.FinishStop}},
		{"tool without arguments", `[{"toolUse":{"toolUseId":"i","name":"n","input":{}}}]`, "tool_use", providers.Reply{Calls: call("i", "n", "{}"), Finish: providers.FinishTools}},
		{"arguments as they came", `[{"toolUse":{"toolUseId":"i","name":"n","input":{ "a" : 1.0 },"type":"tool_use"}}]`, "tool_use", providers.Reply{Calls: call("i", "n", `{ "a" : 1.0 }`), Finish: providers.FinishTools}},
		{"the service's own tool", `[{"toolUse":{"toolUseId":"s","name":"nova_code_interpreter","input":{},"type":"server_tool_use"}},{"toolResult":{"toolUseId":"s","content":[{"json":{}}]}},{"text":"a"}]`, "end_turn", providers.Reply{Text: "a", Finish: providers.FinishStop}},
		{"blocks yet to come", `[{"hologram":{"text":5}},{"text":"a"}]`, "end_turn", providers.Reply{Text: "a", Finish: providers.FinishStop}},
		{"nothing", `[]`, "end_turn", providers.Reply{Finish: providers.FinishStop}},
		{"cut", `[{"text":"a"}]`, "max_tokens", providers.Reply{Text: "a", Finish: providers.FinishLength}},
		{"window full", `[{"text":"a"}]`, "model_context_window_exceeded", providers.Reply{Text: "a", Finish: providers.FinishLength}},
		{"guardrail", `[{"text":"Sorry."}]`, "guardrail_intervened", providers.Reply{Text: "Sorry.", Finish: providers.FinishRefusal}},
		{"filtered", `[]`, "content_filtered", providers.Reply{Finish: providers.FinishRefusal}},
		{"malformed by the model", `[]`, "malformed_tool_use", providers.Reply{Finish: providers.FinishOther}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := decode([]byte(`{"metrics":{"latencyMs":1},"output":{"message":{"role":"assistant","content":` + c.content + `}},"stopReason":"` + c.stop + `"}`))
			require.NoError(t, err)
			require.True(t, complete)
			c.want.FinishRaw = c.stop
			require.Equal(t, c.want, got)
		})
	}
}

// doubted returns a usage that is reported but not understood.
func doubted(u providers.Usage, reasons ...string) providers.Usage {
	u.Reported, u.NotUnderstood = true, reasons
	return u
}

func TestUsageClasses(t *testing.T) {
	for _, c := range []struct {
		name, usage string
		want        providers.Usage
	}{
		{"plain", `{"inputTokens":3,"outputTokens":1,"totalTokens":4,"serverToolUsage":{}}`, providers.Usage{Reported: true, Input: 3, Output: 1}},
		{"the cache is not part of the input, and told twice", `{"cacheReadInputTokenCount":5,"cacheReadInputTokens":5,"cacheWriteInputTokenCount":7,"cacheWriteInputTokens":7,"inputTokens":3,"outputTokens":1,"totalTokens":16}`, providers.Usage{Reported: true, Input: 3, Output: 1, CacheRead: 5, CacheWrite: 7}},
		{"Nova's names of the cache", `{"inputTokens":3,"outputTokens":1,"cacheReadInputTokenCount":5,"cacheWriteInputTokenCount":0}`, providers.Usage{Reported: true, Input: 3, Output: 1, CacheRead: 5}},
		{"writes by time", `{"inputTokens":3,"outputTokens":1,"cacheWriteInputTokens":9,"cacheDetails":[{"inputTokens":4,"ttl":"1h"},{"inputTokens":5,"ttl":"5m"}]}`, providers.Usage{Reported: true, Input: 3, Output: 1, CacheWrite: 9, CacheWriteLong: 4}},
		{"a part is more than the whole", `{"inputTokens":3,"outputTokens":1,"cacheWriteInputTokens":2,"cacheDetails":[{"inputTokens":4,"ttl":"1h"}]}`, doubted(providers.Usage{Input: 3, Output: 1, CacheWrite: 4, CacheWriteLong: 4}, "cacheDetails[].inputTokens: do not add up to cacheWriteInputTokens")},
		{"a time to come", `{"inputTokens":3,"outputTokens":1,"cacheWriteInputTokens":4,"cacheDetails":[{"inputTokens":4,"ttl":"1w"}]}`, doubted(providers.Usage{Input: 3, Output: 1, CacheWrite: 4}, "cacheDetails[].ttl: is of a kind whose price is unknown")},
		{"a total that is more", `{"inputTokens":3,"outputTokens":1,"totalTokens":9}`, doubted(providers.Usage{Input: 3, Output: 1}, "totalTokens: is not the sum of the others")},
		{"two values", `{"inputTokens":3,"outputTokens":1,"cacheReadInputTokens":5,"cacheReadInputTokenCount":6}`, doubted(providers.Usage{Input: 3, Output: 1, CacheRead: 6}, "cacheReadInputTokens: has two values under two names")},
		{"uses of a tool", `{"inputTokens":3,"outputTokens":1,"serverToolUsage":{"webSearchRequests":2}}`, doubted(providers.Usage{Input: 3, Output: 1}, "serverToolUsage.webSearchRequests: not understood")},
		{"more cached than read", `{"prompt_tokens":3,"completion_tokens":1,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}`, doubted(providers.Usage{CacheRead: 4, Reasoning: 2},
			"total_tokens: is not the sum of prompt_tokens and completion_tokens", "prompt_tokens_details.cached_tokens: is more than prompt_tokens", "completion_tokens_details.reasoning_tokens: is more than completion_tokens")},
		{"Claude's, with what it asked itself", `{"input_tokens":3,"output_tokens":1,"iterations":[{"type":"compaction","input_tokens":90,"output_tokens":5},{"type":"message","input_tokens":3,"output_tokens":1}],"server_tool_use":{"web_search_requests":1}}`, providers.Usage{
			Reported: true, Input: 93, Output: 6, ServerTools: map[string]int64{"web_search": 1},
			Parts: []providers.UsagePart{{Usage: providers.Usage{Reported: true, Input: 90, Output: 5}}, {Usage: providers.Usage{Reported: true, Input: 3, Output: 1}}},
		}},
		{"floats", `{"inputTokens":3.0,"outputTokens":1.0}`, providers.Usage{Reported: true, Input: 3, Output: 1}},
		{"half a report", `{"inputTokens":3}`, providers.Usage{Input: 3}},
		{"wrong type", `{"inputTokens":"3","outputTokens":1}`, providers.Usage{}},
		{"null", `null`, providers.Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole, _, err := decode([]byte(`{"output":{"message":{"content":[{"text":"paid"}]}},"stopReason":"end_turn","usage":` + c.usage + `}`))
			require.NoError(t, err)
			streamed, _, err := decode(events(t, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"paid"}}`, "messageStop", `{"stopReason":"end_turn"}`, "metadata", `{"usage":`+c.usage+`}`))
			require.NoError(t, err)
			require.Equal(t, c.want, whole.Usage)
			require.Equal(t, whole, streamed)
			if c.usage != "null" {
				require.Equal(t, c.usage, string(whole.RawUsage))
			}
		})
	}
}

func TestTierAndRouter(t *testing.T) {
	const beside = `"usage":{"inputTokens":1,"outputTokens":1},"serviceTier":{"type":"priority"},"trace":{"guardrail":{"x":[]},"promptRouter":{"invokedModelId":"arn:m"}}`
	for name, body := range map[string][]byte{
		"whole":    []byte(`{"output":{"message":{"content":[]}},` + beside + `}`),
		"streamed": events(t, "messageStop", `{}`, "metadata", `{`+beside+`}`),
	} {
		r, _, err := decode(body)
		require.NoError(t, err, name)
		require.Equal(t, "priority", r.Usage.Tier, name)
		require.Equal(t, "arn:m", r.Model, name)
	}
}

func TestNotAReply(t *testing.T) {
	for name, body := range map[string]string{
		"no message":            `{"output":{},"stopReason":"end_turn"}`,
		"no content":            `{"output":{"message":{"role":"assistant"}}}`,
		"content is text":       `{"output":{"message":{"content":"a"}}}`,
		"text is a number":      `{"output":{"message":{"content":[{"text":1}]}}}`,
		"redacted is no base64": `{"output":{"message":{"content":[{"reasoningContent":{"redactedContent":"?"}}]}}}`,
		"nothing known":         `{"answer":"a"}`,
		"null":                  `null`,
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := decode([]byte(body))
			require.Error(t, err)
			var f *wire.Fault
			require.False(t, errors.As(err, &f), "%v", err)
		})
	}
}

// TestAReplyWithoutItsAnswer checks that the usage of such a reply is kept, because it
// is paid for.
func TestAReplyWithoutItsAnswer(t *testing.T) {
	for name, body := range map[string]string{
		"Converse":           `{"stopReason":"end_turn","usage":{"inputTokens":16,"outputTokens":2}}`,
		"Anthropic Messages": `{"type":"message","stop_reason":"end_turn","usage":{"input_tokens":16,"output_tokens":2}}`,
		"chat completions":   `{"choices":[],"usage":{"prompt_tokens":16,"completion_tokens":2}}`,
		"metrics alone":      `{"amazon-bedrock-invocationMetrics":{"inputTokenCount":16,"outputTokenCount":2}}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := decode([]byte(body))
			require.ErrorContains(t, err, "decode reply: no output")
			require.Equal(t, providers.Usage{Reported: true, Input: 16, Output: 2}, got.Usage)
		})
	}
	got, complete, err := decode([]byte(`{"amazon-bedrock-guardrailAction":"INTERVENED","usage":{"input_tokens":16,"output_tokens":0}}`))
	require.NoError(t, err, "a guardrail is an answer")
	require.True(t, complete)
	require.Equal(t, providers.FinishRefusal, got.Finish)
}

func TestFaultsInA200(t *testing.T) {
	for name, c := range map[string]struct{ body, typ, message string }{
		"front":   {`{"Output":{"__type":"com.amazon.coral.service#UnknownOperationException"},"Version":"1.0"}`, "com.amazon.coral.service#UnknownOperationException", ""},
		"message": {`{"message":"it went wrong"}`, "", "it went wrong"},
		"claude":  {`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "overloaded_error", "Overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := decode([]byte(c.body))
			var f *wire.Fault
			require.ErrorAs(t, err, &f)
			require.Equal(t, wire.Fault{Type: c.typ, Message: c.message}, *f)
		})
	}
}

func TestStreamForms(t *testing.T) {
	const stop, stopTools = `{"stopReason":"end_turn"}`, `{"stopReason":"tool_use"}`
	for _, c := range []struct {
		name   string
		events []string
		want   providers.Reply
	}{
		{
			"text has no start", []string{"messageStart", `{"role":"assistant","p":"ab"}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a"},"p":"abc"}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"b"}}`, "contentBlockStop", `{"contentBlockIndex":0}`, "messageStop", stop, "metadata", `{}`},
			providers.Reply{Text: "ab", Finish: providers.FinishStop, FinishRaw: "end_turn"},
		},
		{
			"an empty piece of text", []string{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":""}}`, "contentBlockDelta", `{"contentBlockIndex":1,"delta":{"reasoningContent":{"text":"hm"}}}`, "contentBlockDelta", `{"contentBlockIndex":2,"delta":{"text":"a"}}`, "messageStop", stop},
			providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "end_turn"},
		},
		{
			"calls in pieces", []string{
				"contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"i","name":"n"}}}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":""}}}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\"a\""}}}`,
				"contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"j","name":"m"}}}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":":1}"}}}`, "messageStop", stopTools, "metadata", `{}`,
			},
			providers.Reply{Calls: []providers.ToolCall{{ID: "i", Name: "n", Args: `{"a":1}`}, {ID: "j", Name: "m", Args: "{}"}}, Finish: providers.FinishTools, FinishRaw: "tool_use"},
		},
		{
			"the service's own tool", []string{
				"contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"s","name":"web","type":"server_tool_use"}}}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{}"}}}`,
				"contentBlockStart", `{"contentBlockIndex":1,"start":{"toolResult":{"toolUseId":"s","status":"success"}}}`, "contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolResult":[{"json":{}}]}}`,
				"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"text":"a"}}`, "contentBlockDelta", `{"contentBlockIndex":2,"delta":{"citation":{"title":"t"}}}`, "messageStop", stop, "metadata", `{}`,
			},
			providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "end_turn"},
		},
		{
			"events yet to come", []string{"initial-response", "", "hologram", "5", "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a"}}`, "messageStop", stop},
			providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "end_turn"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, complete, err := decode(events(t, c.events...))
			require.NoError(t, err)
			require.True(t, complete)
			require.Equal(t, c.want, got)
		})
	}
}

// TestCallsThatAreLeftOut checks that a call that cannot be read is reported.
func TestCallsThatAreLeftOut(t *testing.T) {
	for name, body := range map[string][]byte{
		"tool use without a start in block 3": events(t, "contentBlockDelta", `{"contentBlockIndex":3,"delta":{"toolUse":{"input":"{}"}}}`, "messageStop", `{"stopReason":"tool_use"}`),
		"custom_tool_use":                     []byte(`{"type":"message","content":[{"type":"custom_tool_use","id":"i","name":"n","input":"x"}],"stop_reason":"tool_use"}`),
		"custom":                              []byte(`{"choices":[{"message":{"tool_calls":[{"id":"i","type":"custom","custom":{"name":"n","input":"x"}}]},"finish_reason":"tool_calls"}]}`),
	} {
		got, complete, err := decode(body)
		require.True(t, complete, name)
		require.Contains(t, fmt.Sprint(err, got.Warnings), "does not read: "+name)
		require.Empty(t, got.Calls)
	}
	got, _, err := decode(chunked(t, `{"choices":[{"delta":{"tool_calls":[{"index":-1,"id":"i","type":"function","function":{"name":"n","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`))
	require.NoError(t, err)
	require.Equal(t, []providers.ToolCall{{ID: "i", Name: "n", Args: "{}"}}, got.Calls)
}

// TestWhatGuardrailsCost: guardrails have a fee for each policy, and a reply that they
// stop is a refusal.
func TestWhatGuardrailsCost(t *testing.T) {
	const units = `{"guardrailProcessingLatency":260,"usage":{"contentPolicyUnits":2,"topicPolicyUnits":1,"wordPolicyUnits":1,"contextualGroundingPolicyUnits":0,"moonUnits":1}}`
	trace := `{"guardrail":{"inputAssessment":{"a.b":{"invocationMetrics":` + units + `}},"outputAssessments":{"g":[{"invocationMetrics":` + units + `}]}}}`
	want := doubted(providers.Usage{Input: 3, Output: 1, ServerTools: map[string]int64{"guardrail_content": 4, "guardrail_topic": 2, "guardrail_word": 2}}, "trace.guardrail.moonUnits: not understood")
	for name, body := range map[string][]byte{
		"whole":    []byte(`{"output":{"message":{"content":[{"text":"no"}]}},"stopReason":"guardrail_intervened","usage":{"inputTokens":3,"outputTokens":1},"trace":` + trace + `}`),
		"streamed": events(t, "messageStop", `{"stopReason":"guardrail_intervened"}`, "metadata", `{"usage":{"inputTokens":3,"outputTokens":1},"trace":`+trace+`}`),
		"invoked":  []byte(`{"generation":"no","prompt_token_count":3,"generation_token_count":1,"amazon-bedrock-guardrailAction":"INTERVENED","amazon-bedrock-trace":` + trace + `}`),
	} {
		got, complete, err := decode(body)
		require.NoError(t, err, name)
		require.True(t, complete, name)
		require.Equal(t, providers.FinishRefusal, got.Finish, name)
		require.Equal(t, want, got.Usage, name)
	}
}

// TestGuardrailsCountOnce: chunks can follow the stop reason.
func TestGuardrailsCountOnce(t *testing.T) {
	got, complete, err := decode(chunked(t,
		`{"generation":"no","stop_reason":"stop","amazon-bedrock-trace":{"guardrail":{"input":{"g":{"invocationMetrics":{"usage":{"topicPolicyUnits":1}}}}}}}`, `{"generation":""}`, `{"generation":""}`))
	require.NoError(t, err)
	require.True(t, complete)
	require.Equal(t, map[string]int64{"guardrail_topic": 1}, got.Usage.ServerTools)
}

func TestServedAtAnotherPrice(t *testing.T) {
	got, _, err := decode([]byte(`{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":1},"performanceConfig":{"latency":"optimized"}}`))
	require.NoError(t, err)
	require.Equal(t, "optimized", got.Usage.Tier)
}

func FuzzWhole(f *testing.F) {
	f.Add([]byte(`{"output":{"message":{"content":[{"text":"a"},{"toolUse":{"toolUseId":"i","name":"n","input":{}}}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2,"cacheDetails":[{"inputTokens":1,"ttl":"1h"}]}}`))
	f.Add([]byte(`{"results":[{"outputText":"a","completionReason":"FINISH","tokenCount":1}],"inputTextTokenCount":2}`))
	f.Add([]byte(`{"choices":[{"message":{"content":"a","tool_calls":[{"id":"i","function":{"name":"n","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}}`))
	f.Add([]byte(`{"message":"it went wrong"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if eventStream.Starts(body, true) {
			return
		}
		reply, _, err := decode(body)
		requireSane(t, reply)
		if err == nil {
			require.NotEmpty(t, reply.Finish)
			require.True(t, json.Valid(body))
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add(events(f, "messageStart", `{"role":"assistant"}`, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"a"}}`, "messageStop", `{"stopReason":"end_turn"}`, "metadata", `{"usage":{"inputTokens":1,"outputTokens":2}}`))
	f.Add(chunked(f, `{"outputText":"a","index":0,"completionReason":"FINISH","inputTextTokenCount":3,"amazon-bedrock-invocationMetrics":{"inputTokenCount":3,"outputTokenCount":1}}`))
	f.Add(framed(f, "exception", "throttlingException", `{"message":"m"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if !eventStream.Starts(body, true) {
			return
		}
		reply, complete, err := decode(body)
		requireSane(t, reply)
		if err == nil && complete {
			require.NotEmpty(t, reply.Finish)
		}
	})
}

// FuzzEvents reads valid frames with any content.
func FuzzEvents(f *testing.F) {
	f.Add("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"i","name":"n"}}}`)
	f.Add("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"a","signature":"b","redactedContent":"AAE="}}}`)
	f.Add("chunk", `{"bytes":"e30="}`)
	f.Fuzz(func(t *testing.T, name, data string) {
		d, b := &decoder{}, &wire.Builder{}
		for range 2 {
			if done, err := d.Frame(b, wire.Frame{Event: name, Data: data}); err != nil || done {
				break
			}
		}
		_, _ = d.Frame(b, wire.Frame{Event: "messageStop", Data: "{}"})
		requireSane(t, b.Reply)
	})
}

func requireSane(t *testing.T, r providers.Reply) {
	t.Helper()
	u := r.Usage
	require.GreaterOrEqual(t, min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.CacheWriteLong), int64(0))
	require.LessOrEqual(t, u.CacheWriteLong, u.CacheWrite)
	require.True(t, len(r.Continuation) == 0 || json.Valid(r.Continuation))
}

var typical = []byte(`{"metrics":{"latencyMs":604},"output":{"message":{"content":[{"text":"` + strings.Repeat(`A service is a self-contained unit of functionality with a \"contract\".\n\n`, 48) +
	`"},{"toolUse":{"toolUseId":"tooluse_KGkwW6RLa3r1oGyLaekMWX","name":"get_counts","input":{"a":1}}}],"role":"assistant"}},"stopReason":"tool_use","usage":{"cacheReadInputTokens":0,"inputTokens":946,"outputTokens":370,"totalTokens":1316}}`)

// A reply of 4 KB. Floor: BenchmarkWholeFloor, a plain decode of the same bytes into a map.
func BenchmarkWhole(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(typical)))
	for b.Loop() {
		if r, _, err := decode(typical); err != nil || !r.Usage.Reported {
			b.Fatal(err)
		}
	}
}

func BenchmarkWholeFloor(b *testing.B) { testkit.DecodeFloor(b, typical) }

// Floor: BenchmarkStreamFloor, which cuts the same 100 frames and reads none.
func BenchmarkStream(b *testing.B) {
	body := longStream(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if r, complete, err := decode(body); err != nil || !complete || !r.Usage.Reported {
			b.Fatal(err)
		}
	}
}

func BenchmarkStreamFloor(b *testing.B) {
	body := longStream(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if err := eventStream.Cut(bytes.NewReader(body), 1<<20, func(wire.Frame) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func longStream(b *testing.B) []byte {
	parts := []string{"messageStart", `{"role":"assistant"}`}
	for range 97 {
		parts = append(parts, "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":" some words"},"p":"abcdefghijklmn"}`)
	}
	return events(b, append(parts, "messageStop", `{"stopReason":"end_turn"}`, "metadata", `{"usage":{"inputTokens":1,"outputTokens":2}}`)...)
}
