package price

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/policy"
)

func prices(t testing.TB) Table {
	p, err := Default()
	require.NoError(t, err)
	return p
}

func day(t testing.TB, s string) time.Time {
	d, err := time.Parse(time.DateOnly, s)
	require.NoError(t, err)
	return d
}

func TestCostByHand(t *testing.T) {
	u := func(in, out, read, write, reasoning int64) providers.Usage {
		return providers.Usage{Reported: true, Input: in, Output: out, CacheRead: read, CacheWrite: write, Reasoning: reasoning}
	}
	for _, c := range []struct {
		name, provider, model, day string
		usage                      providers.Usage
		want                       int64 // nano-USD
	}{
		// 1,000 × 2.50 + 500 × 10 USD a million = 0.0025 + 0.005 USD.
		{"input and output", "openai", "gpt-4o", "2026-01-01", u(1000, 500, 0, 0, 0), 7_500_000},
		// 100 × 2.50 + 900 × 1.25 = 250 + 1,125 µUSD; 20 × 10 + 80 × 10 = 1,000 µUSD.
		{"cache reads, and reasoning as output", "openai", "gpt-4o-2024-08-06", "2026-01-01", u(100, 20, 900, 0, 80), 2_375_000},
		{"one token of the cheapest: 0.05 µUSD", "openai", "gpt-5-nano", "2026-01-01", u(1, 0, 0, 0, 0), 50},
		// 1 × 0.005 USD a million = 5 nano-USD.
		{"one cached token", "openai", "gpt-5-nano", "2026-01-01", u(0, 0, 1, 0, 0), 5},
		{"nothing", "openai", "gpt-4o", "2026-01-01", u(0, 0, 0, 0, 0), 0},
		// 4 × 3 + 129 × 15 + 2,836 × 0.30 + 11,107 × 3.75 + 26 × 15 = 12 + 1,935 + 850.8 + 41,651.25 + 390 µUSD.
		{"every class", "anthropic", "claude-sonnet-4-6", "2026-04-01", u(4, 129, 2836, 11107, 26), 44_839_050},
		// 200,000 is not above 200,000: 200,000 × 3 = 0.6 USD.
		{"at the threshold", "anthropic", "claude-sonnet-4-5-20250929", "2026-01-01", u(0, 0, 0, 200_000, 0), 750_000_000},
		// One more, split over the classes: 1 × 6 + 100,000 × 0.60 + 100,000 × 7.50 + 10 × 22.50 = 6 + 60,000 + 750,000 + 225 µUSD.
		{"over the threshold", "anthropic", "claude-sonnet-4-5-20250929", "2026-01-01", u(1, 10, 100_000, 100_000, 0), 810_231_000},
		{"the last day of a price", "openai", "o3", "2025-06-09", u(1_000_000, 0, 0, 0, 0), 10_000_000_000},
		{"the first day of the next", "openai", "o3", "2025-06-10", u(1_000_000, 0, 0, 0, 0), 2_000_000_000},
		{"no price for writes: as input", "openai", "gpt-4.1", "2026-01-01", u(0, 0, 0, 10, 0), 20_000},
		{"prefix", "openai", "ft:gpt-4o-mini-2024-07-18:acme::x1", "2026-01-01", u(10, 0, 0, 0, 0), 3_000},
		{"batch: half of 10 × 3 + 10 × 15 = 90 µUSD", "anthropic", "claude-sonnet-4-6", "2026-04-01", served("batch", u(10, 10, 0, 0, 0)), 90_000},
		{"the ordinary tier by name", "openai", "gpt-4o", "2026-01-01", served("Default", u(1000, 500, 0, 0, 0)), 7_500_000},
		// 60 × 3.75 + 40 × 6 = 225 + 240 µUSD.
		{"writes for an hour", "anthropic", "claude-sonnet-4-6", "2026-04-01", providers.Usage{Reported: true, CacheWrite: 100, CacheWriteLong: 40}, 465_000},
		// 1,000 × 1 + 100 × 1 USD a million, and 12 USD a thousand requests.
		{"a fee by request", "perplexity", "sonar", "2026-01-01", u(1000, 100, 0, 0, 0), 13_100_000},
		{"another wire of the same provider", "openai-responses", "gpt-4o", "2026-01-01", u(1000, 500, 0, 0, 0), 7_500_000},
		{"a part of the name", "bedrock", "global.anthropic.claude-opus-4-5-20251101-v1:0", "2026-01-01", u(10, 10, 0, 0, 0), 300_000},
		// A regional profile costs a tenth more: 5.50 and 27.50.
		{"the longer part wins", "bedrock", "eu.anthropic.claude-opus-4-5-20251101-v1:0", "2026-01-01", u(10, 10, 0, 0, 0), 330_000},
		{"simulated", "sim-openai", "sim-strong", "2026-01-01", u(10, 10, 0, 0, 0), 125_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := prices(t).Cost(c.provider, c.model, c.usage, day(t, c.day))
			require.True(t, ok)
			require.Equal(t, c.want, got)
		})
	}
}

