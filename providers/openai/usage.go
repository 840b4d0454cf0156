package openai

import (
	"cmp"
	"encoding/json"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is what servers report. Cache counts stand in different places.
type usage struct {
	Prompt        *wire.Count `json:"prompt_tokens"`
	Completion    *wire.Count `json:"completion_tokens"`
	Total         wire.Count  `json:"total_tokens"`
	PromptDetails *struct {
		Cached     wire.Count `json:"cached_tokens"`
		CacheWrite wire.Count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails *struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Cached     wire.Count `json:"cached_tokens"`
	CacheHit   wire.Count `json:"prompt_cache_hit_tokens"`
	CacheRead  wire.Count `json:"cache_read_input_tokens"`
	CacheWrite wire.Count `json:"cache_creation_input_tokens"`
	Reasoning  wire.Count `json:"reasoning_tokens"`
}

// readUsage makes disjoint classes of a usage object. prompt_tokens includes
// what came from and went into the cache. completion_tokens includes reasoning,
// except where the server's own total shows that it does not (xAI).
func readUsage(raw json.RawMessage) (providers.Usage, bool, error) {
	var u usage
	if err := json.Unmarshal(raw, &u); err != nil || u.Prompt == nil && u.Completion == nil {
		return providers.Usage{}, false, err
	}
	read := cmp.Or(u.Cached, u.CacheHit, u.CacheRead)
	write, reasoning := u.CacheWrite, u.Reasoning
	if d := u.PromptDetails; d != nil {
		read, write = cmp.Or(d.Cached, read), cmp.Or(d.CacheWrite, write)
	}
	if d := u.CompletionDetails; d != nil {
		reasoning = cmp.Or(d.Reasoning, reasoning)
	}
	var prompt, completion wire.Count
	if u.Prompt != nil {
		prompt = *u.Prompt
	}
	if u.Completion != nil {
		completion = *u.Completion
	}
	apart := u.Total > 0 && u.Total == prompt+completion+reasoning || u.Total == 0 && reasoning > completion
	if !apart {
		reasoning = min(reasoning, completion)
		completion -= reasoning
	}
	read = min(read, prompt)
	write = min(write, prompt-read)
	return providers.Usage{
		Input: int64(prompt - read - write), Output: int64(completion),
		CacheRead: int64(read), CacheWrite: int64(write), Reasoning: int64(reasoning),
	}, true, nil
}
