package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

func TestRequestBodies(t *testing.T) {
	temperature, seed := 0.1, int64(7)
	full := providers.Call{
		Model: "gpt-4o-mini", System: "sys", Messages: []providers.Message{{Role: "user", Text: "hi"}, {Role: "assistant", Text: "yo"}},
		MaxTokens: 400, Temperature: &temperature, Seed: &seed, Stop: []string{"END"}, RequestID: "not in the body",
	}
	with := func(change func(*providers.Call)) providers.Call {
		c := full
		change(&c)
		return c
	}
	const messages = `"messages":[{"role":"system","content":"sys"},{"role":"user","content":"hi"},{"role":"assistant","content":"yo"}]`
	reasoning := func(model string) string {
		return `{"model":"` + model + `",` + messages + `,"max_completion_tokens":400,"seed":7}`
	}
	zero := 0.0
	for _, c := range []struct {
		name     string
		call     providers.Call
		want     string
		warnings int
	}{
		{"everything", full, `{"model":"gpt-4o-mini",` + messages + `,"max_tokens":400,"temperature":0.1,"seed":7,"stop":["END"]}`, 0},
		{"only a model", providers.Call{Model: "m", Messages: full.Messages[:1]}, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, 0},
		{"temperature zero is sent", with(func(c *providers.Call) { c.Temperature = &zero }), `{"model":"gpt-4o-mini",` + messages + `,"max_tokens":400,"temperature":0,"seed":7,"stop":["END"]}`, 0},
		{"o3", with(func(c *providers.Call) { c.Model = "o3" }), reasoning("o3"), 2},
		{"o4-mini", with(func(c *providers.Call) { c.Model = "o4-mini-2025-04-16" }), reasoning("o4-mini-2025-04-16"), 2},
		{"gpt-5 behind a router", with(func(c *providers.Call) { c.Model = "openai/GPT-5.1" }), reasoning("openai/GPT-5.1"), 2},
		{"gpt-5 without dials", providers.Call{Model: "gpt-5", Messages: full.Messages[:1]}, `{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}`, 0},
		{"gpt-5-chat does not reason", providers.Call{Model: "gpt-5-chat-latest", MaxTokens: 1, Temperature: &zero}, `{"model":"gpt-5-chat-latest","messages":null,"max_tokens":1,"temperature":0}`, 0},
		{"a name with only the same beginning", providers.Call{Model: "o1labs", MaxTokens: 1, Messages: full.Messages[:1]}, `{"model":"o1labs","messages":[{"role":"user","content":"hi"}],"max_tokens":1}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			body, warnings := newRequest(Dialect{Name: "openai"}, c.call)
			text, err := json.Marshal(body)
			require.NoError(t, err)
			require.Equal(t, c.want, string(text))
			require.Len(t, warnings, c.warnings)
		})
	}
}

func TestReplyForms(t *testing.T) {
	choice := func(message, finish string) string {
		return `{"id":"x","model":"m","choices":[{"finish_reason":` + finish + `,"message":` + message + `},{"finish_reason":"stop","message":{"content":"second"}}]}`
	}
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{"string", choice(`{"content":"a"}`, `"stop"`), providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"text parts", choice(`{"content":[{"type":"text","text":"a"},{"type":"output_text","text":"b"}]}`, `"stop"`), providers.Reply{Text: "ab", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"thinking parts", choice(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true},{"type":"text","text":"a"}]}`, `"stop"`), providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"reasoning parts with a summary", choice(`{"content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"text","text":"a"}]}`, `"stop"`), providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"reasoning_content", choice(`{"content":"a","reasoning_content":"hm"}`, `"stop"`), providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"reasoning is not told twice", choice(`{"content":"a","reasoning":"hm","reasoning_details":[{"text":"hm"}]}`, `"stop"`), providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"reasoning details only", choice(`{"content":"a","reasoning":null,"reasoning_details":[{"text":"h"},{"summary":"m"}]}`, `"stop"`), providers.Reply{Text: "a", Reasoning: "hm", Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"reasoning without an answer", choice(`{"content":null,"reasoning_content":"hm"}`, `"length"`), providers.Reply{Reasoning: "hm", Finish: providers.FinishLength, FinishRaw: "length"}},
		{"object", choice(`{"content":{"n": 1.0}}`, `"stop"`), providers.Reply{Text: `{"n": 1.0}`, Finish: providers.FinishStop, FinishRaw: "stop"}},
		{"refusal", choice(`{"content":null,"refusal":"no"}`, `"stop"`), providers.Reply{Refusal: "no", Finish: providers.FinishRefusal, FinishRaw: "stop"}},
		{"refusal part", choice(`{"content":[{"type":"refusal","refusal":"no"}]}`, `"stop"`), providers.Reply{Refusal: "no", Finish: providers.FinishRefusal, FinishRaw: "stop"}},
		{"tool calls", choice(`{"content":null,"tool_calls":[{"id":1,"function":{"name":"f"}}]}`, `"tool_calls"`), providers.Reply{Calls: []providers.ToolCall{{ID: "1", Name: "f", Args: "{}"}}, Finish: providers.FinishTools, FinishRaw: "tool_calls"}},
		{"no finish reason", choice(`{"content":"a"}`, `null`), providers.Reply{Text: "a", Finish: providers.FinishOther}},
		{"empty finish reason", choice(`{"content":"a"}`, `""`), providers.Reply{Text: "a", Finish: providers.FinishOther}},
		{"another word for stop", choice(`{"content":"a"}`, `"eos"`), providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "eos"}},
		{"an error of the model's own", `{"id":"x","model":"m","choices":[{"finish_reason":"error","native_finish_reason":"MALFORMED_FUNCTION_CALL","message":{"content":"a"}}]}`, providers.Reply{Text: "a", Finish: providers.FinishOther, FinishRaw: "error"}},
		{"content missing", choice(`{}`, `"stop"`), providers.Reply{Finish: providers.FinishStop, FinishRaw: "stop"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(c.body), "")
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
		{"plain", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`, reported(10, 5, 0, 0, 0)},
		{"reported zero", `{"prompt_tokens":0,"completion_tokens":0}`, reported(0, 0, 0, 0, 0)},
		{"cached and reasoning are parts", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":20}}`, reported(40, 30, 60, 0, 20)},
		{"the total shows that reasoning is apart", `{"prompt_tokens":436,"completion_tokens":68,"total_tokens":652,"prompt_tokens_details":{"cached_tokens":152},"completion_tokens_details":{"reasoning_tokens":148}}`, reported(284, 68, 152, 0, 148)},
		{"reasoning over completion, no total", `{"prompt_tokens":1,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":9}}`, reported(1, 5, 0, 0, 9)},
		{"never negative", `{"prompt_tokens":5,"completion_tokens":5,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":9,"cache_write_tokens":9},"completion_tokens_details":{"reasoning_tokens":5}}`, doubted(reported(0, 0, 9, 9, 5), "prompt_tokens: is less than what the cache had of it")},
		{"cache hits at top level", `{"prompt_tokens":10,"completion_tokens":1,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":6}`, reported(6, 1, 4, 0, 0)},
		{"null details", `{"prompt_tokens":10,"completion_tokens":1,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":null}}`, reported(10, 1, 0, 0, 0)},
		{"floats", `{"prompt_tokens":10.0,"completion_tokens":1e1}`, reported(10, 10, 0, 0, 0)},
		{"null", `null`, providers.Usage{}},
		{"empty", `{}`, providers.Usage{}},
		{"text", `{"prompt_tokens":"ten","completion_tokens":1}`, providers.Usage{}},
		{"negative", `{"prompt_tokens":-1,"completion_tokens":1}`, providers.Usage{}},
		{"absurd", `{"prompt_tokens":1e300,"completion_tokens":1}`, providers.Usage{}},
		{"a list", `[1]`, doubted(providers.Usage{}, "[]: not understood")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(`{"choices":[{"message":{"content":"paid for"}}],"usage":`+c.usage+`}`), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			require.Equal(t, c.want, got.Usage)
			require.Equal(t, "paid for", got.Text, "a usage that cannot be read must not lose the reply")
			if c.usage != "null" && c.usage != "{}" {
				require.Equal(t, c.usage, string(got.RawUsage))
			}
		})
	}
}

