package price

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

// TestPricesAgainstPublishedFacts compares the table with a collection of published
// prices, if that is available: every name in both must cost the same.
func TestPricesAgainstPublishedFacts(t *testing.T) {
	var facts []struct {
		Provider string
		Models   []struct {
			ID     string
			Match  json.RawMessage
			Prices json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(testkit.Shared(t, "prices", "prices.json"), &facts))
	ours := map[string][]string{
		"anthropic": {"anthropic"}, "openai": {"openai", "openai-responses"}, "aws": {"bedrock"}, "azure": {"azure"}, "cerebras": {"cerebras"},
		"cohere": {"cohere"}, "fireworks": {"fireworks"}, "google": {"gemini", "vertex"}, "groq": {"groq"}, "mistral": {"mistral"},
		"openrouter": {"openrouter"}, "perplexity": {"perplexity"}, "together": {"together"}, "x-ai": {"xai"},
	}
	p, at, compared := prices(t), day(t, "2026-10-01"), map[string]int{}
	for _, f := range facts {
		for _, m := range f.Models {
			var flat map[string]json.RawMessage
			if json.Unmarshal(m.Prices, &flat) != nil {
				continue // dated prices
			}
			for _, provider := range ours[f.Provider] {
				for _, name := range exactNames(m.Match) {
					e, ok := p.Lookup(provider, name, at)
					if !ok {
						continue
					}
					compared[f.Provider]++
					require.Zero(t, basePrice(t, flat["input_mtok"]).Cmp(nanoRat(e.base.input)), "%s %s: input", provider, name)
					require.Zero(t, basePrice(t, flat["output_mtok"]).Cmp(nanoRat(e.base.output)), "%s %s: output", provider, name)
					if flat["cache_read_mtok"] != nil {
						require.Zero(t, basePrice(t, flat["cache_read_mtok"]).Cmp(nanoRat(e.base.cacheRead)), "%s %s: cache reads", provider, name)
					}
				}
			}
		}
	}
	t.Logf("compared %v", compared)
	for provider, n := range map[string]int{"openai": 60, "openrouter": 400, "groq": 15, "together": 40, "google": 20, "fireworks": 15, "mistral": 15} {
		require.GreaterOrEqual(t, compared[provider], n, provider)
	}
}

// exactNames returns the names that a match lists as equal.
func exactNames(match json.RawMessage) []string {
	var m struct {
		Equals string
		Or     []struct{ Equals string }
	}
	_ = json.Unmarshal(match, &m) // other forms have no exact names
	var names []string
	for _, one := range append(m.Or, struct{ Equals string }{m.Equals}) {
		if one.Equals != "" {
			names = append(names, one.Equals)
		}
	}
	return names
}

// basePrice returns a price, or that of short prompts, rounded to nine digits.
func basePrice(t *testing.T, raw json.RawMessage) *big.Rat {
	t.Helper()
	var tiers struct{ Base json.RawMessage }
	if json.Unmarshal(raw, &tiers) == nil && tiers.Base != nil {
		raw = tiers.Base
	}
	r, ok := new(big.Rat).SetString(string(raw))
	require.True(t, ok, "%s", raw)
	r, ok = new(big.Rat).SetString(r.FloatString(9))
	require.True(t, ok)
	return r
}

func nanoRat(nano int64) *big.Rat { return big.NewRat(nano, 1e9) }

// TestCachedAndSearchedByMakers: Mistral charges a tenth for cached tokens,
// Perplexity's research model has prices for citations, reasoning and searches, and xAI
// has prices for tools.
func TestCachedAndSearchedByMakers(t *testing.T) {
	p, at := prices(t), day(t, "2026-10-01")
	for _, e := range p.All() {
		if e.Provider == "mistral" {
			require.Equal(t, e.base.input, 10*e.base.cacheRead, e.Name())
		}
	}
	for _, c := range []struct {
		provider, model string
		usage           providers.Usage
		want            int64
	}{
		// 100 × 0.4 + 900 × 0.04 = 76 µUSD.
		{"mistral", "mistral-medium-2508", providers.Usage{Reported: true, Input: 100, CacheRead: 900}, 76_000},
		// 20,049 × 2 + 7,163 × 8 + 73,997 × 3 = 319,393 µUSD, and 18 searches are 90,000.
		{"perplexity", "sonar-deep-research", providers.Usage{Reported: true, Input: 20_049, Output: 7163, Reasoning: 73_997, ServerTools: map[string]int64{"web_search": 18}}, 409_393_000},
		{"xai-responses", "grok-4-1-fast", providers.Usage{Reported: true, ServerTools: map[string]int64{"mcp": 9, "x_search": 3}}, 15_000_000},
		{"openai-responses", "gpt-4o", providers.Usage{Reported: true, ServerTools: map[string]int64{"file_search": 2}}, 5_000_000},
	} {
		got, ok := p.Cost(c.provider, c.model, c.usage, at)
		require.True(t, ok, c.provider)
		require.Equal(t, c.want, got, c.provider)
	}
	_, ok := p.Cost("openai-responses", "gpt-4o", providers.Usage{Reported: true, ServerTools: map[string]int64{"web_search": 1}}, at)
	require.False(t, ok, "its fee depends on the version of the tool, which the reply does not name")
}
