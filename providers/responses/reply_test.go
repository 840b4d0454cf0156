package responses

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

func TestReplies(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       providers.Reply
	}{
		{"text parts and messages are joined", `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]},{"type":"message","content":[{"type":"output_text","text":"c"}]}]}`, providers.Reply{Text: "abc", Finish: providers.FinishStop, FinishRaw: "completed"}},
		{"refused with status completed", `{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}`, providers.Reply{Refusal: "no", Finish: providers.FinishRefusal, FinishRaw: "completed"}},
		{"summaries are joined", `{"status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]},{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"c"}]}]}`, providers.Reply{Reasoning: "abc", Finish: providers.FinishStop, FinishRaw: "completed"}},
		{"reasoning is not told twice", `{"status":"completed","output":[{"type":"reasoning","summary":[{"text":"a"}],"content":[{"text":"a"}]}]}`, providers.Reply{Reasoning: "a", Finish: providers.FinishStop, FinishRaw: "completed"}},
		{"nulls", `{"status":"completed","error":null,"incomplete_details":null,"usage":null,"service_tier":null,"output":[{"type":"reasoning","id":null,"summary":null,"content":null,"encrypted_content":null}]}`, providers.Reply{Finish: providers.FinishStop, FinishRaw: "completed"}},
		{"calls", `{"status":"completed","output":[{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\": 1.0}"},{"type":"function_call","name":"g","arguments":""}]}`, providers.Reply{Calls: []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x": 1.0}`}, {ID: "call_2", Name: "g", Args: "{}"}}, Finish: providers.FinishTools, FinishRaw: "completed"}},
		{"arguments that were parsed", `{"status":"completed","output":[{"type":"function_call","call_id":"a","name":"f","arguments":{"x": 1.0}},{"type":"function_call","call_id":"b","name":"f","arguments":null}]}`, providers.Reply{Calls: []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x": 1.0}`}, {ID: "b", Name: "f", Args: "{}"}}, Finish: providers.FinishTools, FinishRaw: "completed"}},
		{"one id for two calls", `{"status":"completed","output":[{"type":"function_call","call_id":"a","name":"f","arguments":"1"},{"type":"function_call","call_id":"a","name":"g","arguments":"2"}]}`, providers.Reply{Calls: []providers.ToolCall{{ID: "a", Name: "f", Args: "1"}, {ID: "call_2", Name: "g", Args: "2"}}, Finish: providers.FinishTools, FinishRaw: "completed"}},
		{"items of other types, a failed one among them", `{"status":"completed","output":[{"type":"mcp_call","status":"failed","name":{},"error":{"type":"http_error"},"arguments":"{}"},{"type":"x","content":5,"summary":"s","id":1},{"type":"message","content":[{"type":"output_text","text":"a"}]},{"type":"compaction","id":5}]}`, providers.Reply{Text: "a", Finish: providers.FinishStop, FinishRaw: "completed", Usage: used(providers.Usage{}, map[string]int64{"mcp": 1})}},
		{"cut", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x"}]}`, providers.Reply{Calls: []providers.ToolCall{{ID: "a", Name: "f", Args: `{"x`}}, Finish: providers.FinishLength, FinishRaw: "max_output_tokens"}},
		{"filtered", `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, providers.Reply{Finish: providers.FinishRefusal, FinishRaw: "content_filter"}},
		{"incomplete, who knows why", `{"status":"incomplete","incomplete_details":null,"output":[]}`, providers.Reply{Finish: providers.FinishOther, FinishRaw: "incomplete"}},
		{"queued", `{"status":"queued","background":true,"output":[],"usage":null}`, providers.Reply{Finish: providers.FinishOther, FinishRaw: "queued", Warnings: []string{"the response is queued: nothing but what is here will come"}}},
		{"queued without output", `{"status":"queued"}`, providers.Reply{Finish: providers.FinishOther, FinishRaw: "queued", Warnings: []string{"the response is queued: nothing but what is here will come"}}},
		{"cancelled", `{"status":"cancelled","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`, providers.Reply{Text: "a", Finish: providers.FinishOther, FinishRaw: "cancelled", Warnings: []string{"the response is cancelled: nothing but what is here will come"}}},
		{"no status", `{"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`, providers.Reply{Text: "a", Finish: providers.FinishOther}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(`{"id":"resp_1","model":"m",`+c.body[1:]), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			c.want.Model, c.want.RequestID = "m", "resp_1"
			got.Continuation = nil
			require.Equal(t, c.want, got)
		})
	}
}

func TestNotAReply(t *testing.T) {
	for name, body := range map[string]string{
		"no output":          `{"id":"resp_1","object":"response","status":"completed"}`,
		"output is text":     `{"status":"completed","output":"a"}`,
		"content is text":    `{"status":"completed","output":[{"type":"message","content":"a"}]}`,
		"text is a number":   `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":1}]}]}`,
		"items are text":     `{"status":"completed","output":["a"],"model":7}`,
		"model is a number":  `{"model":1,"status":"completed","output":[]}`,
		"status is a number": `{"status":1,"output":[]}`,
		"chat":               `{"choices":[{"message":{"content":"a"}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, fault, err := decode([]byte(body), "")
			if name == "no output" || name == "chat" {
				require.EqualError(t, err, "decode reply: no output")
			}
			require.Error(t, err)
			require.Nil(t, fault)
		})
	}
}

func TestFaultsInA200(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       wire.Fault
	}{
		{"failed", `{"id":"r","status":"failed","error":{"code":"server_error","message":"boom"},"output":[],"usage":{"input_tokens":9,"output_tokens":1}}`, wire.Fault{Code: "server_error", Message: "boom"}},
		{"failed without a word", `{"id":"r","status":"failed","error":null,"output":[]}`, wire.Fault{Message: "the response failed without an explanation"}},
		{"envelope", `{"error":{"message":"m","type":"t","code":429}}`, wire.Fault{Type: "t", Code: "429", Message: "m"}},
		{"flat", `{"type":"error","code":"c","message":"m"}`, wire.Fault{Code: "c", Message: "m"}},
		{"text beside a code", `{"code":"invalid-argument","error":"Model not found: x"}`, wire.Fault{Code: "invalid-argument", Message: "Model not found: x"}},
		{"a list", `[{"error":{"message":"m","type":"t"}}]`, wire.Fault{Type: "t", Message: "m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, fault, err := decode([]byte(c.body), "")
			require.NoError(t, err)
			require.Equal(t, &c.want, fault)
		})
	}
}

func TestUsageClasses(t *testing.T) {
	const none = int64(-1)
	for _, c := range []struct {
		name, usage string
		want        providers.Usage
		nanoUSD     int64
	}{
		{"plain", `{"input_tokens":10,"output_tokens":5,"total_tokens":15}`, reported(10, 5, 0, 0, 0), none},
		{"reported zero", `{"input_tokens":0,"output_tokens":0}`, reported(0, 0, 0, 0, 0), none},
		{"parts", `{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":150}`, reported(10, 30, 60, 30, 20), none},
		{"the total shows that reasoning is apart", `{"input_tokens":100,"output_tokens":50,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":170}`, reported(100, 50, 0, 0, 20), none},
		{"never negative", `{"input_tokens":5,"input_tokens_details":{"cached_tokens":9,"cache_write_tokens":9},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":10}`, doubted(reported(0, 0, 9, 9, 5), "input_tokens: is less than what the cache had of it"), none},
		{"null details", `{"input_tokens":10,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":{"reasoning_tokens":null}}`, reported(10, 1, 0, 0, 0), none},
		{"half of it", `{"input_tokens":10,"input_tokens_details":{"cached_tokens":4}}`, providers.Usage{Input: 6, CacheRead: 4}, none},
		{"other half", `{"output_tokens":3}`, providers.Usage{Output: 3}, none},
		{"xAI's cost", `{"input_tokens":1,"output_tokens":1,"cost_in_usd_ticks":9243500}`, reported(1, 1, 0, 0, 0), 924350},
		{"OpenRouter's cost", `{"input_tokens":1,"output_tokens":1,"cost":0.025265,"is_byok":false,"cost_details":{"upstream_inference_cost":0.025265}}`, reported(1, 1, 0, 0, 0), 25265000},
		{"OpenRouter's cost with an own key", `{"input_tokens":1,"output_tokens":1,"cost":0.001,"is_byok":true,"cost_details":{"upstream_inference_cost":0.02}}`, reported(1, 1, 0, 0, 0), 21000000},
		{"free", `{"input_tokens":1,"output_tokens":1,"cost":0}`, reported(1, 1, 0, 0, 0), 0},
		{"absurd costs", `{"input_tokens":1,"output_tokens":1,"cost":-1}`, reported(1, 1, 0, 0, 0), none},
		{"absurd costs, again", `{"input_tokens":1,"output_tokens":1,"cost_in_usd_ticks":1e300}`, reported(1, 1, 0, 0, 0), none},
		{"text", `{"input_tokens":"ten","output_tokens":1}`, providers.Usage{}, none},
		{"empty", `{}`, providers.Usage{}, none},
		{"a list", `[1]`, doubted(providers.Usage{}, "[]: not understood"), none},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"paid for"}]}],"usage":`+c.usage+`}`), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			require.Equal(t, c.want, got.Usage)
			require.Equal(t, "paid for", got.Text, "a usage that cannot be read must not lose the reply")
			if c.usage != `{}` {
				require.Equal(t, c.usage, string(got.RawUsage))
			}
			if c.nanoUSD == none {
				require.Nil(t, got.CostNanoUSD)
			} else {
				require.Equal(t, c.nanoUSD, *got.CostNanoUSD)
			}
		})
	}
}

func TestTier(t *testing.T) {
	for tier, want := range map[string]string{`"default"`: "default", `"flex"`: "flex", `"auto"`: "", `null`: ""} {
		got, _, err := decode([]byte(`{"status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1},"service_tier":`+tier+`}`), "")
		require.NoError(t, err)
		require.Equal(t, want, got.Usage.Tier)
	}
}

// checkReply checks properties of every reply, for any bytes.
func checkReply(t *testing.T, r providers.Reply) {
	t.Helper()
	u := r.Usage
	require.GreaterOrEqual(t, min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning), int64(0))
	ids := map[string]bool{}
	for _, c := range r.Calls {
		require.NotEmpty(t, c.ID)
		require.False(t, ids[c.ID])
		ids[c.ID] = true
	}
	if r.Continuation == nil {
		return
	}
	require.True(t, json.Valid(r.Continuation))
	m := &model{dialect: dialect{name: "openai-responses"}}
	require.NotEmpty(t, m.kept(r.Continuation), "what is carried must be known again")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"x","model":"m","status":"completed","output":[` + thought + `,` + spoken + `,` + called + `],"usage":{"input_tokens":1,"output_tokens":2}}`))
	f.Add([]byte(`{"status":"failed","error":{"message":"m","code":429}}`))
	f.Add([]byte(`{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"type":"x","content":1}]}`))
	f.Add([]byte(`[{"error":"x"}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		reply, fault, err := decode(body, "")
		checkReply(t, reply)
		if fault == nil && err == nil {
			require.NotEmpty(t, reply.Finish)
		}
	})
}