func TestNotAReply(t *testing.T) {
	for name, body := range map[string]string{
		"no message":            `{"choices":[{"finish_reason":"stop"}]}`,
		"message is text":       `{"choices":[{"message":"a"}]}`,
		"content is a number":   `{"choices":[{"message":{"content":1}}]}`,
		"content is a boolean":  `{"choices":[{"message":{"content":true}}]}`,
		"content list of texts": `{"choices":[{"message":{"content":["a"]}}]}`,
		"choices is an object":  `{"choices":{"message":{"content":"a"}}}`,
		"model is a number":     `{"model":1,"choices":[{"message":{"content":"a"}}]}`,
		"finish is a number":    `{"choices":[{"message":{"content":"a"},"finish_reason":1}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, fault, err := decode([]byte(body), "")
			require.Error(t, err)
			require.Nil(t, fault)
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"x","model":"m","choices":[{"finish_reason":"stop","message":{"content":[{"type":"text","text":"a"}]}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`))
	f.Add([]byte(`{"error":{"message":"m","code":429}}`))
	f.Add([]byte(`[{"error":"x"}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if wire.Events.Starts(bytes.TrimLeft(body, " \t\r\n\ufeff"), false) {
			t.Skip("a stream: see FuzzStream")
		}
		reply, fault, err := decode(body, "")
		u := reply.Usage
		require.GreaterOrEqual(t, min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning), int64(0))
		if u.Reported {
			require.NotEmpty(t, reply.RawUsage)
		}
		if fault == nil && err == nil {
			require.NotEmpty(t, reply.Finish)
			require.True(t, json.Valid(body))
		}
	})
}

func TestLegacyCompletions(t *testing.T) {
	got, fault, err := decode([]byte(`{"id":"x","model":"m","choices":[{"index":1,"text":"second","finish_reason":"stop"},{"index":0,"text":" first","finish_reason":"length"}],"usage":{"prompt_tokens":5,"total_tokens":5}}`), "")
	require.NoError(t, err)
	require.Nil(t, fault)
	require.Equal(t, " first", got.Text)
	require.Equal(t, providers.FinishLength, got.Finish)
	require.Equal(t, providers.Usage{Reported: true, Input: 5}, got.Usage, "the total says that nothing came out")
}

func TestFunctionCallOfBeforeTools(t *testing.T) {
	got, _, err := decode([]byte(`{"choices":[{"message":{"content":null,"function_call":{"name":"f","arguments":"{}"}},"finish_reason":"function_call"}]}`), "")
	require.NoError(t, err)
	require.Equal(t, []providers.ToolCall{{ID: "call_1", Name: "f", Args: "{}"}}, got.Calls)
	require.Equal(t, providers.FinishTools, got.Finish)
	got, _, err = decode([]byte(`{"choices":[{"message":{"content":"4","function_call":{"name":"","arguments":""},"tool_calls":null},"finish_reason":"stop"}]}`), "")
	require.NoError(t, err)
	require.Empty(t, got.Calls, "an empty one means no call")
	require.Equal(t, providers.FinishStop, got.Finish)
}

func TestOneSidedUsageIsKeptAndNotReported(t *testing.T) {
	got, _, err := decode([]byte(`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}}`), "")
	require.NoError(t, err)
	require.Equal(t, providers.Usage{Input: 5, CacheRead: 4}, got.Usage)
}

func TestReasoningApartWithoutATotal(t *testing.T) {
	got, _, err := decodeAs(dialectOf(t, "xai"), []byte(`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":5,"completion_tokens_details":{"reasoning_tokens":3}}}`), "")
	require.NoError(t, err)
	require.Equal(t, providers.Usage{Reported: true, Input: 9, Output: 5, Reasoning: 3}, got.Usage)
}

