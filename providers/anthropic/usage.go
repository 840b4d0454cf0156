package anthropic

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// report is what the API reports ("Messages", "Prompt caching", docs.claude.com).
type report struct {
	counts
	OutputDetails *struct {
		Thinking wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	ServerTools json.RawMessage `json:"server_tool_use"`
	ServiceTier json.RawMessage `json:"service_tier"`
	Speed       json.RawMessage `json:"speed"`
	Geo         json.RawMessage `json:"inference_geo"`
	Iterations  []iteration     `json:"iterations"`
}

// counts are the tokens of a reply, or of one of its iterations.
type counts struct {
	Input         *wire.Count `json:"input_tokens"`
	Output        *wire.Count `json:"output_tokens"`
	CacheRead     wire.Count  `json:"cache_read_input_tokens"`
	CacheWrite    *wire.Count `json:"cache_creation_input_tokens"`
	CacheCreation *struct {
		Short wire.Count `json:"ephemeral_5m_input_tokens"`
		Long  wire.Count `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// serverTools are the tools that Anthropic runs and counts in server_tool_use, each
// with _requests after its name.
var serverTools = []string{"code_execution", "tool_search", "web_fetch", "web_search"}

// fields account for the numbers of a report.
var fields = wire.NewFields(reportFields()...)

func reportFields() []wire.UsageField {
	list := append(countFields(""), wire.UsageField{Path: "output_tokens_details.thinking_tokens", Column: "tokens_reasoning", Reason: "part of output_tokens, checked"})
	for _, tool := range serverTools {
		list = append(list, wire.UsageField{Path: "server_tool_use." + tool + "_requests", Column: "server_tools"})
	}
	return append(list, countFields("iterations[].")...)
}

// countFields are the numbers of counts below a path.
func countFields(path string) []wire.UsageField {
	return []wire.UsageField{
		{Path: path + "input_tokens", Column: "tokens_in", Reason: "beside the cache"},
		{Path: path + "output_tokens", Column: "tokens_out"},
		{Path: path + "cache_read_input_tokens", Column: "tokens_cache_read"},
		{Path: path + "cache_creation_input_tokens", Column: "tokens_cache_write"},
		{Path: path + "cache_creation.ephemeral_5m_input_tokens", Column: "tokens_cache_write", Reason: "part of cache_creation_input_tokens, checked"},
		{Path: path + "cache_creation.ephemeral_1h_input_tokens", Column: "tokens_cache_write", Reason: "part of cache_creation_input_tokens, checked; its own price"},
	}
}

// UsageFields say what becomes of each number in a usage object of this wire.
func UsageFields() []wire.UsageField { return slices.Clone(fields.List()) }

// count sets the usage of the reply. A stream reports it twice, cumulatively: the
// fields of message_delta replace those of message_start, null replaces nothing.
func (d *decoder) count(b *wire.Builder, raw json.RawMessage) {
	if !wire.Given(raw) {
		return
	}
	d.usage = overlay(d.usage, raw)
	b.Usage(d.usage, fields, func(raw json.RawMessage) (providers.Usage, bool, error) {
		u, ok, err := ReadUsage(raw, b.Reply.Model)
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
	text, _ := plainjson.Marshal(fields) // they were decoded
	return text
}

// ReadUsage makes disjoint classes of a usage object of the Messages API, which other
// clouds report too. input_tokens excludes the cache; output_tokens includes thinking;
// served is the model that the reply names. ok is false if one side is not counted.
func ReadUsage(raw json.RawMessage, served string) (u providers.Usage, ok bool, err error) {
	var r report
	if err := wire.Unmarshal(raw, &r); err != nil {
		return providers.Usage{}, false, err
	}
	ok = r.Input != nil && r.Output != nil
	u = r.classes()
	u.Tier = str(r.ServiceTier)
	if str(r.Geo) == "us" {
		u.Doubt("inference_geo", "inference in the US alone has another price")
	}
	advisorTier := u.Tier
	if speed := str(r.Speed); speed != "" && speed != "standard" { // of the model asked
		u.Tier, advisorTier = speed, cmp.Or(advisorTier, "standard")
	}
	var tools map[string]json.RawMessage
	_ = wire.Unmarshal(r.ServerTools, &tools) // no object counts nothing
	for _, tool := range serverTools {
		var n wire.Count
		if len(tools[tool+"_requests"]) > 0 && wire.Unmarshal(tools[tool+"_requests"], &n) != nil {
			u.Doubt("server_tool_use."+tool+"_requests", "is not a count")
		}
		u.AddServerTool(tool, int64(n))
	}
	if len(r.Iterations) > 0 {
		u = r.iterated(u, served, advisorTier)
	}
	if r.OutputDetails != nil {
		takeThinking(&u, int64(r.OutputDetails.Thinking))
	}
	return u, ok, nil
}

// classes are the counts alone.
func (c counts) classes() (u providers.Usage) {
	var short, long int64
	if p := c.CacheCreation; p != nil {
		short, long = int64(p.Short), int64(p.Long)
		if c.CacheWrite != nil && int64(*c.CacheWrite) != short+long {
			u.Doubt("cache_creation_input_tokens", "is not the sum of cache_creation")
		}
	}
	u.Input, u.Output, u.CacheRead = c.Input.Value(), c.Output.Value(), int64(c.CacheRead)
	u.CacheWrite, u.CacheWriteLong = max(c.CacheWrite.Value(), short+long), long
	return u
}

// takeThinking takes thinking out of the output: out of that of the parts of the
// model itself, in order, if there are any. It is priced like the rest.
func takeThinking(u *providers.Usage, thinking int64) {
	if thinking > u.Output {
		u.Doubt("output_tokens_details.thinking_tokens", "is more than output_tokens")
	}
	u.Output, u.Reasoning = max(0, u.Output-thinking), thinking
	for i := range u.Parts {
		part := &u.Parts[i].Usage
		n := min(thinking, part.Output)
		part.Output, part.Reasoning = part.Output-n, n
		thinking -= n
	}
}
