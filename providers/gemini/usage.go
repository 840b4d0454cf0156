package gemini

import (
	"encoding/json"
	"slices"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is UsageMetadata of "Generating content" (ai.google.dev/api/generate-content).
type usage struct {
	Prompt            *wire.Count     `json:"promptTokenCount"`
	Cached            wire.Count      `json:"cachedContentTokenCount"`
	Candidates        *wire.Count     `json:"candidatesTokenCount"`
	Thoughts          wire.Count      `json:"thoughtsTokenCount"`
	ToolPrompt        wire.Count      `json:"toolUsePromptTokenCount"`
	Total             *wire.Count     `json:"totalTokenCount"`
	PromptDetails     []modality      `json:"promptTokensDetails"`
	CachedDetails     []modality      `json:"cacheTokensDetails"`
	CandidatesDetails []modality      `json:"candidatesTokensDetails"`
	ToolPromptDetails []modality      `json:"toolUsePromptTokensDetails"`
	Tier              json.RawMessage `json:"serviceTier"`
	Traffic           json.RawMessage `json:"trafficType"`
}

// modality is how many of the tokens are text, images, video, audio or documents.
type modality struct {
	Kind   json.RawMessage `json:"modality"`
	Tokens wire.Count      `json:"tokenCount"`
}

// likeText are the modalities that cost what text does: as input all but audio
// ("Gemini Developer API pricing", ai.google.dev/gemini-api/docs/pricing), as output
// text alone. Where enums are integers, the names are numbers.
var likeText = map[bool]map[string]bool{
	true: {
		"": true, "MODALITY_UNSPECIFIED": true, "0": true, "TEXT": true, "1": true,
		"IMAGE": true, "2": true, "VIDEO": true, "3": true, "DOCUMENT": true, "5": true,
	},
	false: {"": true, "MODALITY_UNSPECIFIED": true, "0": true, "TEXT": true, "1": true},
}

// fields account for the numbers of a usage object.
var fields = wire.NewFields(append(append(append(append([]wire.UsageField{
	{Path: "promptTokenCount", Column: "tokens_in", Reason: "the cache is part of it"},
	{Path: "cachedContentTokenCount", Column: "tokens_cache_read", Reason: "part of promptTokenCount, checked"},
	{Path: "candidatesTokenCount", Column: "tokens_out"},
	{Path: "thoughtsTokenCount", Column: "tokens_reasoning", Reason: "beside candidatesTokenCount"},
	{Path: "toolUsePromptTokenCount", Column: "tokens_in", Reason: "beside promptTokenCount"},
	{Path: "totalTokenCount", Reason: "checked: the sum of the others"},
	{Path: "trafficType", Column: "service_tier"},
	{Path: "serviceTier", Column: "service_tier"},
}, details("prompt", "promptTokenCount")...), details("cache", "cachedContentTokenCount")...),
	details("candidates", "candidatesTokenCount")...), details("toolUsePrompt", "toolUsePromptTokenCount")...)...)

func details(name, whole string) []wire.UsageField {
	return []wire.UsageField{
		{Path: name + "TokensDetails[].tokenCount", Reason: "checked: the parts of " + whole + "; one with another price than text is not understood"},
		{Path: name + "TokensDetails[].modality", Reason: "the kind of a part"},
	}
}

// UsageFields say what becomes of each number in a usage object of this wire.
func UsageFields() []wire.UsageField { return slices.Clone(fields.List()) }

// addUsage keeps a usage object. Each chunk of a stream brings one that counts
// all so far: the last one counts.
func addUsage(b *wire.Builder, raw json.RawMessage) {
	b.Usage(raw, fields, func(raw json.RawMessage) (providers.Usage, bool, error) {
		u, ok, err := readUsage(raw)
		if err == nil && !ok {
			b.Reply.Usage = u // what is known of it
		}
		return u, ok, err
	})
}

// readUsage makes disjoint classes of a usage object. The prompt includes what
// came from the cache, but not what server tools fed to the model; candidates
// exclude thoughts. A count of zero is left out, as in all proto3 JSON, so one
// that is missing beside a prompt or a total is zero.
func readUsage(raw json.RawMessage) (u providers.Usage, ok bool, err error) {
	var r usage
	if err := wire.Unmarshal(raw, &r); err != nil {
		return providers.Usage{}, false, err
	}
	var prompt, candidates wire.Count
	if r.Prompt != nil {
		prompt = *r.Prompt
	}
	if r.Candidates != nil {
		candidates = *r.Candidates
	}
	in := parted(&u, int64(prompt), "promptTokensDetails", r.PromptDetails, true)
	cached := parted(&u, int64(r.Cached), "cacheTokensDetails", r.CachedDetails, true)
	out := parted(&u, int64(candidates), "candidatesTokensDetails", r.CandidatesDetails, false)
	fed := parted(&u, int64(r.ToolPrompt), "toolUsePromptTokensDetails", r.ToolPromptDetails, true)
	if cached > in {
		u.Doubt("cachedContentTokenCount", "is more than promptTokenCount")
	}
	if r.Total != nil && *r.Total != prompt+candidates+r.Thoughts+r.ToolPrompt {
		u.Doubt("totalTokenCount", "is not the sum of the others")
	}
	u.Input, u.CacheRead, u.Output, u.Reasoning = max(0, in-cached)+fed, cached, out, int64(r.Thoughts)
	if u.Tier = tier(r.Tier); u.Tier == "" {
		u.Tier = tier(r.Traffic)
	}
	return u, r.Prompt != nil || r.Total != nil, nil
}

// parted is a count, or the sum of its parts if that is more. Without parts nothing
// is checked.
func parted(u *providers.Usage, count int64, name string, parts []modality, input bool) int64 {
	var sum int64
	for _, p := range parts {
		sum += int64(p.Tokens)
		if p.Tokens > 0 && !likeText[input][word(p.Kind)] {
			u.Doubt(name+"[].modality", "is one with another price than text")
		}
	}
	if len(parts) > 0 && sum != count {
		u.Doubt(name+"[].tokenCount", "do not add up to the count of all")
	}
	return max(count, sum)
}

// tier is the word for a service tier or a kind of traffic; numbers are sent where
// enums are asked for as integers.
func tier(raw json.RawMessage) string {
	switch name := word(raw); name {
	case "0", "unspecified", "TRAFFIC_TYPE_UNSPECIFIED":
		return ""
	case "1":
		return "ON_DEMAND"
	case "2":
		return "PROVISIONED_THROUGHPUT"
	default:
		return name
	}
}