func TestCosts(t *testing.T) {
	nanos := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name, fields string
		want         *int64
	}{
		{"none", ``, nil},
		{"dollars", `,"cost":0.003561`, nanos(3_561_000)},
		{"free", `,"cost":0`, nanos(0)},
		{"upstream charges the user's key", `,"cost":0.00001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.0002}`, nanos(210_000)},
		{"upstream is part of it otherwise", `,"cost":0.00001,"is_byok":false,"cost_details":{"upstream_inference_cost":0.00001}`, nanos(10_000)},
		{"total of an object", `,"cost":{"input_tokens_cost":0.00001,"total_cost":0.00501}`, nanos(5_010_000)},
		{"ticks", `,"cost_in_usd_ticks":3155600`, nanos(315_560)},
		{"null", `,"cost":null`, nil},
		{"text", `,"cost":"much"`, nil},
		{"an object without a total", `,"cost":{}`, nil},
		{"negative", `,"cost":-1`, nil},
		{"absurd", `,"cost":1e300`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := decode([]byte(`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1`+c.fields+`}}`), "")
			require.NoError(t, err)
			require.Equal(t, c.want, got.CostNanoUSD)
			require.True(t, got.Usage.Reported)
		})
	}
}

func TestBrokenCharacters(t *testing.T) {
	got, _, err := decode([]byte("{\"choices\":[{\"message\":{\"content\":\"a\xffb\\ud800c\\n\"}}]}"), "")
	require.NoError(t, err)
	require.Equal(t, "a\ufffdb\ufffdc\n", got.Text)
}

// decode reads a complete body.
func decode(body []byte, forced string) (providers.Reply, *wire.Fault, error) {
	return decodeAs(Dialect{}, body, forced)
}

func decodeAs(d Dialect, body []byte, forced string) (providers.Reply, *wire.Fault, error) {
	r, _, err := wire.Decode(newDecoder(d, false), wire.Events, body, false, forced)
	var f *wire.Fault
	if errors.As(err, &f) {
		return r, f, nil
	}
	return r, nil, err
}