func served(name string, u providers.Usage) providers.Usage {
	u.Tier = name
	return u
}

func TestCostUnknown(t *testing.T) {
	today := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	one := providers.Usage{Reported: true, Input: 1}
	for _, c := range []struct {
		name, provider, model string
		usage                 providers.Usage
		at                    time.Time
	}{
		{"not reported", "openai", "gpt-4o", providers.Usage{Input: 1}, today},
		{"unknown model", "openai", "gpt-99", one, today},
		{"unknown provider", "acme", "gpt-4o", one, today},
		{"another provider's model", "anthropic", "gpt-4o", one, today},
		{"case counts", "openai", "GPT-4o", one, today},
		{"a variant is not its family", "openai", "gpt-4o-superb", one, today},
		{"a later version is not its elder", "anthropic", "claude-sonnet-4-9", one, today},
		{"half a date", "openai", "gpt-4o-2024-08", one, today},
		{"no day", "openai", "gpt-4o", one, time.Time{}},
		{"negative", "openai", "gpt-4o", providers.Usage{Reported: true, Output: -1, Input: 5}, today},
		{"more than an int64", "openai", "gpt-4o", providers.Usage{Reported: true, Input: math.MaxInt64, Output: math.MaxInt64}, today},
		{"empty", "", "", one, today},
		{"a service tier without a price", "openai", "gpt-4o", served("priority", one), today},
		{"a time of day", "deepseek", "deepseek-chat", one, today},
		{"more long writes than writes", "openai", "gpt-4o", providers.Usage{Reported: true, CacheWrite: 1, CacheWriteLong: 2}, today},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := prices(t).Cost(c.provider, c.model, c.usage, c.at)
			require.False(t, ok)
			require.Zero(t, got)
		})
	}
	_, ok := Table{}.Cost("openai", "gpt-4o", one, today)
	require.False(t, ok)
}

func TestNamesOfSnapshots(t *testing.T) {
	for name, want := range map[string]string{
		"claude-3-5-sonnet-20241022": "claude-3-5-sonnet", "claude-3-5-sonnet-latest": "claude-3-5-sonnet", "claude-3-5-sonnet@20241022": "claude-3-5-sonnet",
		"gpt-4o-2024-11-20": "gpt-4o", "gpt-4o": "gpt-4o", "gpt-4-0613": "gpt-4-0613", "x-2024-1-1": "x-2024-1-1", "-20241022": "-20241022", "": "", "日本-20241022": "日本",
	} {
		require.Equal(t, want, undated(name), name)
	}
}

