package openai

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
	"github.com/cupel-eval/cupel/providers/price"
)

func reported(in, out, read, write, reasoning int64) providers.Usage {
	return providers.Usage{Reported: true, Input: in, Output: out, CacheRead: read, CacheWrite: write, Reasoning: reasoning}
}

func doubted(u providers.Usage, doubts ...string) providers.Usage {
	u.NotUnderstood = doubts
	return u
}

func used(u providers.Usage, tools map[string]int64) providers.Usage {
	u.ServerTools = tools
	return u
}

// TestUsageOfServices checks the usage format of each service, and that all of its
// numbers are accounted for.
func TestUsageOfServices(t *testing.T) {
	hour := reported(70, 5, 0, 30, 0)
	hour.CacheWriteLong = 20
	const differs = "differs from another count of the same tokens"
	for _, c := range []struct {
		name, dialect, usage string
		want                 providers.Usage
	}{
		{"OpenAI", "", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":20,"audio_tokens":0,"accepted_prediction_tokens":9,"rejected_prediction_tokens":3}}`, reported(30, 30, 60, 10, 20)},
		{"audio has a price of its own", "", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"audio_tokens":7},"completion_tokens_details":{"audio_tokens":8,"image_tokens":9}}`, doubted(reported(100, 50, 0, 0, 0), "prompt_tokens_details.audio_tokens: not understood", "completion_tokens_details.audio_tokens: not understood", "completion_tokens_details.image_tokens: not understood")},
		{"a number that is new", "", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"warp":{"factor":0.5,"none":0}}`, doubted(reported(100, 50, 0, 0, 0), "warp.factor: not understood")},
		{"Azure", "azure", `{"prompt_tokens":298,"completion_tokens":14,"total_tokens":312,"audio_prompt_tokens":0,"prompt_tokens_details":{"cached_tokens":387,"text_tokens":298},"latency_checkpoint":{"engine_tbt_ms":3.5,"total_duration_ms":9}}`, doubted(reported(0, 14, 387, 0, 0), "prompt_tokens: is less than what the cache had of it")},
		{"Mistral", "mistral", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"num_cached_tokens":64,"prompt_audio_seconds":{},"prompt_tokens_details":{"cached_tokens":64}}`, reported(36, 5, 64, 0, 0)},
		{"Mistral, only in one place", "mistral", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"num_cached_tokens":64}`, reported(36, 5, 64, 0, 0)},
		{"Mistral, under another name", "mistral", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_token_details":{"cached_tokens":64}}`, reported(36, 5, 64, 0, 0)},
		{"Mistral, contradicting itself", "mistral", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"num_cached_tokens":64,"prompt_tokens_details":{"cached_tokens":32}}`, doubted(reported(36, 5, 64, 0, 0), "num_cached_tokens: "+differs)},
		{"Mistral, for audio", "mistral", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_audio_seconds":12}`, doubted(reported(100, 5, 0, 0, 0), "prompt_audio_seconds: not understood")},
		{"DeepSeek", "deepseek", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":20},"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`, reported(36, 30, 64, 0, 20)},
		{"DeepSeek, hits and misses are not the prompt", "deepseek", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":3}`, doubted(reported(36, 50, 64, 0, 0), "prompt_cache_miss_tokens: is not what the cache did not have of the prompt")},
		{"Groq", "groq", `{"queue_time":0.1,"prompt_tokens":100,"prompt_time":0.2,"completion_tokens":50,"completion_time":0.3,"total_tokens":150,"total_time":0.5,"completion_tokens_details":{"reasoning_tokens":20},"dram_cached_tokens":3,"sram_cached_tokens":4}`, reported(100, 30, 0, 0, 20)},
		{"GPUStack", "gpustack", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"time_to_first_token_ms":4.1,"time_per_output_token_ms":2,"prompt_tokens_per_second":9,"tokens_per_second":9.5,"draft_tokens":8,"draft_tokens_acceptance":0.5}`, reported(100, 50, 0, 0, 0)},
		{"SambaNova", "sambanova", `{"acceptance_rate":4.3,"completion_tokens":50,"completion_tokens_after_first_per_sec":7.5,"completion_tokens_after_first_per_sec_first_ten":1,"completion_tokens_after_first_per_sec_graph":1,"completion_tokens_per_sec":6,"end_time":1731513252.9,"is_last_response":true,"prompt_tokens":100,"start_time":1731513251.8,"time_to_first_token":0.8,"total_latency":1.0,"total_tokens":150,"total_tokens_per_sec":200,"stop_reason":"stop"}`, reported(100, 50, 0, 0, 0)},
		{"Qwen", "", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":10,"cache_creation_input_tokens":30,"cache_type":"ephemeral","cache_creation":{"ephemeral_5m_input_tokens":30},"text_tokens":90,"image_tokens":10},"completion_tokens_details":{"reasoning_tokens":2,"text_tokens":5}}`, reported(60, 3, 10, 30, 2)},
		{"LiteLLM, kept for an hour", "", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"cache_creation_input_tokens":30,"prompt_tokens_details":{"cache_creation_tokens":30,"cache_creation_token_details":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}}`, hour},
		{"writes that are not their parts", "", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_5m_input_tokens":30}}`, doubted(reported(70, 5, 0, 30, 0), "cache_creation: is not the sum of its parts")},
		{"Moonshot", "moonshot", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"cached_tokens":90}`, reported(10, 5, 90, 0, 0)},
		{"the cache beside the prompt", "snowflake", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":105,"cache_read_input_tokens":90}`, reported(10, 5, 90, 0, 0)},
		{"xAI", "xai", `{"prompt_tokens":436,"completion_tokens":68,"total_tokens":652,"prompt_tokens_details":{"text_tokens":436,"cached_tokens":152},"completion_tokens_details":{"reasoning_tokens":148},"num_sources_used":0,"cost_in_usd_ticks":1724000}`, reported(284, 68, 152, 0, 148)},
		{"xAI, searching", "xai", `{"prompt_tokens":436,"completion_tokens":68,"total_tokens":504,"num_sources_used":3}`, used(reported(436, 68, 0, 0, 0), map[string]int64{"live_search": 3})},
		{"Perplexity", "perplexity", `{"prompt_tokens":33,"completion_tokens":7163,"total_tokens":7196,"citation_tokens":20016,"num_search_queries":18,"reasoning_tokens":73997,"search_context_size":"low","cost":{"input_tokens_cost":0.0001,"output_tokens_cost":0.0573,"citation_tokens_cost":0.04,"reasoning_tokens_cost":0.222,"search_queries_cost":0.09,"total_cost":0.4094}}`, used(reported(20049, 7163, 0, 0, 73997), map[string]int64{"web_search": 18})},
		{"Perplexity, a cost that is not its parts", "perplexity", `{"prompt_tokens":33,"completion_tokens":7,"total_tokens":40,"cost":{"input_tokens_cost":0.1,"output_tokens_cost":0.1,"total_cost":0.5}}`, doubted(reported(33, 7, 0, 0, 0), "cost.total_cost: is not the sum of its parts")},
		{"OpenRouter", "openrouter", `{"prompt_tokens":194,"completion_tokens":20,"total_tokens":214,"cost":0.95,"is_byok":false,"cost_details":{"upstream_inference_cost":null,"upstream_inference_prompt_cost":0.4,"upstream_inference_completions_cost":0.5,"server_tool_cost":0.05},"server_tool_use":{"web_search_requests":2},"server_tool_use_details":{"web_search_requests":2,"tool_calls_requested":4,"tool_calls_executed":3}}`, used(reported(194, 20, 0, 0, 0), map[string]int64{"other": 1, "web_search": 2})},
		{"Vercel", "vercel-gateway", `{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"cost":0.00004,"market_cost":0.00005,"is_byok":false,"cache_creation_input_tokens":0,"completion_tokens_details":{"reasoning_tokens":1}}`, reported(10, 1, 0, 0, 1)},
		{"not a count", "", `{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":-4}`, doubted(reported(10, 2, 0, 0, 0), "cached_tokens: is not a count")},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Dialect{}
			if c.dialect != "" {
				d = dialectOf(t, c.dialect)
			}
			got, _, err := decodeAs(d, []byte(`{"choices":[{"message":{"content":"a"}}],"usage":`+c.usage+`}`), "")
			require.NoError(t, err)
			require.Equal(t, c.want, got.Usage)
		})
	}
}

