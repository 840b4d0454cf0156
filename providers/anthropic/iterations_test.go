package anthropic

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

// TestIterations: the counts of a reply are those of all its requests, each priced by
// its own model. The first two cases are the examples of "Compaction" and "Advisor
// tool".
func TestIterations(t *testing.T) {
	const apart = "iterations: do not add up to the counts beside them"
	counted := func(u providers.Usage) providers.Usage { u.Reported = true; return u }
	part := func(model string, u providers.Usage) providers.UsagePart {
		return providers.UsagePart{Model: model, Usage: counted(u)}
	}
	for _, c := range []struct {
		name, usage string
		want        providers.Usage
	}{
		{
			"compaction", `{"input_tokens":162,"output_tokens":1000,"iterations":[{"type":"compaction","input_tokens":99195,"output_tokens":3500},{"type":"message","input_tokens":162,"output_tokens":1000}]}`,
			providers.Usage{Input: 99_357, Output: 4500, Parts: []providers.UsagePart{part("", providers.Usage{Input: 99_195, Output: 3500}), part("", providers.Usage{Input: 162, Output: 1000})}},
		},
		{
			"advisor", `{"input_tokens":412,"cache_read_input_tokens":0,"output_tokens":531,"iterations":[{"type":"message","model":"m","input_tokens":412,"output_tokens":89},
				{"type":"advisor_message","model":"claude-opus-4-6","input_tokens":823,"output_tokens":1612},{"type":"message","model":"m","input_tokens":1348,"cache_read_input_tokens":412,"output_tokens":442}]}`,
			providers.Usage{Input: 2583, Output: 2143, CacheRead: 412, Parts: []providers.UsagePart{
				part("", providers.Usage{Input: 412, Output: 89}), part("claude-opus-4-6", providers.Usage{Input: 823, Output: 1612}), part("", providers.Usage{Input: 1348, Output: 442, CacheRead: 412}),
			}},
		},
		{
			"the model advises itself", `{"input_tokens":1,"output_tokens":1,"iterations":[{"type":"message","input_tokens":1,"output_tokens":1},{"type":"advisor_message","model":"m","input_tokens":5,"output_tokens":2}]}`,
			providers.Usage{Input: 6, Output: 3, Parts: []providers.UsagePart{part("", providers.Usage{Input: 1, Output: 1}), part("m", providers.Usage{Input: 5, Output: 2})}},
		},
		{
			"only compaction", `{"input_tokens":0,"output_tokens":0,"iterations":[{"type":"compaction","input_tokens":900,"output_tokens":30}]}`,
			providers.Usage{Input: 900, Output: 30},
		},
		{
			"requests of server tools", `{"input_tokens":30,"output_tokens":3,"cache_creation_input_tokens":7,"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":4},"output_tokens_details":{"thinking_tokens":2},"service_tier":"batch","iterations":[
				{"type":"message","input_tokens":10,"output_tokens":1},{"type":"message","input_tokens":20,"output_tokens":2,"cache_creation_input_tokens":7,"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":4}}]}`,
			providers.Usage{Input: 30, Output: 1, Reasoning: 2, CacheWrite: 7, CacheWriteLong: 4, Tier: "batch", Parts: []providers.UsagePart{
				part("", providers.Usage{Input: 10, Reasoning: 1, Tier: "batch"}), part("", providers.Usage{Input: 20, Output: 1, Reasoning: 1, CacheWrite: 7, CacheWriteLong: 4, Tier: "batch"}),
			}},
		},
		{
			"one request", `{"input_tokens":3,"output_tokens":4,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":5},"iterations":[{"type":"message","input_tokens":3,"output_tokens":4,"cache_creation_input_tokens":5}]}`,
			providers.Usage{Input: 3, Output: 4, CacheWrite: 5, CacheWriteLong: 5},
		},
		{
			"none", `{"input_tokens":3,"output_tokens":4,"iterations":[]}`, providers.Usage{Input: 3, Output: 4},
		},
		{
			"fast", `{"input_tokens":1,"output_tokens":1,"service_tier":"standard","speed":"fast","iterations":[{"type":"message","input_tokens":1,"output_tokens":1},{"type":"advisor_message","model":"o","input_tokens":5,"output_tokens":2}]}`,
			providers.Usage{Input: 6, Output: 3, Tier: "fast", Parts: []providers.UsagePart{part("", providers.Usage{Input: 1, Output: 1, Tier: "fast"}), part("o", providers.Usage{Input: 5, Output: 2, Tier: "standard"})}},
		},
		{
			"more beside them", `{"input_tokens":50,"output_tokens":4,"iterations":[{"type":"message","input_tokens":3,"output_tokens":4}]}`,
			providers.Usage{Input: 50, Output: 4, NotUnderstood: []string{apart}},
		},
		{
			"less beside them", `{"input_tokens":3,"output_tokens":1,"iterations":[{"type":"message","input_tokens":3,"output_tokens":4}]}`,
			providers.Usage{Input: 3, Output: 4, NotUnderstood: []string{apart}},
		},
		{
			"a kept hour that the iterations leave out", `{"input_tokens":3,"output_tokens":2,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":5},"iterations":[{"type":"message","input_tokens":3,"output_tokens":1,"cache_creation_input_tokens":5},{"type":"message","input_tokens":0,"output_tokens":1}]}`,
			providers.Usage{Input: 3, Output: 2, CacheWrite: 5, CacheWriteLong: 5, NotUnderstood: []string{apart}, Parts: []providers.UsagePart{part("", providers.Usage{Input: 3, Output: 1, CacheWrite: 5}), part("", providers.Usage{Output: 1})}},
		},
		{
			"a kind to come", `{"input_tokens":8,"output_tokens":2,"iterations":[{"type":"message","model":"m","input_tokens":10,"output_tokens":0},{"type":"fallback_message","model":"claude-opus-4-8","input_tokens":8,"output_tokens":2}]}`,
			providers.Usage{Input: 18, Output: 2, NotUnderstood: []string{"iterations[].type: is of a kind whose price is unknown", apart}, Parts: []providers.UsagePart{part("", providers.Usage{Input: 10}), part("claude-opus-4-8", providers.Usage{Input: 8, Output: 2})}},
		},
		{
			"an advisor without a name", `{"input_tokens":1,"output_tokens":1,"iterations":[{"type":"message","input_tokens":1,"output_tokens":1},{"type":"advisor_message","input_tokens":5,"output_tokens":2}]}`,
			providers.Usage{Input: 6, Output: 3, NotUnderstood: []string{"iterations[].model: is missing where another model was asked"}, Parts: []providers.UsagePart{part("", providers.Usage{Input: 1, Output: 1}), part("", providers.Usage{Input: 5, Output: 2})}},
		},
		{
			"a number to come", `{"input_tokens":1,"output_tokens":1,"iterations":[{"type":"message","input_tokens":1,"output_tokens":1,"moon_tokens":4}]}`,
			providers.Usage{Input: 1, Output: 1, NotUnderstood: []string{"iterations[].moon_tokens: not understood"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, fault, err := decode([]byte(`{"model":"m","content":[],"usage":`+c.usage+`}`), "")
			require.NoError(t, err)
			require.Nil(t, fault)
			require.Equal(t, counted(c.want), got.Usage)
		})
	}
}

// TestIterationsOfAStream: the iterations are in the last events.
func TestIterationsOfAStream(t *testing.T) {
	usage := `{"output_tokens":5,"iterations":[{"type":"compaction","input_tokens":1000,"output_tokens":50,"cache_read_input_tokens":0,"cache_creation_input_tokens":0},` +
		`{"type":"message","input_tokens":10,"output_tokens":5,"cache_read_input_tokens":3,"cache_creation_input_tokens":0}],"server_tool_use":{"web_search_requests":2}}`
	got, complete, err := decodeStream(events(begun, stopped("end_turn", usage), ended))
	require.NoError(t, err)
	require.True(t, complete)
	require.Equal(t, providers.Usage{
		Reported: true, Input: 1010, Output: 55, CacheRead: 3, Tier: "standard", ServerTools: map[string]int64{"web_search": 2},
		Parts: []providers.UsagePart{
			{Usage: providers.Usage{Reported: true, Input: 1000, Output: 50, Tier: "standard"}},
			{Usage: providers.Usage{Reported: true, Input: 10, Output: 5, CacheRead: 3, Tier: "standard"}},
		},
	}, got.Usage)
	require.True(t, strings.Contains(string(got.RawUsage), "compaction"))
}

// TestIterationsWithoutEnd: what is kept of a reply's iterations is bounded, and no
// tokens are lost.
func TestIterationsWithoutEnd(t *testing.T) {
	list := strings.Repeat(`{"type":"message","input_tokens":2,"output_tokens":1},`, 999) + `{"type":"message","input_tokens":2,"output_tokens":1}`
	got, _, err := decode([]byte(`{"content":[],"usage":{"input_tokens":2000,"output_tokens":1000,"iterations":[`+list+`]}}`), "")
	require.NoError(t, err)
	require.Len(t, got.Usage.Parts, 256)
	require.EqualValues(t, 3000, got.Usage.Total())
	require.Equal(t, []string{"iterations: are more than are priced"}, got.Usage.NotUnderstood)
}