// The same sum is computed slowly, with rationals and from the table that is read
// without the parser.
func TestCostAgainstRationals(t *testing.T) {
	table := map[string]map[string]string{} // provider/model → class → price
	var file struct {
		Prices []struct {
			Provider  string
			Models    []string
			From      string
			Tiers     []any
			Input     string
			Output    string
			CacheRead string `yaml:"cache_read"`
			Request   string
		}
	}
	require.NoError(t, yaml.Unmarshal(pricesFile, &file))
	var names [][2]string
	for _, e := range file.Prices {
		for _, m := range e.Models {
			if e.From != "" || e.Tiers != nil || e.Request != "" {
				delete(table, e.Provider+"/"+m)
				continue
			}
			if e.CacheRead == "" {
				e.CacheRead = e.Input
			}
			table[e.Provider+"/"+m] = map[string]string{"input": e.Input, "output": e.Output, "cache_read": e.CacheRead}
			names = append(names, [2]string{e.Provider, m})
		}
	}
	require.Greater(t, len(names), 50)
	p, at := prices(t), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		name := names[rng.IntN(len(names))]
		row, ok := table[name[0]+"/"+name[1]]
		if !ok {
			continue
		}
		u := providers.Usage{Reported: true}
		want := new(big.Rat)
		for class, n := range map[string]*int64{"input": &u.Input, "output": &u.Output, "cache_read": &u.CacheRead} {
			*n = rng.Int64N(1 << uint(1+rng.IntN(50)))
			perMillion, ok := new(big.Rat).SetString(row[class])
			require.True(t, ok)
			want.Add(want, new(big.Rat).Mul(perMillion, new(big.Rat).SetInt64(*n)))
		}
		want.Mul(want, big.NewRat(1000, 1)) // USD a million tokens → nano-USD
		rounded, ok := new(big.Int).SetString(want.FloatString(0), 10)
		require.True(t, ok)
		got, ok := p.Cost(name[0], name[1], u, at)
		require.Equal(t, rounded.IsInt64(), ok)
		if ok {
			require.Equal(t, rounded.Int64(), got, "%v %+v", name, u)
		}
	}
}

func TestRoundingIsHalfAwayFromZero(t *testing.T) {
	p, err := Parse([]byte(`
version: 2026-01-01
prices:
  - {provider: x, models: [m], input: "0.0005", output: "0.000499999", cache_read: "0.0015", source: test}
  - {provider: x, models: [huge], input: "999999.999999999", output: "0", source: test}
`))
	require.NoError(t, err)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		usage providers.Usage
		want  int64
	}{
		{providers.Usage{Input: 1}, 1},                          // 0.5 nano-USD
		{providers.Usage{Output: 1}, 0},                         // 0.499999
		{providers.Usage{CacheRead: 1}, 2},                      // 1.5
		{providers.Usage{Input: 1, CacheRead: 1, Output: 1}, 2}, // 2.499999; rounding each class would give 3
	} {
		c.usage.Reported = true
		got, ok := p.Cost("x", "m", c.usage, at)
		require.True(t, ok)
		require.Equal(t, c.want, got)
	}
	// The largest sum that fits: 9,223,372,036 × 999,999,999.999999 nano-USD.
	got, ok := p.Cost("x", "huge", providers.Usage{Reported: true, Input: 9_223_372_036}, at)
	require.True(t, ok)
	require.EqualValues(t, 9_223_372_035_999_990_777, got) // 9,223,372,036 × 10^9 − 9,223.372036
	_, ok = p.Cost("x", "huge", providers.Usage{Reported: true, Input: 9_223_372_037}, at)
	require.False(t, ok)
}

func TestOverride(t *testing.T) {
	p, err := Parse([]byte(`{"version": "2026-10-01", "prices": [
		{"provider": "openai", "prefix": "gpt-4o", "input": "1", "output": 2, "from": "2026-06-01", "source": "contract"},
		{"provider": "openai", "prefix": "gpt-4o-mini", "input": 3.5, "output": "4", "source": "contract", "tiers": [{"above": 10, "input": "7"}, {"above": 20, "input": "9", "reasoning": "1"}]},
		{"provider": "local", "models": ["Llama:70B.q4"], "input": "0", "output": "0.000000001", "source": "own machine"}]}`))
	require.NoError(t, err)
	require.Equal(t, "2026-09-23+2026-10-01", p.Version())
	cost := func(provider, model, on string, u providers.Usage) int64 {
		u.Reported = true
		got, ok := p.Cost(provider, model, u, day(t, on))
		require.True(t, ok)
		return got
	}
	million := providers.Usage{Input: 1_000_000}
	require.EqualValues(t, 1e9, cost("openai", "gpt-4o", "2026-06-01", million), "the file's prefix beats the table's name")
	require.EqualValues(t, 2.5e9, cost("openai", "gpt-4o", "2026-05-31", million), "a day the file does not price")
	require.EqualValues(t, 35_000, cost("openai", "gpt-4o-mini", "2026-06-01", providers.Usage{Input: 10}), "the longer prefix")
	require.EqualValues(t, 11*7_000+4_000, cost("openai", "gpt-4o-mini", "2026-06-01", providers.Usage{Input: 5, CacheRead: 6, Reasoning: 1}), "what a tier leaves out follows the tier's input")
	require.EqualValues(t, 21*9_000+1_000, cost("openai", "gpt-4o-mini", "2026-06-01", providers.Usage{Input: 21, Reasoning: 1}))
	require.EqualValues(t, 1, cost("local", "Llama:70B.q4", "2026-01-01", providers.Usage{Output: 1_000_000}))
	require.EqualValues(t, 3e9, cost("anthropic", "claude-sonnet-5", "2026-09-01", million), "the rest stays")
	e, ok := p.Lookup("openai", "gpt-4o", day(t, "2026-06-01"))
	require.True(t, ok)
	require.Equal(t, "contract", e.Source)
}

