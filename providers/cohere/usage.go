package cohere

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is version 2's usage and version 1's meta. tokens is what the model
// processed; billed_units, without the provider's own preamble, is what is paid.
type usage struct {
	Tokens *counts     `json:"tokens"`
	Billed *counts     `json:"billed_units"`
	Cached *wire.Count `json:"cached_tokens"`
}

type counts struct {
	Input  *wire.Count `json:"input_tokens"`
	Output *wire.Count `json:"output_tokens"`
}

// readUsage sets the usage. cached_tokens is part of the input. There is no count
// of thinking, which output_tokens includes. Billed units stand in only where no
// tokens are told.
func readUsage(b *wire.Builder, raw json.RawMessage) {
	if !wire.Given(raw) {
		return
	}
	var u usage
	if wire.Unmarshal(raw, &u) != nil {
		b.Reply.RawUsage = raw
		b.Warn("usage: not understood, counted as not reported")
		return
	}
	if u.Tokens == nil {
		u.Tokens = u.Billed
	}
	if u.Tokens == nil && u.Cached == nil {
		return // version 1's meta of the API's version
	}
	b.Reply.RawUsage = raw
	if u.Tokens == nil {
		u.Tokens = &counts{}
	}
	input, cached := value(u.Tokens.Input), value(u.Cached)
	cached = min(cached, input)
	b.Reply.Usage = providers.Usage{
		Reported: u.Tokens.Input != nil && u.Tokens.Output != nil,
		Input:    input - cached, CacheRead: cached, Output: value(u.Tokens.Output),
	}
}

func value(c *wire.Count) int64 {
	if c == nil {
		return 0
	}
	return int64(*c)
}
