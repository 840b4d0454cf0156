package price

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/providers"
)

func TestWorstByHand(t *testing.T) {
	p, err := Parse([]byte(`
version: 2026-01-01
prices:
  - {provider: x, models: [plain], input: "2", output: "10", cache_read: "0.5", source: test}
  - {provider: x, models: [writes], input: "3", output: "15", cache_write: "3.75", cache_write_long: "6", source: test}
  - {provider: x, models: [thinks], input: "1", output: "2", reasoning: "8", request: "0.01", source: test}
  - {provider: x, models: [served], input: "1", output: "2", services: {batch: "0.5", priority: "1.75"}, request: "0.01", source: test}
  - {provider: x, models: [tiers], input: "1", output: "2", tiers: [{above: 100, input: "5", output: "7"}, {above: 200, input: "2", output: "3"}], source: test}
`))
	require.NoError(t, err)
	for _, c := range []struct {
		name, model   string
		input, output int64
		want          int64
	}{
		{"input and output", "plain", 100, 10, 300_000},
		{"nothing", "plain", 0, 0, 0},
		{"writes for an hour", "writes", 100, 10, 750_000},
		{"reasoning, and a fee", "thinks", 100, 10, 10_180_000},
		{"the dearest service, which leaves the fee alone", "served", 100, 10, 10_210_000},
		{"below the tiers", "tiers", 100, 10, 120_000},
		{"in a dearer tier", "tiers", 101, 10, 575_000},
		{"in a cheaper tier a shorter prompt is the worst", "tiers", 201, 10, 1_070_000},
		{"until it is long enough", "tiers", 1000, 10, 2_030_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := p.Worst("x", c.model, c.input, c.output, day(t, "2026-01-01"))
			require.True(t, ok)
			require.Equal(t, c.want, got)
		})
	}
	for name, c := range map[string]struct {
		model         string
		input, output int64
	}{
		"unknown model": {"y", 1, 1}, "negative input": {"plain", -1, 0}, "negative output": {"plain", 0, -1}, "more than an int64": {"plain", math.MaxInt64, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := p.Worst("x", c.model, c.input, c.output, day(t, "2026-01-01"))
			require.False(t, ok)
		})
	}
	_, ok := p.Worst("x", "plain", 1, 1, time.Time{})
	require.False(t, ok, "no day")
}

// namesOf returns names that an entry prices. A prefix that ends with the hyphen of a
// snapshot is not a name.
func namesOf(e Entry) []string {
	if len(e.Models) > 0 {
		return e.Models
	}
	name := e.Prefix + e.Contains
	if strings.TrimRight(name, "-@") != name {
		return []string{name + "001", name + "20260131"}
	}
	return []string{name, name + "-001"}
}

// TestEveryEntryPrices checks that each name of an entry has a worst case once the
// entry is valid.
func TestEveryEntryPrices(t *testing.T) {
	p := prices(t)
	for _, e := range p.All() {
		for _, model := range namesOf(e) {
			at := e.From.AddDate(2025, 0, 0) // also after the zero time
			_, ok := p.Worst(e.Provider, model, 0, 0, at)
			require.True(t, ok, "%s: %s", e.Provider, model)
		}
	}
}

