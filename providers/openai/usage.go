package openai

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is what every server reports; numbers are all that it holds.
type usage struct {
	Prompt     *wire.Count     `json:"prompt_tokens"`
	Completion *wire.Count     `json:"completion_tokens"`
	Total      wire.Count      `json:"total_tokens"`
	Tier       json.RawMessage `json:"service_tier"` // Mistral's
	OwnKey     json.RawMessage `json:"is_byok"`

	numbers wire.Numbers
}

// account takes a usage object. It may come many times in a stream, with less in
// it while the reply is made: the last one counts that has both sides.
func (d *decoder) account(b *wire.Builder, raw json.RawMessage) {
	if !wire.Given(raw) {
		return
	}
	u, err := readUsage(raw)
	known := u.Prompt != nil && u.Completion != nil
	if b.Reply.Usage.Reported && !known {
		return
	}
	var out providers.Usage
	if u.Prompt != nil || u.Completion != nil {
		out = u.classes(d.dialect)
	}
	if cost := u.numbers.Cost(&out, string(u.OwnKey) == "true"); cost != nil {
		b.Reply.CostNanoUSD = cost
	}
	b.Usage(raw, fields, func(json.RawMessage) (providers.Usage, bool, error) { return out, known, err })
	if !known && err == nil {
		b.Reply.Usage = out // one side is kept
	}
}

// readUsage reads a usage object.
func readUsage(raw json.RawMessage) (usage, error) {
	var u usage
	if err := wire.Unmarshal(raw, &u); err != nil {
		return usage{}, err
	}
	u.numbers = wire.ReadNumbers(raw, fields)
	if u.Prompt != nil && u.Completion == nil && u.Total >= max(*u.Prompt, 1) {
		u.Completion = new(u.Total - *u.Prompt) // legacy completions leave a zero out
	}
	return u, nil
}

// classes makes disjoint classes of the counts, and checks them against each other. A
// count that appears in several places is read from the largest of them.
func (u *usage) classes(d Dialect) providers.Usage {
	var out providers.Usage
	n := u.numbers
	tally := wire.Tally{
		InputField: "prompt_tokens", Total: u.Total, Apart: d.ReasoningApart,
		Read: n.Largest(&out, "prompt_tokens_details.cached_tokens", "prompt_token_details.cached_tokens", "num_cached_tokens",
			"cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"),
		Write: n.Largest(&out, "prompt_tokens_details.cache_write_tokens", "prompt_tokens_details.cache_creation_tokens",
			"prompt_tokens_details.cache_creation_input_tokens", "cache_creation_input_tokens"),
		WriteLong: n.Largest(&out, "cache_creation.ephemeral_1h_input_tokens", "prompt_tokens_details.cache_creation.ephemeral_1h_input_tokens",
			"prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens"),
		Reasoning: n.Largest(&out, "completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
		Fed:       n.Count(&out, "citation_tokens"), // docs.perplexity.ai/guides/pricing
	}
	if u.Prompt != nil {
		tally.Input = *u.Prompt
	}
	if u.Completion != nil {
		tally.Output = *u.Completion
	}
	minutes := n.Largest(&out, "cache_creation.ephemeral_5m_input_tokens", "prompt_tokens_details.cache_creation.ephemeral_5m_input_tokens",
		"prompt_tokens_details.cache_creation_token_details.ephemeral_5m_input_tokens")
	if parts := minutes + tally.WriteLong; parts > 0 && tally.Write > 0 && parts != tally.Write {
		out.Doubt("cache_creation", "is not the sum of its parts")
	}
	tally.Write = max(tally.Write, minutes+tally.WriteLong)
	tally.Fill(&out)
	u.check(&out, int64(tally.Fed))
	wire.AddServerTools(&out, n.ServerToolUses(&out))
	if tier := texts(u.Tier); tier != nil {
		out.Tier = tier[0]
	}
	return out
}

// check compares the numbers that repeat or divide what the classes count.
func (u *usage) check(out *providers.Usage, fed int64) {
	n := u.numbers
	prompt, completion := out.Input+out.CacheRead+out.CacheWrite-fed, out.Output+out.Reasoning
	if n.Has("prompt_cache_miss_tokens") && int64(n.Count(out, "prompt_cache_miss_tokens")) != prompt-out.CacheRead {
		out.Doubt("prompt_cache_miss_tokens", "is not what the cache did not have of the prompt")
	}
	if kinds := n.Sum(out, "prompt_tokens_details.text_tokens", "prompt_tokens_details.audio_tokens",
		"prompt_tokens_details.image_tokens", "prompt_tokens_details.video_tokens"); int64(kinds) > prompt {
		out.Doubt("prompt_tokens_details", "has more tokens than the prompt")
	}
	if kinds := n.Sum(out, "completion_tokens_details.text_tokens", "completion_tokens_details.audio_tokens",
		"completion_tokens_details.image_tokens", "completion_tokens_details.video_tokens"); int64(kinds) > completion {
		out.Doubt("completion_tokens_details", "has more tokens than the completion")
	}
}
