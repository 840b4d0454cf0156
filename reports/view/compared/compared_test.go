package compared

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// A metric shows the p-value of the change in its row, and whether that is significant.
func TestSignificantChanges(t *testing.T) {
	for name, c := range map[string]struct {
		m       compare.Metric
		p       string
		details string
		is      stat.Verdict
	}{
		"improved":         {compare.Metric{Gates: true, Improved: true, HigherIsBetter: true, Effect: new(0.2), P: new(1.0), Adjusted: new(1.0), ImprovedP: new(0.004)}, "0.004", "adjusted p 0.004 (two-sided); ", stat.Pass},
		"worse":            {compare.Metric{Gates: true, HigherIsBetter: true, Effect: new(-0.2), P: new(0.001), Adjusted: new(0.003), ImprovedP: new(1.0)}, "0.003", "p 0.001, adjusted 0.003; ", stat.Fail},
		"by chance":        {compare.Metric{Gates: true, HigherIsBetter: true, Effect: new(-0.2), P: new(0.1), Adjusted: new(0.3), ImprovedP: new(1.0)}, "0.3", "p 0.1, adjusted 0.3; ", stat.NotJudged},
		"reported, more":   {compare.Metric{Effect: new(2.0), P: new(0.01), Adjusted: new(0.02)}, "0.02", "p 0.01, adjusted 0.02; ", stat.Fail},
		"reported, less":   {compare.Metric{Effect: new(-2.0), P: new(0.01), Adjusted: new(0.02)}, "0.02", "p 0.01, adjusted 0.02; ", stat.Pass},
		"without any data": {compare.Metric{}, "–", "0 pairs", stat.NotJudged},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.p, AdjustedP(c.m))
			require.True(t, strings.HasPrefix(Details(c.m), c.details), Details(c.m))
			require.Equal(t, c.is, Significant(c.m, 0.05))
		})
	}
}

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
