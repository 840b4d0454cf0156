package gemini

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// usage is UsageMetadata of "Generating content" (ai.google.dev/api/generate-content).
type usage struct {
	Prompt     *wire.Count     `json:"promptTokenCount"`
	Cached     wire.Count      `json:"cachedContentTokenCount"`
	Candidates *wire.Count     `json:"candidatesTokenCount"`
	Thoughts   wire.Count      `json:"thoughtsTokenCount"`
	ToolPrompt wire.Count      `json:"toolUsePromptTokenCount"`
	Total      *wire.Count     `json:"totalTokenCount"`
	Tier       json.RawMessage `json:"serviceTier"`
	Traffic    json.RawMessage `json:"trafficType"`
}

// addUsage keeps a usage object. Each chunk of a stream brings one that counts
// all so far: the last one holds.
func addUsage(b *wire.Builder, raw json.RawMessage) {
	b.Usage(raw, nil, func(raw json.RawMessage) (providers.Usage, bool, error) {
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
func readUsage(raw json.RawMessage) (providers.Usage, bool, error) {
	var u usage
	if err := wire.Unmarshal(raw, &u); err != nil {
		return providers.Usage{}, false, err
	}
	var prompt, candidates wire.Count
	if u.Prompt != nil {
		prompt = *u.Prompt
	}
	if u.Candidates != nil {
		candidates = *u.Candidates
	}
	cached := min(u.Cached, prompt)
	tier := word(u.Tier)
	if tier == "" {
		tier = word(u.Traffic)
	}
	return providers.Usage{
		Input: int64(prompt - cached + u.ToolPrompt), Output: int64(candidates),
		CacheRead: int64(cached), Reasoning: int64(u.Thoughts), Tier: tier,
	}, u.Prompt != nil || u.Total != nil, nil
}
