package stat_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
)

// A ledger can contain any number. For every input, nothing panics, results are valid
// (ok reports that, and each p-value is in [0, 1]), and the functions return quickly.
func TestHostileNumbers(t *testing.T) {
	odd := rapid.SampledFrom([]float64{0, 1, -1, 0.5, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, 1e-300, 1e15, 1e300})
	count := rapid.OneOf(rapid.IntRange(-3, 12), rapid.SampledFrom([]int{math.MinInt, math.MaxInt32, 100_000}))
	rapid.Check(t, func(t *rapid.T) {
		p := func(name string, v float64, ok bool) {
			require.True(t, !ok || v >= 0 && v <= 1, "%s: %v", name, v)
		}
		interval := func(name string, iv stat.Interval, ok bool) {
			require.True(t, !ok || iv.Low <= iv.High, "%s: %+v", name, iv)
		}
		values := rapid.SliceOfN(rapid.OneOf(odd, rapid.Float64()), 0, 30).Draw(t, "values")
		list := make([]stat.Observation, len(values))
		for i, v := range values {
			list[i] = stat.Observation{Cluster: strconv.Itoa(i % 7), Value: v}
		}
		flips, ok := stat.PairedPermutation(list)
		p("permutation", flips.P, ok)
		require.True(t, !ok || flips.P > 0)
		iv, ok := stat.QuantileInterval(list, 0.5, odd.Draw(t, "confidence"))
		interval("quantile", iv, ok)
		_, icc, ok := stat.Spread(list)
		p("icc", icc, ok)
		a, b := odd.Draw(t, "a"), odd.Draw(t, "b")
		if m, ok := stat.ClusterMean(list); ok {
			v, ok := m.P(a)
			p("mean", v, ok)
			iv, ok := m.ShareInterval(b)
			interval("share", iv, ok)
		}
		clusters := make([]stat.Cluster, len(values)/2)
		for i := range clusters {
			clusters[i] = stat.Cluster{Num: values[2*i], Den: values[2*i+1]}
		}
		iv, ok = stat.ShareInterval(clusters, b)
		interval("share", iv, ok)
		effect, ok := stat.DesignEffect(clusters)
		require.True(t, !ok || effect >= 0)
		stat.ShareClusters(clusters, a, b)
		stat.PerfectClusters(a, b)
		j, k, l, m := count.Draw(t, "j"), count.Draw(t, "k"), count.Draw(t, "l"), count.Draw(t, "m")
		v, ok := stat.McNemar(j, k)
		p("mcnemar", v, ok)
		iv, ok = stat.ClopperPearson(j, k, b)
		interval("exact", iv, ok)
		v, ok = stat.Trials{Passed: j, N: k}.PassAt(min(l, 1000))
		p("pass", v, ok)
		e, ok := flake.Classify(stat.Trials{Passed: min(j, 2000), N: min(k, 3000)}, stat.Trials{Passed: min(l, 2000), N: min(m, 3000)}, 0.05)
		p("change", e.P, ok)
		interval("stability", e.Share, ok)
	})
}
