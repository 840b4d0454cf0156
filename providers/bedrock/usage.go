package bedrock

import (
	"encoding/json"
	"slices"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/anthropic"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is every form in which Bedrock counts tokens, except that of Anthropic Messages.
type usage struct {
	// Converse and Nova (API Reference, "TokenUsage").
	Input        *wire.Count `json:"inputTokens"`
	Output       *wire.Count `json:"outputTokens"`
	Total        *wire.Count `json:"totalTokens"`
	CacheRead    *wire.Count `json:"cacheReadInputTokens"`
	CacheWrite   *wire.Count `json:"cacheWriteInputTokens"`
	CacheDetails []struct {
		Input wire.Count `json:"inputTokens"`
		TTL   string     `json:"ttl"`
	} `json:"cacheDetails"`
	// Invocation metrics; the counts of the cache are in Nova's usage, too.
	InputCount      *wire.Count `json:"inputTokenCount"`
	OutputCount     *wire.Count `json:"outputTokenCount"`
	CacheReadCount  *wire.Count `json:"cacheReadInputTokenCount"`
	CacheWriteCount *wire.Count `json:"cacheWriteInputTokenCount"`
	// The chat completions of Mistral, AI21 and others; cached tokens are part of
	// the prompt, reasoning is part of the completion.
	Prompt        *wire.Count `json:"prompt_tokens"`
	Completion    *wire.Count `json:"completion_tokens"`
	ChatTotal     *wire.Count `json:"total_tokens"`
	PromptDetails struct {
		Cached wire.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// Titan and Llama, which count beside their text.
	sideCounts
	// Anthropic Messages.
	ClaudeInput  *wire.Count `json:"input_tokens"`
	ClaudeOutput *wire.Count `json:"output_tokens"`
}

// sideCounts are the counts that some models write beside their text.
type sideCounts struct {
	TitanInput   *wire.Count  `json:"inputTextTokenCount,omitempty"`
	TitanOutput  *wire.Count  `json:"totalOutputTextTokenCount,omitempty"`
	TitanResults []titanCount `json:"results,omitempty"`
	LlamaInput   *wire.Count  `json:"prompt_token_count,omitempty"`
	LlamaOutput  *wire.Count  `json:"generation_token_count,omitempty"`
}

type titanCount struct {
	Tokens *wire.Count `json:"tokenCount,omitempty"`
}

// result is the count of Titan's one result, nil if there is none.
func (a sideCounts) result() *wire.Count {
	if len(a.TitanResults) == 0 {
		return nil
	}
	return a.TitanResults[0].Tokens
}

// fields account for the numbers of all forms.
var fields = wire.NewFields(append([]wire.UsageField{
	{Path: "inputTokens", Column: "tokens_in", Reason: "beside the cache"},
	{Path: "outputTokens", Column: "tokens_out"},
	{Path: "totalTokens", Reason: "checked: the sum of the others"},
	{Path: "cacheReadInputTokens", Column: "tokens_cache_read"},
	{Path: "cacheWriteInputTokens", Column: "tokens_cache_write"},
	{Path: "cacheDetails[].inputTokens", Column: "tokens_cache_write", Reason: "part of cacheWriteInputTokens, checked; an hour has its own price"},
	{Path: "inputTokenCount", Column: "tokens_in", Reason: "checked where there is a usage object, too"},
	{Path: "outputTokenCount", Column: "tokens_out", Reason: "checked where there is a usage object, too"},
	{Path: "cacheReadInputTokenCount", Column: "tokens_cache_read", Reason: "checked: cacheReadInputTokens under another name"},
	{Path: "cacheWriteInputTokenCount", Column: "tokens_cache_write", Reason: "checked: cacheWriteInputTokens under another name"},
	{Path: "invocationLatency", Reason: "a time"},
	{Path: "firstByteLatency", Reason: "a time"},
	{Path: "prompt_tokens", Column: "tokens_in"},
	{Path: "completion_tokens", Column: "tokens_out"},
	{Path: "total_tokens", Reason: "checked: the sum of the others"},
	{Path: "prompt_tokens_details.cached_tokens", Column: "tokens_cache_read", Reason: "part of prompt_tokens, checked"},
	{Path: "completion_tokens_details.reasoning_tokens", Column: "tokens_reasoning", Reason: "part of completion_tokens, checked"},
	{Path: "inputTextTokenCount", Column: "tokens_in"},
	{Path: "totalOutputTextTokenCount", Column: "tokens_out"},
	{Path: "results[].tokenCount", Column: "tokens_out"},
	{Path: "prompt_token_count", Column: "tokens_in"},
	{Path: "generation_token_count", Column: "tokens_out"},
	{Path: "trace.guardrail.*.*.invocationMetrics.usage.*", Column: "server_tools", Reason: "beside the usage object; text units, each policy with its own fee"},
}, anthropic.UsageFields()...)...)

// UsageFields say what becomes of each number in a usage object of this wire, in the
// forms of Converse, of invocation metrics and of the models' own bodies.
func UsageFields() []wire.UsageField { return slices.Clone(fields.List()) }

// readUsage makes disjoint classes of any of the forms. Input excludes the cache
// except in chat completions (User Guide, "Prompt caching"); Converse does not
// separate reasoning from other output. served is the model that the reply names.
func readUsage(raw json.RawMessage, served string) (providers.Usage, bool, error) {
	var r usage
	if err := wire.Unmarshal(raw, &r); err != nil {
		return providers.Usage{}, false, err
	}
	if r.ClaudeInput != nil || r.ClaudeOutput != nil {
		return anthropic.ReadUsage(raw, served)
	}
	var u providers.Usage
	in, hasInput := one(&u, "inputTokens", r.Input, r.InputCount, r.Prompt, r.TitanInput, r.LlamaInput)
	out, hasOutput := one(&u, "outputTokens", r.Output, r.OutputCount, r.Completion, r.TitanOutput, r.result(), r.LlamaOutput)
	u.CacheRead, _ = one(&u, "cacheReadInputTokens", r.CacheRead, r.CacheReadCount)
	u.CacheWrite, _ = one(&u, "cacheWriteInputTokens", r.CacheWrite, r.CacheWriteCount)
	r.details(&u)
	if r.Total != nil && int64(*r.Total) != in+out+u.CacheRead+u.CacheWrite {
		u.Doubt("totalTokens", "is not the sum of the others")
	}
	if r.ChatTotal != nil && int64(*r.ChatTotal) != in+out {
		u.Doubt("total_tokens", "is not the sum of prompt_tokens and completion_tokens")
	}
	cached, reasoning := int64(r.PromptDetails.Cached), int64(r.CompletionDetails.Reasoning)
	if cached > in {
		u.Doubt("prompt_tokens_details.cached_tokens", "is more than prompt_tokens")
	}
	if reasoning > out {
		u.Doubt("completion_tokens_details.reasoning_tokens", "is more than completion_tokens")
	}
	u.Input, u.CacheRead = max(0, in-cached), u.CacheRead+cached
	u.Output, u.Reasoning = max(0, out-reasoning), reasoning
	return u, hasInput && hasOutput, nil
}

// details reads how long each cache write is kept.
func (r usage) details(u *providers.Usage) {
	var sum int64
	for _, d := range r.CacheDetails {
		sum += int64(d.Input)
		switch d.TTL {
		case "1h":
			u.CacheWriteLong += int64(d.Input)
		case "5m":
		default:
			u.Doubt("cacheDetails[].ttl", "is of a kind whose price is unknown")
		}
	}
	if len(r.CacheDetails) > 0 && sum != u.CacheWrite {
		u.Doubt("cacheDetails[].inputTokens", "do not add up to cacheWriteInputTokens")
		u.CacheWrite = max(u.CacheWrite, sum)
	}
}

// one is the count that has one of several names; under several, it is to be the same.
// ok is false if it has none.
func one(u *providers.Usage, name string, counts ...*wire.Count) (n int64, ok bool) {
	for _, c := range counts {
		if c == nil {
			continue
		}
		if ok && n != int64(*c) {
			u.Doubt(name, "has two values under two names")
		}
		n, ok = max(n, int64(*c)), true
	}
	return n, ok
}

// setUsage keeps what is counted, half a report too.
func setUsage(b *wire.Builder, raw json.RawMessage) {
	b.Usage(raw, fields, func(raw json.RawMessage) (providers.Usage, bool, error) {
		u, ok, err := readUsage(raw, b.Reply.Model)
		if err == nil && !ok {
			b.Reply.Usage = u
		}
		return u, ok, err
	})
}

// check compares the usage that a model counts with the invocation metrics beside it.
func check(u *providers.Usage, metrics json.RawMessage) {
	m, ok, err := readUsage(metrics, "")
	fields.Account(u, metrics)
	if err != nil || !ok {
		return // latencies alone
	}
	sum := func(u providers.Usage) [2]int64 {
		return [2]int64{u.Input + u.CacheRead + u.CacheWrite, u.Output + u.Reasoning}
	}
	if m.Input != u.Input && sum(m)[0] != sum(*u)[0] || sum(m)[1] != sum(*u)[1] {
		u.Doubt("amazon-bedrock-invocationMetrics", "counts another number of tokens than the model")
	}
}

// setTier keeps the tier that served: {"type": "priority"} (API Reference,
// "ServiceTier"), or that it was served fast: {"latency": "optimized"}
// ("PerformanceConfiguration").
func setTier(b *wire.Builder, e ending) {
	var tier struct{ Type string }
	if wire.Unmarshal(e.ServiceTier, &tier) == nil && tier.Type != "" {
		b.Reply.Usage.Tier = tier.Type
	}
	var performance struct{ Latency string }
	if wire.Unmarshal(e.Performance, &performance) == nil && performance.Latency != "" && performance.Latency != "standard" {
		b.Reply.Usage.Tier = performance.Latency
	}
}
