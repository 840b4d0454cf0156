package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

// A comparison counts the same episodes and turns as a report. If a run is compared
// with itself, each side has the numbers of the report.
func TestComparisonCountsAsReportsDo(t *testing.T) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles(), 20, 6)
	r := build(m, rows)
	turns, _ := groups(rows.Turns, func(t *ledger.Turn) string { return t.EpisodeID })
	var pairs []compare.Names
	for _, c := range r.Candidates {
		pairs = append(pairs, compare.Names{Baseline: c.Name, New: c.Name})
	}
	b := compare.NewBuilder([]manifest.Manifest{m}, m, pairs, compare.Rules{})
	for _, e := range rows.Episodes {
		one := ledger.EpisodeRows{Episode: e, Turns: turns[e.EpisodeID]}
		b.AddBaseline(0, one)
		b.AddNew(one)
	}
	c, err := b.Comparison()
	require.NoError(t, err)
	require.Positive(t, c.Pairs[2].WithoutResult, "the fixture has episodes without a result")
	for i, p := range c.Pairs {
		want := r.Candidates[i]
		require.Equal(t, want.Name, p.New.Name)
		require.Equal(t, want.Episodes, p.Episodes)
		require.Equal(t, want.Episodes-want.Success.N, p.WithoutResult)
		metrics := map[string]compare.Metric{}
		for _, m := range p.Metrics {
			metrics[m.Name] = m
			require.Equal(t, m.Baseline, m.New)
		}
		same := func(name string, n int, value *float64) {
			require.Equal(t, n, metrics[name].N, name)
			require.InDelta(t, *value, *metrics[name].New, 1e-12, name)
		}
		valid := want.Criteria[1].Value // in the report n counts turns, in the comparison pairs with turns
		require.InDelta(t, *valid, *metrics["contract_valid"].New, 1e-12)
		same("solved", want.Success.N, want.Success.Value)
		same("clarifies", want.Criteria[2].N, want.Criteria[2].Value)
		same("steps", want.Criteria[3].N, want.Criteria[3].Value)
		same("thrash", want.Thrash.N, want.Thrash.Value)
		same("stall", want.Stall.N, want.Stall.Value)
		if want.Cost == nil {
			require.Nil(t, metrics["cost"].New, "no price: unknown on both")
		}
	}
}