// TestReasoningThatExceedsTheCompletion: if the total of a gateway contradicts its
// details, the usage has two readings. The larger comes first.
func TestReasoningThatExceedsTheCompletion(t *testing.T) {
	const counts = `"prompt_tokens":100,"completion_tokens":50,"completion_tokens_details":{"reasoning_tokens":275}`
	within := reported(100, 0, 0, 0, 50)
	for _, c := range []struct {
		name, dialect, more string
		other               *providers.Usage
	}{
		{"no total", "openrouter", ``, nil},
		{"beside, by the total", "openrouter", `,"total_tokens":425`, nil},
		{"not beside, by the total", "openrouter", `,"total_tokens":150`, &within},
		{"not beside, by the total of a gateway that reports no cost", "huggingface", `,"total_tokens":150`, &within},
		{"beside, by the documentation", "perplexity", `,"total_tokens":150`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := decodeAs(dialectOf(t, c.dialect), []byte(`{"choices":[{"message":{"content":"a"}}],"usage":{`+counts+c.more+`}}`), "")
			require.NoError(t, err)
			want := reported(100, 50, 0, 0, 275)
			want.Other = c.other
			require.Equal(t, want, got.Usage)
		})
	}
}

// TestUsageOfSeveralModels: Groq's compound systems use models with different prices.
func TestUsageOfSeveralModels(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":30,"completion_tokens":6,"total_tokens":36}`
	model := func(name string, in, out int) string {
		return fmt.Sprintf(`{"model":"%s","usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"queue_time":0.1}}`, name, in, out, in+out)
	}
	part := func(name string, in, out int64) providers.UsagePart {
		return providers.UsagePart{Model: name, Usage: reported(in, out, 0, 0, 0)}
	}
	for _, c := range []struct {
		name, breakdown string
		parts           []providers.UsagePart
		doubts          []string
	}{
		{"each by itself", `{"models":[` + model("a", 10, 2) + `,` + model("b", 20, 4) + `]}`, []providers.UsagePart{part("a", 10, 2), part("b", 20, 4)}, nil},
		{"not the sum", `{"models":[` + model("a", 10, 2) + `]}`, []providers.UsagePart{part("a", 10, 2)}, []string{"usage_breakdown: is not what the usage counts"}},
		{"not understood", `{"models":[{"model":"a"}]}`, nil, []string{"usage_breakdown: is not understood"}},
		{"of another form", `{"models":7}`, nil, []string{"usage_breakdown: is not understood"}},
		{"none", `null`, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := dialectOf(t, "groq")
			for _, body := range [][]byte{
				[]byte(`{"choices":[{"message":{"content":"a"}}],` + usage + `,"usage_breakdown":` + c.breakdown + `}`),
				events(delta(`"content":"a"`, `,"finish_reason":"stop"`), `{"choices":[],`+usage+`,"usage_breakdown":`+c.breakdown+`}`, "[DONE]"),
			} {
				got, _, err := wire.Decode(newDecoder(d, true), wire.Events, body, true, "")
				require.NoError(t, err)
				want := doubted(reported(30, 6, 0, 0, 0), c.doubts...)
				want.Parts = c.parts
				require.Equal(t, want, got.Usage)
			}
		})
	}
}