func TestParseReportsEveryProblem(t *testing.T) {
	_, err := Parse([]byte(`version: yesterday
colour: red
prices:
  - {provider: x, models: [a, a], input: "1", output: "1", source: s}
  - {provider: x, models: [b], prefix: b, input: "1", output: "1", source: s}
  - {provider: x, input: "1", output: "1", source: s}
  - {models: [c]}
  - {provider: x, models: [], input: "-1", output: "1e3", cache_read: "1.0000000001", cache_write: "1.", reasoning: "", source: " "}
  - {provider: x, models: [d], input: "1234567", output: .5, from: 2026-02-30, simulated: maybe, price: 1, source: s}
  - {provider: x, models: [e], input: "1", output: "1", source: s, tiers: [{above: 0}, {above: 5, inputs: "1"}, {above: 5}, 7]}
  - 7
  - {provider: x, contains: f, input: "1", output: "1", source: s, services: {batch: "0.0001", flex: 6, x: []}, request: "1e3", context: -1}
same: {a: [], b: c}
`))
	for _, want := range []string{
		"line 1: version", `line 2: prices: unknown field "colour"`, `line 4: prices[0].models: "a" appears twice`,
		"line 5: prices[1]: give one of models, prefix and contains", "line 6: prices[2]: give one of models, prefix and contains",
		"line 7: prices[3]: provider is missing", "line 7: prices[3]: source is missing", "line 7: prices[3]: input is missing", "line 7: prices[3]: output is missing",
		"line 8: prices[4].models: must be a list", "line 8: prices[4].input", "line 8: prices[4].output", "line 8: prices[4].cache_read", "line 8: prices[4].cache_write", "line 8: prices[4].reasoning", "line 8: prices[4].source",
		"line 9: prices[5].input", "line 9: prices[5].output", "line 9: prices[5].from", "line 9: prices[5].simulated", `line 9: prices[5]: unknown field "price"`,
		"line 10: prices[6].tiers[0]: above must be a number", `line 10: prices[6].tiers[1]: unknown field "inputs"`, "line 10: prices[6].tiers[2]: above must rise", "line 10: prices[6].tiers[3]",
		"line 11: prices[7]: must be a mapping",
		"line 12: prices[8].services.batch", "line 12: prices[8].services.flex", "line 12: prices[8].services.x", "line 12: prices[8].request", "line 12: prices[8].context", "line 13: same.a",
	} {
		require.ErrorContains(t, err, want)
	}
	for text, want := range map[string]string{
		"prices: [{provider: x, models: [a], input: '1', output: '1', source: s}]": "version: is missing",
		"version: 2026-01-01":             "prices: is missing",
		"version: 2026-01-01\nprices: {}": "must be a list",
		"version: 2026-01-01\nprices: []": "must be a list",
		"":                                "the file is empty",
		twice("models: [a, b]", "models: [b, c]"):     "prices model b twice",
		twice("prefix: a", "prefix: a"):               "prices a and its snapshots twice",
		twice("models: [a], tiers: 7", "models: [b]"): "tiers: must be a list",
	} {
		_, err := Parse([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
	_, err = Parse([]byte(twice("models: [a]", "models: [a], from: 2026-01-01")))
	require.NoError(t, err)
}

// twice returns a price file of two entries for the same provider.
func twice(a, b string) string {
	const entry = "\n  - {provider: x, input: '1', output: '1', source: s, %s}"
	return "version: 2026-01-01\nprices:" + fmt.Sprintf(entry, a) + fmt.Sprintf(entry, b)
}

// TestSnapshots: a prefix prices a model and its dated snapshots. A new model whose
// name only has the same prefix has no price.
func TestSnapshots(t *testing.T) {
	p, err := Parse([]byte(`version: 2026-01-01
prices:
  - {provider: x, prefix: large, input: '1', output: '1', source: s}
  - {provider: x, prefix: small-, input: '1', output: '1', source: s}
  - {provider: x, prefix: "ft:large:", input: '1', output: '1', source: s}
  - {provider: x, contains: vendor.middle, input: '1', output: '1', source: s}`))
	require.NoError(t, err)
	for model, priced := range map[string]bool{
		"large": true, "large-2026-01-31": true, "large-20260131": true, "large@20260131": true, "large-08-2026": true, "large-05-20": true,
		"large-2509": true, "large-001": true, "large-latest": true, "large-preview-05-20": true, "large-exp-0827": true, "large-2509-latest": true,
		"large-2": false, "large-mini": false, "large-mini-2026-01-31": false, "large-preview": false, "large2": false, "larger": false,
		"large-thinking-05-20": false, "large.5": false, "large-2026-01-31-fast": false, "a-large": false,
		"small-2509": true, "small-latest": true, "small": false, "small-mini": false, "small-1": false,
		"ft:large:acme::x1": true, "ft:large": false,
		"vendor.middle": true, "us.vendor.middle-20260131-v1:0": true, "arn:aws:1:model/vendor.middle-v2:0:128k": true, "eu.vendor.middle-v1": true,
		"vendor.middle-plus": false, "vendor.middle-5": false, "othervendor.middle": false, "my-vendor.middle": false,
	} {
		_, ok := p.Lookup("x", model, day(t, "2026-02-01"))
		require.Equal(t, priced, ok, model)
	}
	for model, provider := range map[string]string{
		"gemini-2.5-pro-ultra": "gemini", "gemini-3.6-flash-thinking": "gemini", "us.anthropic.claude-opus-4-50": "bedrock", "o4-mini-high": "azure", "command-a-plus": "cohere",
	} {
		_, ok := prices(t).Lookup(provider, model, day(t, "2026-10-01"))
		require.False(t, ok, model)
	}
}

func TestCostOfPartsAndTools(t *testing.T) {
	p, at := prices(t), day(t, "2026-04-01")
	part := func(model string, in, out int64) providers.UsagePart {
		return providers.UsagePart{Model: model, Usage: providers.Usage{Reported: true, Input: in, Output: out}}
	}
	for _, c := range []struct {
		name  string
		usage providers.Usage
		want  int64 // nano-USD; -1 is unknown
	}{
		// 100 × 3 + 10 × 15 + 1,000 × 1 + 20 × 5 = 300 + 150 + 1,000 + 100 µUSD.
		{"two models", providers.Usage{Reported: true, Input: 1100, Output: 30, Parts: []providers.UsagePart{part("", 100, 10), part("claude-haiku-4-5", 1000, 20)}}, 1_550_000},
		{"parts at the tier of the whole: half", providers.Usage{Reported: true, Tier: "batch", Parts: []providers.UsagePart{part("", 100, 10)}}, 225_000},
		{"a model without a price", providers.Usage{Reported: true, Input: 100, Parts: []providers.UsagePart{part("", 50, 0), part("claude-unheard", 50, 0)}}, -1},
		// Each is below the threshold of 200,000, both together are above it.
		{"prompts of two requests are not one long prompt", providers.Usage{Reported: true, Input: 300_000, Parts: []providers.UsagePart{part("claude-sonnet-4-5", 150_000, 0), part("claude-sonnet-4-5", 150_000, 0)}}, 900_000_000},
		{"searches", providers.Usage{Reported: true, Input: 100, ServerTools: map[string]int64{"web_fetch": 7, "web_search": 3}}, 30_300_000},
		{"a tool without a fee", providers.Usage{Reported: true, Input: 100, ServerTools: map[string]int64{"teleport": 1}}, -1},
		{"more searches than money", providers.Usage{Reported: true, ServerTools: map[string]int64{"web_search": 1 << 60}}, -1},
		{"not understood", providers.Usage{Reported: true, Input: 100, NotUnderstood: []string{"x: not understood"}}, -1},
		{"two readings", providers.Usage{Reported: true, Input: 100, Other: &providers.Usage{Reported: true, Input: 200}}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := p.Cost("anthropic", "claude-sonnet-4-6", c.usage, at)
			require.Equal(t, c.want >= 0, ok)
			require.Equal(t, max(c.want, 0), got)
		})
	}
}

// TestSettle: 1,000 input tokens cost 2,500 µUSD, 100 output tokens 1,000 µUSD.
func TestSettle(t *testing.T) {
	once := providers.Usage{Reported: true, Input: 1000, Output: 20, Reasoning: 80}
	apart := providers.Usage{Reported: true, Input: 1000, Output: 100, Reasoning: 80}
	nano := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name       string
		u          providers.Usage
		other      *providers.Usage
		reported   *int64
		model      string
		want       int64 // tokens
		understood bool
	}{
		{"the cost fits", once, nil, nano(3_500_000), "gpt-4o", 1100, true},
		{"the cost fits but for rounding", once, nil, nano(3_520_000), "gpt-4o", 1100, true},
		{"another cost", once, nil, nano(3_600_000), "gpt-4o", 1100, false},
		{"no cost", once, nil, nil, "gpt-4o", 1100, true},
		{"no price", once, nil, nano(1), "unheard", 1100, true},
		{"the first reading", once, &apart, nano(3_500_000), "gpt-4o", 1100, true},
		{"the second reading", once, &apart, nano(4_300_000), "gpt-4o", 1180, true},
		{"neither reading", once, &apart, nano(9_000_000), "gpt-4o", 1180, false},
		{"nothing tells", once, &apart, nil, "gpt-4o", 1180, false},
		{"nothing tells, the larger first", apart, &once, nil, "gpt-4o", 1180, false},
		{"readings without a price", once, &apart, nano(3_500_000), "unheard", 1180, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := providers.Reply{Usage: c.u, CostNanoUSD: c.reported}
			r.Usage.Other = c.other
			prices(t).Settle("openai", c.model, &r, day(t, "2026-01-01"))
			require.Nil(t, r.Usage.Other)
			require.Equal(t, c.want, r.Usage.Total())
			require.Equal(t, c.understood, len(r.Usage.NotUnderstood) == 0, r.Usage.NotUnderstood)
		})
	}
}

