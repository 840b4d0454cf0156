package stat_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

func ranks(n int) []float64 {
	var v []float64
	for i := range n {
		v = append(v, float64(i+1))
	}
	return v
}

// below is P(B < k) of a binomial, by exact fractions.
func below(n, k int, p *big.Rat) float64 {
	sum, q := new(big.Rat), new(big.Rat).Sub(big.NewRat(1, 1), p)
	power := func(x *big.Rat, n int) *big.Rat {
		out := big.NewRat(1, 1)
		for range n {
			out.Mul(out, x)
		}
		return out
	}
	for i := range k {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(i)))
		sum.Add(sum, term.Mul(term, new(big.Rat).Mul(power(p, i), power(q, n-i))))
	}
	f, _ := sum.Float64()
	return f
}

// The ends are the tightest ranks that exact fractions allow.
func TestQuantileIntervalAgainstExactFractions(t *testing.T) {
	for _, n := range []int{1, 5, 20, 59, 72, 73, 120} {
		for _, p := range []*big.Rat{big.NewRat(1, 2), big.NewRat(19, 20), big.NewRat(1, 10)} {
			v, _ := p.Float64()
			iv, low, high := stat.QuantileInterval(ranks(n), v, 0.95)
			const tail = 0.025
			require.Equal(t, below(n, 1, p) <= tail, low)
			require.Equal(t, 1-below(n, n, p) <= tail, high)
			if low {
				l := int(iv.Low)
				require.LessOrEqual(t, below(n, l, p), tail)
				require.Greater(t, below(n, l+1, p), tail)
			}
			if high {
				u := int(iv.High)
				require.LessOrEqual(t, 1-below(n, u, p), tail)
				require.Greater(t, 1-below(n, u-1, p), tail)
			}
		}
	}
	// Hahn and Meeker, "Statistical Intervals" (1991), table A.15: the median of 10
	// lies between the 2nd and 9th value with 95 %.
	iv, low, high := stat.QuantileInterval(ranks(10), 0.5, 0.95)
	require.True(t, low && high)
	require.Equal(t, stat.Interval{Low: 2, High: 9}, iv)
}

func TestQuantileSize(t *testing.T) {
	for _, p := range []float64{0.05, 0.5, 0.9, 0.95, 0.99} {
		n, ok := stat.QuantileSize(p, 0.95)
		require.True(t, ok)
		_, low, high := stat.QuantileInterval(ranks(n), p, 0.95)
		require.True(t, low && high, "%v of %d", p, n)
		_, low, high = stat.QuantileInterval(ranks(n-1), p, 0.95)
		require.False(t, low && high, "%v of %d", p, n-1)
	}
	n, _ := stat.QuantileSize(0.95, 0.95)
	require.Equal(t, 72, n) // 0.95^72 = 0.0249
	_, ok := stat.QuantileSize(1, 0.95)
	require.False(t, ok)
	_, low, high := stat.QuantileInterval(nil, 0.5, 0.95)
	require.False(t, low || high)
}

// A seeded simulation: the interval holds the quantile at least as often as it says,
// of skewed values too.
func TestQuantileIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	const suites, n, p = 2000, 200, 0.95
	truth := -math.Log(1 - p)
	held := 0
	for range suites {
		var v []float64
		for range n {
			v = append(v, r.ExpFloat64())
		}
		slices.Sort(v)
		iv, low, high := stat.QuantileInterval(v, p, 0.95)
		require.True(t, low && high)
		if iv.Low <= truth && truth <= iv.High {
			held++
		}
	}
	iv, _ := stat.Wilson(held, suites, 0.99)
	require.GreaterOrEqual(t, iv.High, 0.95)
	require.Less(t, iv.Low, 0.98, "and is not much too wide")
}

func TestClusterRatio(t *testing.T) {
	// With counts below it is the mean of the observations.
	obs := []stat.Observation{{Cluster: "a", Value: 3}, {Cluster: "a", Value: 5}, {Cluster: "b", Value: 4}, {Cluster: "c", Value: 9}, {Cluster: "c", Value: 1}, {Cluster: "c", Value: 2}}
	want, ok := stat.ClusterMean(obs)
	require.True(t, ok)
	got, ok := stat.ClusterRatio([]stat.Cluster{{Num: 8, Den: 2}, {Num: 4, Den: 1}, {Num: 12, Den: 3}})
	require.True(t, ok)
	require.InDelta(t, want.Value, got.Value, 1e-12)
	require.InDelta(t, want.SE, got.SE, 1e-12)
	require.Equal(t, want.Clusters, got.Clusters)
	// By hand: ratio 6/4, residuals 1−1.5·1 and 5−1.5·3, SE² = 2/1·(0.25+0.25)/16.
	got, ok = stat.ClusterRatio([]stat.Cluster{{Num: 1, Den: 1}, {Num: 5, Den: 3}})
	require.True(t, ok)
	require.InDelta(t, 1.5, got.Value, 1e-12)
	require.InDelta(t, 0.25, got.SE, 1e-12)
	_, ok = stat.ClusterRatio([]stat.Cluster{{Num: 1}})
	require.False(t, ok)
	_, ok = stat.ClusterRatio(nil)
	require.False(t, ok)
}
