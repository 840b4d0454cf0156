package anthropic

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is what the API reports ("Messages", "Prompt caching", docs.claude.com).
type usage struct {
	Input         *wire.Count `json:"input_tokens"`
	Output        *wire.Count `json:"output_tokens"`
	CacheRead     wire.Count  `json:"cache_read_input_tokens"`
	CacheWrite    *wire.Count `json:"cache_creation_input_tokens"`
	CacheCreation *struct {
		Short wire.Count `json:"ephemeral_5m_input_tokens"`
		Long  wire.Count `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	OutputDetails *struct {
		Thinking wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	ServiceTier json.RawMessage `json:"service_tier"`
}

// count sets the usage of the reply. A stream reports it twice, cumulatively: the
// fields of message_delta replace those of message_start, null replaces nothing.
func (d *decoder) count(b *wire.Builder, raw json.RawMessage) {
	if !wire.Given(raw) {
		return
	}
	d.usage = overlay(d.usage, raw)
	b.Usage(d.usage, nil, func(raw json.RawMessage) (providers.Usage, bool, error) {
		u, ok, err := readUsage(raw)
		b.Reply.Usage = u // what is known of half a report is kept
		return u, ok, err
	})
}

// overlay lays the fields of an object over those of another. One that is alone
// stays as it is, byte for byte.
func overlay(under, over json.RawMessage) json.RawMessage {
	var fields, more map[string]json.RawMessage
	if len(under) == 0 || wire.Unmarshal(over, &more) != nil || wire.Unmarshal(under, &fields) != nil {
		return over
	}
	for name, value := range more {
		if string(value) != "null" {
			fields[name] = value
		}
	}
	text, _ := encoded(fields) // they were decoded
	return text
}

// readUsage makes disjoint classes of a usage object. input_tokens excludes
// the cache; output_tokens includes thinking.
func readUsage(raw json.RawMessage) (providers.Usage, bool, error) {
	var u usage
	if err := wire.Unmarshal(raw, &u); err != nil {
		return providers.Usage{}, false, err
	}
	var input, output, thinking, long wire.Count
	if u.Input != nil {
		input = *u.Input
	}
	if u.Output != nil {
		output = *u.Output
	}
	if u.OutputDetails != nil {
		thinking = min(u.OutputDetails.Thinking, output)
	}
	write := wire.Count(0)
	if c := u.CacheCreation; c != nil {
		long, write = c.Long, c.Short+c.Long
	}
	if u.CacheWrite != nil {
		write = *u.CacheWrite
	}
	return providers.Usage{
		Input: int64(input), Output: int64(output - thinking), Reasoning: int64(thinking), CacheRead: int64(u.CacheRead),
		CacheWrite: int64(write), CacheWriteLong: int64(min(long, write)), Tier: str(u.ServiceTier),
	}, u.Input != nil && u.Output != nil, nil
}