func TestPricesDigest(t *testing.T) {
	a, err := Parse([]byte(twice("models: [a, b]", "models: [c], from: 2026-01-01")))
	require.NoError(t, err)
	b, err := Parse([]byte("# the same, in another order\n" + strings.ReplaceAll(twice("models: [c], from: 2026-01-01", "models: [b, a]"), "'1'", `"1.0"`)))
	require.NoError(t, err)
	require.Equal(t, a.Digest(), b.Digest())
	c, err := Parse([]byte(twice("models: [a, b]", "models: [c], from: 2026-01-02")))
	require.NoError(t, err)
	require.NotEqual(t, a.Digest(), c.Digest())
	require.NotEqual(t, prices(t).Digest(), a.Digest())
	require.NotEqual(t, Table{}.Digest(), prices(t).Digest())
	require.Empty(t, Table{}.Version())
	require.Equal(t, "2026-09-23", prices(t).Version())
	// The digest changes only with the built-in table, because recorded runs contain
	// it.
	require.Equal(t, "d08807a553c62adaeb6ca09860d61c041ba3dc63923a7aa9ab31eb3248e2ac2c", prices(t).Digest())
}

func TestBuiltInTable(t *testing.T) {
	require.Less(t, len(pricesFile), 250_000)
	p, at := prices(t), day(t, "2026-10-01")
	for _, provider := range []string{"sim-openai", "sim-anthropic", "sim-gemini", "sim-bedrock"} {
		var last int64 = math.MaxInt64
		for _, model := range []string{"sim-strong", "sim-erratic", "sim-weak"} {
			e, ok := p.Lookup(provider, model, at)
			require.True(t, ok)
			require.True(t, e.Simulated)
			got, ok := p.Cost(provider, model, providers.Usage{Reported: true, Input: 1000, Output: 1000}, at)
			require.True(t, ok)
			require.Less(t, got, last)
			last = got
		}
	}
	require.NotEmpty(t, p.All())
	for _, e := range p.All() {
		require.Equal(t, strings.HasPrefix(e.Provider, "sim-"), e.Simulated, "%v", e)
		require.LessOrEqual(t, e.base.cacheRead, e.base.input, "%v", e.Name())
		require.LessOrEqual(t, e.base.cacheWrite, e.base.cacheWriteLong, "%v", e.Name())
		require.NotEmpty(t, e.Source)
	}
	for _, c := range []struct{ provider, model string }{{"anthropic", policy.Default().Providers["anthropic"].Model}, {"openai", policy.Default().Providers["openai"].Model}} {
		_, ok := p.Lookup(c.provider, c.model, at)
		require.True(t, ok, "the default policy names %s, which has no price", c.model)
	}
}