func TestToolsOfTheService(t *testing.T) {
	const search, code = `{"index":0,"type":"search","arguments":"{}"}`, `{"index":1,"type":"python"}`
	for _, c := range []struct {
		name, dialect, message, more string
		want                         map[string]int64
	}{
		{"Groq's", "groq", `"executed_tools":[` + search + `,` + code + `]`, ``, map[string]int64{"python": 1, "search": 1}},
		{"Groq's, unknown", "groq", `"executed_tools":[7]`, ``, map[string]int64{"other": 1}},
		{"citations of a search with a fee", "azure", `"annotations":[{"type":"url_citation"},{"type":"url_citation"}]`, ``, map[string]int64{"web_search": 1}},
		{"citations of a search that the price includes", "openrouter", `"annotations":[{"type":"url_citation"}]`, ``, nil},
		{"no citations", "azure", `"annotations":[]`, ``, nil},
		{"Z.ai's", "zai", `"content":"a"`, `,"web_search":[{"title":"t"}]`, map[string]int64{"web_search": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, body := range [][]byte{
				[]byte(`{"choices":[{"message":{` + c.message + `},"finish_reason":"stop"}]` + c.more + `}`),
				events(delta(c.message, ``), delta(c.message, `,"finish_reason":"stop"`), `{"choices":[]`+c.more+`}`, "[DONE]"),
			} {
				got, _, err := wire.Decode(newDecoder(dialectOf(t, c.dialect), true), wire.Events, body, true, "")
				require.NoError(t, err)
				require.Equal(t, c.want, got.Usage.ServerTools)
			}
		})
	}
}

