package responses

import (
	"encoding/json"
	"math"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is what servers report.
type usage struct {
	Input        *wire.Count `json:"input_tokens"`
	Output       *wire.Count `json:"output_tokens"`
	Total        wire.Count  `json:"total_tokens"`
	InputDetails *struct {
		Cached     wire.Count `json:"cached_tokens"`
		CacheWrite wire.Count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails *struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	// Cost is OpenRouter's, in US dollars; Ticks is xAI's, 10^10 to the dollar.
	Cost        *float64 `json:"cost"`
	OwnKey      bool     `json:"is_byok"`
	CostDetails *struct {
		Upstream *float64 `json:"upstream_inference_cost"`
	} `json:"cost_details"`
	Ticks *float64 `json:"cost_in_usd_ticks"`
}

// readUsage reads the usage of a response. The tier that served stands beside it.
func readUsage(b *wire.Builder, raw json.RawMessage, tier string) {
	b.Usage(raw, nil, func(raw json.RawMessage) (providers.Usage, bool, error) {
		var u usage
		if err := wire.Unmarshal(raw, &u); err != nil || u.Input == nil && u.Output == nil {
			return providers.Usage{}, false, err
		}
		b.Reply.CostNanoUSD = u.nanoUSD()
		classes := u.classes()
		if tier != "auto" { // the one asked for, not one that served
			classes.Tier = tier
		}
		if u.Input == nil || u.Output == nil {
			b.Reply.Usage = classes
			return providers.Usage{}, false, nil
		}
		return classes, true, nil
	})
}

// classes makes disjoint classes. input_tokens includes what came from and went
// into the cache. output_tokens includes reasoning (OpenAI API reference, "The
// response object"), except where the server's own total shows that it does not.
func (u usage) classes() providers.Usage {
	var in, out, read, write, reasoning wire.Count
	if u.Input != nil {
		in = *u.Input
	}
	if u.Output != nil {
		out = *u.Output
	}
	if d := u.InputDetails; d != nil {
		read, write = min(d.Cached, in), d.CacheWrite
	}
	write = min(write, in-read)
	if d := u.OutputDetails; d != nil {
		reasoning = d.Reasoning
	}
	apart := u.Total > 0 && u.Total == in+out+reasoning || u.Total == 0 && reasoning > out
	if !apart {
		reasoning = min(reasoning, out)
		out -= reasoning
	}
	return providers.Usage{Input: int64(in - read - write), Output: int64(out), CacheRead: int64(read), CacheWrite: int64(write), Reasoning: int64(reasoning)}
}

// nanoUSD is the cost told (docs.x.ai, "Cost Tracking"; openrouter.ai/docs,
// "Usage Accounting": with a key of one's own the upstream provider is paid
// besides). nil if none that makes sense is.
func (u usage) nanoUSD() *int64 {
	var nano float64
	switch {
	case u.Ticks != nil:
		nano = *u.Ticks / 10
	case u.Cost != nil:
		nano = *u.Cost * 1e9
		if u.OwnKey && u.CostDetails != nil && u.CostDetails.Upstream != nil {
			nano += *u.CostDetails.Upstream * 1e9
		}
	default:
		return nil
	}
	if !(nano >= 0 && nano <= 1e18) {
		return nil
	}
	rounded := int64(math.Round(nano))
	return &rounded
}
