package compared

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/words"
)

func TestCompareWords(t *testing.T) {
	for _, c := range []struct {
		unit         string
		v            *float64
		value, moved string
	}{
		{"share", new(0.5), "50.0%", "+50.0"}, {"share", new(-0.0004), "0.0%", "0.0"}, {"share", nil, "–", "–"}, {"share", new(-0.013), "", "−1.3"},
		{"steps", new(3.0), "3", "+3"}, {"clarifies", new(-0.125), "−0.12", "−0.12"}, {"nano-USD", new(1.5e9), "$1.50", "+$1.50"}, {"nano-USD", new(-2e6), "−$0.00200", "−$0.00200"},
		{"nano-USD", new(0.0), "$0", "$0"}, {"tokens", new(1234.5), "1,235", "+1,235"}, {"us", new(-1.5e6), "−1500 ms", "−1.50 s"},
	} {
		require.Equal(t, c.moved, words.Signed(c.unit, c.v), c.unit)
		if c.v == nil || *c.v >= 0 { // measurements are not negative
			require.Equal(t, c.value, words.InUnit(c.unit, c.v), c.unit)
		}
	}
	require.Equal(t, "–", words.Chance(nil))
	require.Equal(t, "< 0.0001", words.Chance(new(0.00009)))
	require.Equal(t, "0.0001", words.Chance(new(0.0001)))
	require.Equal(t, "none", ClassCounts(nil))
	require.Equal(t, "1 metric", words.Plural(1, MetricTitle(compare.Metric{})))
	require.Equal(t, "trial 2: none → ok", EpisodeWords(compare.EpisodePair{Trial: 2, NewID: "x", NewEnded: "ok"}))
}