// TestTheCostTellsTheConvention: two gateways send the same format, but one counts
// reasoning in addition to the completion. 100 × 1 + 50 × 4 = 300 µUSD, and 275 × 4 =
// 1,100 more.
func TestTheCostTellsTheConvention(t *testing.T) {
	prices, err := price.Parse([]byte(`
version: 2026-01-01
prices:
  - {provider: openrouter, models: [m], input: "1", output: "4", source: test}
`))
	require.NoError(t, err)
	for _, c := range []struct {
		name, cost string
		want       providers.Usage
	}{
		{"beside", `,"cost":0.0014`, reported(100, 50, 0, 0, 275)},
		{"within", `,"cost":0.0003`, reported(100, 0, 0, 0, 50)},
		{"no cost", ``, doubted(reported(100, 50, 0, 0, 275), "usage: has two readings, and no reported cost tells which is right")},
		{"a cost of neither", `,"cost":0.9`, doubted(reported(100, 50, 0, 0, 275), "usage: has two readings, and no reported cost tells which is right")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := decodeAs(dialectOf(t, "openrouter"), []byte(`{"model":"m","choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"completion_tokens_details":{"reasoning_tokens":275}`+c.cost+`}}`), "")
			require.NoError(t, err)
			prices.Settle("openrouter", "m", &got, time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC))
			require.Equal(t, c.want, got.Usage)
		})
	}
}

func TestUsageFields(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range UsageFields() {
		require.NotEmpty(t, f.Column+f.Reason, f.Path)
		require.False(t, seen[f.Path], f.Path)
		seen[f.Path] = true
	}
	changed := UsageFields()
	changed[0].Path = "x"
	require.NotEqual(t, "x", UsageFields()[0].Path)
	require.True(t, slices.ContainsFunc(UsageFields(), func(f wire.UsageField) bool { return f.Path == "num_cached_tokens" }))
}

// TestUsageWithManyNames: the time is linear in what a server sends, and what is kept
// is bounded.
func TestUsageWithManyNames(t *testing.T) {
	var list strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&list, `,"t%d_calls":1`, i)
	}
	got, _, err := wire.Decode(newDecoder(Dialect{}, false), wire.Events, []byte(`{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"server_side_tool_usage_details":{"x_calls":1`+list.String()+`}}}`), false, "")
	require.NoError(t, err)
	require.LessOrEqual(t, len(got.Usage.ServerTools), 17)
}
