package responses

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is what every server reports; numbers are all that it holds.
type usage struct {
	Input  *wire.Count     `json:"input_tokens"`
	Output *wire.Count     `json:"output_tokens"`
	Total  wire.Count      `json:"total_tokens"`
	OwnKey json.RawMessage `json:"is_byok"`

	numbers wire.Numbers
}

// readUsage reads the usage of a response. The tier that served is beside it.
func readUsage(b *wire.Builder, raw json.RawMessage, tier string) {
	b.Usage(raw, fields, func(raw json.RawMessage) (providers.Usage, bool, error) {
		var u usage
		if err := wire.Unmarshal(raw, &u); err != nil || u.Input == nil && u.Output == nil {
			return providers.Usage{}, false, err
		}
		u.numbers = wire.ReadNumbers(raw, fields)
		classes := u.classes()
		b.Reply.CostNanoUSD = u.numbers.Cost(&classes, string(u.OwnKey) == "true")
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

// classes makes disjoint classes of the counts, and checks them against each other.
// input_tokens includes what came from and went into the cache, output_tokens includes
// reasoning (OpenAI API reference, "The response object").
func (u usage) classes() providers.Usage {
	var out providers.Usage
	n := u.numbers
	tally := wire.Tally{
		InputField: "input_tokens", Total: u.Total,
		Read:      n.Count(&out, "input_tokens_details.cached_tokens"),
		Write:     n.Count(&out, "input_tokens_details.cache_write_tokens"),
		Reasoning: n.Count(&out, "output_tokens_details.reasoning_tokens"),
	}
	if u.Input != nil {
		tally.Input = *u.Input
	}
	if u.Output != nil {
		tally.Output = *u.Output
	}
	tally.Fill(&out)
	input, output := out.Input+out.CacheRead+out.CacheWrite, out.Output+out.Reasoning
	if int64(n.Count(&out, "context_details.input_tokens")) > input || int64(n.Count(&out, "context_details.output_tokens")) > output {
		out.Doubt("context_details", "has more tokens than the usage")
	}
	wire.AddServerTools(&out, n.ServerToolUses(&out))
	return out
}