// TestBuiltinIsReadByProvider checks that the parts of the built-in table have the same
// entries as the whole, and the digest that runs record.
func TestBuiltinIsReadByProvider(t *testing.T) {
	whole, err := read(pricesFile)
	require.NoError(t, err)
	require.Equal(t, hex.EncodeToString(whole.digest()), builtinContent, "the table has changed: set builtinContent to its digest")
	require.Equal(t, Table{layers: []*layer{whole}}.Digest(), prices(t).Digest())
	require.Equal(t, whole.version, prices(t).Version())
	l, err := builtin()
	require.NoError(t, err)
	byProvider := map[string][]Entry{}
	for _, e := range whole.entries {
		byProvider[e.Provider] = append(byProvider[e.Provider], e)
	}
	require.Greater(t, len(byProvider), 20)
	for provider, entries := range byProvider {
		part := l.of(provider)
		require.Equal(t, entries, part.entries, provider)
		require.Equal(t, whole.fees, part.fees)
		require.Equal(t, whole.same, part.same)
	}
	require.Equal(t, whole.entries, prices(t).All())
	require.Empty(t, l.of("nobody").entries)
}

func FuzzReadPrices(f *testing.F) {
	f.Add([]byte(`{"version":"2026-01-01","prices":[{"provider":"x","models":["m"],"input":"1","output":"2","source":"s","tiers":[{"above":1,"input":"3"}]}]}`))
	f.Add([]byte("version: 2026-01-01\nprices:\n  - {provider: x, prefix: p, input: 1, output: 2.5, source: s}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := read(data)
		if err != nil {
			return
		}
		p := Table{layers: []*layer{l}}
		require.Len(t, p.Digest(), 64)
		require.NotEmpty(t, l.entries)
		for _, e := range l.entries {
			for _, m := range append(e.Models, e.Prefix) {
				got, _ := p.Cost(e.Provider, m, providers.Usage{Reported: true, Input: 1 << 40, Output: 1 << 40}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
				require.GreaterOrEqual(t, got, int64(0))
			}
		}
	})
}

// A run reads only the entries of its providers, which is a part of the start-up time.
// Floor: yaml.v3 makes nodes of the same bytes, about half of it.
func BenchmarkReadBuiltin(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readBuiltin("openai"); err != nil {
			b.Fatal(err)
		}
	}
}