// For every entry, no usage within the bounds costs more than the worst case.
func TestCostIsNeverMoreThanWorst(t *testing.T) {
	p := prices(t)
	own, err := Parse([]byte(`
version: 2026-01-01
prices:
  - {provider: x, models: [m], input: "1", output: "2", cache_write: "0.3", cache_write_long: "4", reasoning: "3", request: "0.01", services: {batch: "0.5", Priority: "2.5"}, tiers: [{above: 50, input: "9", reasoning: "7"}, {above: 5000, input: "2", cache_read: "8"}], source: test}
`))
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		table := p
		if rapid.Bool().Draw(t, "own") {
			table = own
		}
		entries := table.All()
		e := entries[rapid.IntRange(0, len(entries)-1).Draw(t, "entry")]
		if table.Version() == own.Version() {
			e = entries[0]
		}
		model := rapid.SampledFrom(namesOf(e)).Draw(t, "model")
		at := e.From.AddDate(1, 0, 0)
		if e.From.IsZero() {
			at = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		count := func(name string) int64 {
			return rapid.Int64Range(0, rapid.SampledFrom([]int64{0, 3, 100, 10_000, 300_000, 1 << 40}).Draw(t, name+" up to")).Draw(t, name)
		}
		u := providers.Usage{Reported: true, Input: count("input"), Output: count("output"), CacheRead: count("read"), CacheWrite: count("write"), Reasoning: count("reasoning")}
		u.CacheWriteLong = rapid.Int64Range(0, u.CacheWrite).Draw(t, "long")
		u.Tier = rapid.SampledFrom([]string{"", "default", "batch", "flex", "priority"}).Draw(t, "tier")
		cost, priced := table.Cost(e.Provider, model, u, at)
		input := u.Input + u.CacheRead + u.CacheWrite + count("more input")
		output := u.Output + u.Reasoning + count("more output")
		worst, ok := table.Worst(e.Provider, model, input, output, at)
		if priced && ok {
			require.LessOrEqual(t, cost, worst, "%s %+v", model, u)
		}
		if u.Tier == "" && !ok {
			require.Greater(t, float64(input)+float64(output), float64(1<<30), "%s: only what is too much has no worst case", model)
		}
	})
}

func TestWorstTokens(t *testing.T) {
	text := strings.Repeat("日", 100)
	schema := json.RawMessage(`{"type":"object"}`)
	for _, c := range []struct {
		name string
		call providers.Call
		want int64 // in addition to those of an empty call
		// ascii and other are the counts of TextBytes.
		ascii, other int64
	}{
		{"empty", providers.Call{}, 0, 0, 0},
		{"system", providers.Call{System: text + "a"}, 301, 1, 300},
		{"bytes that are not UTF-8 may be sent as three", providers.Call{System: "a\xffb"}, 9, 0, 9},
		{"messages", providers.Call{Messages: []providers.Message{{Text: "abc"}, {Text: "d", CallID: "12", Name: "n", Continuation: schema}}}, 2*messageTokens + 3 + 4 + 17, 24, 0},
		{"calls", providers.Call{Messages: []providers.Message{{Calls: []providers.ToolCall{{ID: "1", Name: "nm", Args: "{}"}}}}}, 2*messageTokens + 5, 5, 0},
		{"images", providers.Call{Messages: []providers.Message{{Images: make([]providers.Image, 2)}}}, messageTokens + 2*imageTokens, 0, 2 * imageTokens},
		{"tools", providers.Call{Tools: []providers.Tool{{Name: "n", Description: "d", Schema: schema}}}, toolTokens + 2 + 2*17, 19, 0},
		{"format", providers.Call{Format: &providers.Format{Name: "n", Schema: schema}}, toolTokens + 1 + 2*17, 18, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, out, ok := WorstTokens(c.call)
			require.Equal(t, callTokens+c.want, in)
			require.Zero(t, out)
			require.False(t, ok, "the output has no bound")
			c.call.MaxTokens = 7
			in, out, ok = WorstTokens(c.call)
			require.Equal(t, callTokens+c.want, in)
			ascii, other := TextBytes(c.call)
			require.Equal(t, []int64{c.ascii, c.other}, []int64{ascii, other})
			require.EqualValues(t, 7, out)
			require.True(t, ok)
		})
	}
}

func BenchmarkWorst(b *testing.B) { // floor: one lookup in the table, as in Cost
	p := prices(b)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := p.Worst("anthropic", "claude-sonnet-4-5-20250929", 250_000, 4096, at); !ok {
			b.Fatal("no price")
		}
	}
}
