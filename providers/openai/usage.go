package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"

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
	Cached     wire.Count      `json:"cached_tokens"`
	CacheHit   wire.Count      `json:"prompt_cache_hit_tokens"`
	CacheRead  wire.Count      `json:"cache_read_input_tokens"`
	CacheWrite wire.Count      `json:"cache_creation_input_tokens"`
	Reasoning  wire.Count      `json:"reasoning_tokens"`
	Tier       json.RawMessage `json:"service_tier"` // Mistral's
}

// account takes a usage object. It may come many times in a stream, with less in
// it while the reply is made: the last one counts that tells both sides.
func (d *decoder) account(b *wire.Builder, raw json.RawMessage) {
	if !wire.Given(raw) {
		return
	}
	u, known, err := d.readUsage(raw)
	if b.Reply.Usage.Reported && !known {
		return
	}
	b.Usage(raw, nil, func(json.RawMessage) (providers.Usage, bool, error) { return u, known, err })
	if !known && err == nil {
		b.Reply.Usage = u // what is told is kept
	}
	if cost, ok := readCost(raw); ok {
		b.Reply.CostNanoUSD = &cost
	}
}

// readUsage makes disjoint classes of a usage object; ok says that both sides are
// told. prompt_tokens includes what came from and went into the cache.
// completion_tokens includes reasoning, except where the server's own total shows
// that it does not, as xAI's does (docs.x.ai, guide Reasoning).
func (d *decoder) readUsage(raw json.RawMessage) (providers.Usage, bool, error) {
	var u usage
	if err := wire.Unmarshal(raw, &u); err != nil || u.Prompt == nil && u.Completion == nil {
		return providers.Usage{}, false, err
	}
	if u.Prompt != nil && u.Completion == nil && u.Total >= max(*u.Prompt, 1) {
		rest := u.Total - *u.Prompt // legacy completions leave a zero out
		u.Completion = &rest
	}
	known := u.Prompt != nil && u.Completion != nil
	read := cmp.Or(u.Cached, u.CacheHit, u.CacheRead)
	write, reasoning := u.CacheWrite, u.Reasoning
	if p := u.PromptDetails; p != nil {
		read, write = cmp.Or(p.Cached, read), cmp.Or(p.CacheWrite, write)
	}
	if c := u.CompletionDetails; c != nil {
		reasoning = cmp.Or(c.Reasoning, reasoning)
	}
	var prompt, completion wire.Count
	if u.Prompt != nil {
		prompt = *u.Prompt
	}
	if u.Completion != nil {
		completion = *u.Completion
	}
	apart := u.Total > 0 && u.Total == prompt+completion+reasoning || u.Total == 0 && (reasoning > completion || d.dialect.ReasoningApart)
	if !apart {
		reasoning = min(reasoning, completion)
		completion -= reasoning
	}
	read = min(read, prompt)
	write = min(write, prompt-read)
	out := providers.Usage{
		Input: int64(prompt - read - write), Output: int64(completion),
		CacheRead: int64(read), CacheWrite: int64(write), Reasoning: int64(reasoning),
	}
	if tier := texts(u.Tier); tier != nil {
		out.Tier = tier[0]
	}
	return out, known, nil
}

// readCost is what the usage object says the reply costs, in nano-USD:
// OpenRouter's and Vercel's cost in dollars, to which OpenRouter's own counts
// what the upstream charges to a key of one's own (openrouter.ai/docs, Usage
// Accounting); Perplexity's total_cost in dollars; xAI's ticks, of which a dollar
// has ten thousand million (docs.x.ai/developers/cost-tracking).
func readCost(raw json.RawMessage) (int64, bool) {
	var u struct {
		Cost    json.RawMessage `json:"cost"`
		Ticks   *float64        `json:"cost_in_usd_ticks"`
		OwnKey  bool            `json:"is_byok"`
		Details struct {
			Upstream float64 `json:"upstream_inference_cost"`
		} `json:"cost_details"`
	}
	if !bytes.Contains(raw, []byte(`"cost`)) || wire.Unmarshal(raw, &u) != nil {
		return 0, false
	}
	if u.Ticks != nil {
		return nano(*u.Ticks / 10)
	}
	var dollars float64
	var object struct {
		Total *float64 `json:"total_cost"`
	}
	switch {
	case len(u.Cost) == 0 || u.Cost[0] == 'n':
		return 0, false
	case json.Unmarshal(u.Cost, &dollars) == nil:
		if u.OwnKey {
			dollars += u.Details.Upstream
		}
	case json.Unmarshal(u.Cost, &object) == nil && object.Total != nil:
		dollars = *object.Total
	default:
		return 0, false
	}
	return nano(dollars * 1e9)
}

// maxCost bounds a cost: a million dollars for a reply are not believed.
const maxCost = 1e15

func nano(n float64) (int64, bool) {
	if n < 0 || n > maxCost {
		return 0, false
	}
	return int64(math.Round(n)), true
}