// Floor: two map lookups and a hash of two strings, about 40 ns.
func BenchmarkCost(b *testing.B) {
	p, at := prices(b), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	u := providers.Usage{Reported: true, Input: 1200, Output: 300, CacheRead: 4000, Reasoning: 90}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := p.Cost("openai", "gpt-4o-2024-08-06", u, at); !ok {
			b.Fatal("no price")
		}
	}
}

func TestAllListsTheTable(t *testing.T) {
	prices, err := Default()
	require.NoError(t, err)
	all := prices.All()
	require.Greater(t, len(all), 20)
	for _, e := range all {
		if e.Provider == "openai" && slices.Contains(e.Models, "gpt-4o-mini") {
			in, out, read, write := e.PerMillion()
			require.Equal(t, []string{"0.15", "0.6", "0.075", "0.15"}, []string{in, out, read, write})
			require.Equal(t, 128000, e.Context)
			return
		}
	}
	t.Fatal("gpt-4o-mini is not listed")
}

func TestUSD(t *testing.T) {
	require.Equal(t, []string{"0", "10", "0.000000001", "2.5"}, []string{usd(0), usd(10e9), usd(1), usd(25e8)})
}

func TestParseUSD(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "5": 5e9, "2.50": 25e8, "0.000000001": 1, "999999.999999999": 999_999_999_999_999} {
		got, err := ParseUSD(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", ".5", "5.", "-1", "+1", "1e3", "1,5", "1_000", "1000000", "0.0000000001", " 1", "0x1"} {
		_, err := ParseUSD(text)
		require.Error(t, err, text)
	}
}
