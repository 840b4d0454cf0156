package harness_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/harness/forecast"
	"github.com/cupel-eval/cupel/providers/price"
)

func forecastOf(t *testing.T, o harness.Options) forecast.Forecast {
	t.Helper()
	out, err := forecast.Make(o)
	require.NoError(t, err)
	return out
}

// A run in batches costs what batches cost, whether the past runs were batched or not; one by
// single requests costs the whole price. How long batches take is unknown.
func TestForecastOfBatches(t *testing.T) {
	for _, tier := range []string{"", "batch"} {
		o := forecastOptions(t)
		prices, err := price.Parse([]byte(`{version: 2026-05-01, prices: [{provider: openai, models: [m], input: "1", output: "2", services: {batch: "0.25"}, source: test}]}`))
		require.NoError(t, err)
		o.Prices = prices
		pastRun(t, o, "20260519T000000Z-000001", nil, pastEpisode{task: "G01", turns: 2, tier: tier}, pastEpisode{task: "G02", turns: 3, tier: tier})
		whole := forecastOf(t, o)
		require.Equal(t, int64(5*120_000), *whole.Total.CostNanoUSD.Expected)
		require.False(t, whole.Batched)
		o.Batch = &batching.Settings{}
		batched := forecastOf(t, o)
		require.True(t, batched.Batched)
		require.Equal(t, int64(5*30_000), *batched.Total.CostNanoUSD.Expected)
		require.Nil(t, batched.Duration.Expected)
		require.Contains(t, strings.Join(batched.Warnings, "\n"), "the duration is unknown")

		o.Runs = t.TempDir() // the worst case alone
		worst := *forecastOf(t, o).Total.CostNanoUSD.High
		o.Batch = nil
		require.InDelta(t, *forecastOf(t, o).Total.CostNanoUSD.High, 4*worst, 4)
	}
}
