package cohere

import (
	"encoding/json"
	"slices"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is version 2's usage and version 1's meta. tokens is what the model
// processed; billed_units, without the provider's own preamble, is what is paid.
type usage struct {
	Tokens    *counts     `json:"tokens"`
	Billed    *counts     `json:"billed_units"`
	Cached    *wire.Count `json:"cached_tokens"`
	Reasoning *wire.Count `json:"reasoning_tokens"`
}

type counts struct {
	Input           *wire.Count `json:"input_tokens"`
	Output          *wire.Count `json:"output_tokens"`
	Reasoning       *wire.Count `json:"reasoning_tokens"`
	Searches        wire.Count  `json:"search_units"`
	Classifications wire.Count  `json:"classifications"`
}

// hasTokens reports whether there are tokens among the counts.
func (c *counts) hasTokens() bool { return c != nil && (c.Input != nil || c.Output != nil) }

// fields account for the numbers of a usage object.
var fields = wire.NewFields(
	wire.UsageField{Path: "billed_units.input_tokens", Column: "tokens_in"},
	wire.UsageField{Path: "billed_units.output_tokens", Column: "tokens_out"},
	wire.UsageField{Path: "billed_units.reasoning_tokens", Column: "tokens_reasoning", Reason: "beside output_tokens, or part of them where tokens.output_tokens leaves no room"},
	wire.UsageField{Path: "billed_units.search_units", Column: "server_tools"},
	wire.UsageField{Path: "billed_units.classifications", Column: "server_tools"},
	wire.UsageField{Path: "tokens.input_tokens", Column: "tokens_in_processed", Reason: "checked: at least the billed ones; paid where nothing is billed"},
	wire.UsageField{Path: "tokens.output_tokens", Column: "tokens_out_processed", Reason: "checked: at least the billed ones; paid where nothing is billed"},
	wire.UsageField{Path: "tokens.reasoning_tokens", Column: "tokens_reasoning", Reason: "as billed_units.reasoning_tokens"},
	wire.UsageField{Path: "reasoning_tokens", Column: "tokens_reasoning", Reason: "as billed_units.reasoning_tokens"},
	wire.UsageField{Path: "cached_tokens", Column: "tokens_cache_read", Reason: "part of tokens.input_tokens, checked; not read where fewer tokens are billed"},
)

// UsageFields say what becomes of each number in a usage object of this wire, in both
// versions.
func UsageFields() []wire.UsageField { return slices.Clone(fields.List()) }

// readUsage sets the usage.
func readUsage(b *wire.Builder, raw json.RawMessage) {
	var r usage
	if wire.Unmarshal(raw, &r) == nil && r == (usage{}) {
		return // version 1's meta of the API's version
	}
	b.Usage(raw, fields, func(raw json.RawMessage) (providers.Usage, bool, error) {
		var r usage
		if err := wire.Unmarshal(raw, &r); err != nil {
			return providers.Usage{}, false, err
		}
		u, ok := r.classes()
		b.Reply.Usage = u // what is known of half a report is kept
		return u, ok, nil
	})
}

// classes makes disjoint classes of what is paid: the billed units or, where there are
// none, the processed tokens.
func (r usage) classes() (u providers.Usage, ok bool) {
	paid, cached := r.Tokens, r.Cached.Value()
	if r.Billed.hasTokens() {
		paid = r.Billed
	}
	if !paid.hasTokens() {
		paid = &counts{}
	}
	u.Input, u.Output = paid.Input.Value(), paid.Output.Value()
	ok = paid.Input != nil && paid.Output != nil
	u.Reported = ok
	whole := u.Input // what the cached tokens are part of
	if paid == r.Billed && r.Tokens.hasTokens() {
		u.Processed = &providers.Processed{Input: r.Tokens.Input.Value(), Output: r.Tokens.Output.Value()}
		if whole = u.Processed.Input; u.Input > whole || u.Output > u.Processed.Output {
			u.Doubt("billed_units", "is more than was processed")
		}
	}
	if cached > whole {
		u.Doubt("cached_tokens", "is more than tokens.input_tokens")
	}
	if whole == u.Input { // else how much of it is billed is not known
		u.Input, u.CacheRead = max(0, u.Input-cached), cached
	}
	if r.Billed != nil {
		u.AddServerTool("classification", int64(r.Billed.Classifications))
		u.AddServerTool("search", int64(r.Billed.Searches))
	}
	r.reason(&u, paid)
	if p := u.Processed; p != nil && p.Input == u.Input+u.CacheRead && p.Output == u.Output+u.Reasoning {
		u.Processed = nil
	}
	return u, ok
}

// reason reads the tokens of thinking, which are undocumented: beside the billed output
// where the processed output has room for both, part of it otherwise.
func (r usage) reason(u *providers.Usage, paid *counts) {
	var n int64
	for _, c := range []*counts{{Reasoning: r.Reasoning}, r.Tokens, r.Billed} {
		if c != nil && c.Reasoning != nil {
			n = int64(*c.Reasoning)
		}
	}
	apart, within := *u, *u
	apart.Reasoning = n
	within.Output, within.Reasoning = u.Output-n, n
	switch {
	case n == 0:
	case paid == r.Billed && u.Processed == nil: // either is possible
		if n <= u.Output {
			apart.Other = &within
		}
		*u = apart
	case paid == r.Billed && u.Output+n <= u.Processed.Output:
		*u = apart
	case n <= u.Output:
		*u = within
	default:
		*u = apart
		u.Doubt("reasoning_tokens", "is more than the output tokens")
	}
}
