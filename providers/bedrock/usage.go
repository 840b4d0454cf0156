package bedrock

import (
	"cmp"
	"encoding/json"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is every form in which Bedrock counts tokens.
type usage struct {
	// Converse and Nova (API Reference, "TokenUsage").
	Input        *wire.Count `json:"inputTokens"`
	Output       *wire.Count `json:"outputTokens"`
	CacheRead    *wire.Count `json:"cacheReadInputTokens"`
	CacheWrite   *wire.Count `json:"cacheWriteInputTokens"`
	CacheDetails []struct {
		Input wire.Count `json:"inputTokens"`
		TTL   string     `json:"ttl"`
	} `json:"cacheDetails"`
	// Invocation metrics; the counts of the cache stand in Nova's usage, too.
	InputCount      *wire.Count `json:"inputTokenCount"`
	OutputCount     *wire.Count `json:"outputTokenCount"`
	CacheReadCount  *wire.Count `json:"cacheReadInputTokenCount"`
	CacheWriteCount *wire.Count `json:"cacheWriteInputTokenCount"`
	// Anthropic Messages.
	ClaudeInput   *wire.Count `json:"input_tokens"`
	ClaudeOutput  *wire.Count `json:"output_tokens"`
	ClaudeRead    *wire.Count `json:"cache_read_input_tokens"`
	ClaudeWrite   *wire.Count `json:"cache_creation_input_tokens"`
	CacheCreation struct {
		Long wire.Count `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	OutputDetails struct {
		Thinking wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	// The chat completions of Mistral, AI21 and others; cached tokens are part of
	// the prompt, reasoning is part of the completion.
	Prompt        *wire.Count `json:"prompt_tokens"`
	Completion    *wire.Count `json:"completion_tokens"`
	PromptDetails struct {
		Cached wire.Count `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// readUsage makes disjoint classes of any of the forms. Input excludes the cache
// but in chat completions (User Guide, "Prompt caching"); Converse does not tell
// reasoning from other output.
func readUsage(raw json.RawMessage) (providers.Usage, bool, error) {
	var u usage
	if err := wire.Unmarshal(raw, &u); err != nil {
		return providers.Usage{}, false, err
	}
	input := cmp.Or(u.Input, u.InputCount, u.ClaudeInput, u.Prompt)
	output := cmp.Or(u.Output, u.OutputCount, u.ClaudeOutput, u.Completion)
	in, out := value(input), value(output)
	cached := min(u.PromptDetails.Cached, in)
	reasoning := min(u.OutputDetails.Thinking+u.CompletionDetails.Reasoning, out)
	write := value(cmp.Or(u.CacheWrite, u.CacheWriteCount, u.ClaudeWrite))
	long := u.CacheCreation.Long
	for _, d := range u.CacheDetails {
		if d.TTL == "1h" {
			long += min(d.Input, wire.MaxCount)
		}
	}
	return providers.Usage{
		Input: int64(in - cached), Output: int64(out - reasoning), Reasoning: int64(reasoning),
		CacheRead:  int64(cached + value(cmp.Or(u.CacheRead, u.CacheReadCount, u.ClaudeRead))),
		CacheWrite: int64(write), CacheWriteLong: int64(min(long, write)),
	}, input != nil && output != nil, nil
}

func value(c *wire.Count) wire.Count {
	if c == nil {
		return 0
	}
	return *c
}

// setUsage keeps what is counted, half a report too.
func setUsage(b *wire.Builder, raw json.RawMessage) {
	b.Usage(raw, nil, func(raw json.RawMessage) (providers.Usage, bool, error) {
		u, ok, err := readUsage(raw)
		if err == nil && !ok {
			b.Reply.Usage = u
		}
		return u, ok, err
	})
}

// setTier keeps the tier that served: {"type": "priority"} (API Reference,
// "ServiceTier").
func setTier(b *wire.Builder, raw json.RawMessage) {
	var tier struct{ Type string }
	if wire.Unmarshal(raw, &tier) == nil && tier.Type != "" {
		b.Reply.Usage.Tier = tier.Type
	}
}
