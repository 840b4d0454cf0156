package stat

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// QuantileInterval is the interval between two of the values, sorted in ascending
// order, that holds the p-quantile of what they were drawn from with at least the
// confidence, whatever its distribution. low and high say which of its ends exist:
// few values say nothing about how far a quantile near 0 or 1 can lie.
//
// The number of values below the quantile is binomial with probability p, so the
// l-th value is above it with the probability of fewer than l. Draws are taken as
// independent.
//
// H. A. David and H. N. Nagaraja, "Order Statistics", 3rd ed. (2003), section 7.1.
func QuantileInterval(sorted []float64, p, confidence float64) (iv Interval, low, high bool) {
	n := len(sorted)
	if n == 0 || !level(p) || !level(confidence) {
		return Interval{}, false, false
	}
	tail := 1 - twoSided(confidence)
	below := distuv.Binomial{N: float64(n), P: p}
	// fewer is P(B < k).
	fewer := func(k int) float64 {
		if k == 0 {
			return 0
		}
		return below.CDF(float64(k - 1))
	}
	// The greatest l of which P(B < l) ≤ tail, and the least u of which P(B ≥ u) is.
	l := sort.Search(n, func(k int) bool { return fewer(k+1) > tail })
	u := 1 + sort.Search(n, func(k int) bool { return 1-fewer(k+1) <= tail })
	if low = l >= 1; low {
		iv.Low = sorted[l-1]
	}
	if high = u <= n; high {
		iv.High = sorted[u-1]
	}
	return iv, low, high
}

// QuantileSize is the least number of values of which QuantileInterval has both
// ends; ok is false outside of 0 < p < 1 and 0 < confidence < 1.
func QuantileSize(p, confidence float64) (n int, ok bool) {
	if !level(p) || !level(confidence) {
		return 0, false
	}
	need := math.Ceil(math.Log(1-twoSided(confidence)) / math.Log(max(p, 1-p)))
	return int(need), need < maxSize
}

// Cluster are sums over what came from one cluster.
type Cluster struct{ Num, Den float64 }

// ClusterRatio is the ratio of the sums of Num and of Den, with a standard error
// that allows for resemblance within clusters, by linearisation: with residuals
// e = Num − ratio·Den, SE² = G/(G−1) · Σ e² / (Σ Den)². Where Den counts
// observations it is ClusterMean. ok is false when the sum of Den is not positive,
// or a sum is not finite. N is 0.
//
// W. G. Cochran, "Sampling Techniques", 3rd ed. (1977), section 6.3; Cameron and
// Miller (2015) as in ClusterMean.
func ClusterRatio(clusters []Cluster) (m Mean, ok bool) {
	var num, den float64
	for _, c := range clusters {
		num, den = num+c.Num, den+c.Den
	}
	if !(den > 0) || math.IsInf(den, 0) || math.IsNaN(num) || math.IsInf(num, 0) {
		return Mean{}, false
	}
	m = Mean{Value: num / den, Clusters: len(clusters)}
	if m.Clusters < 2 {
		return m, true
	}
	squares := 0.0
	for _, c := range clusters {
		e := c.Num - m.Value*c.Den
		squares += e * e
	}
	g := float64(m.Clusters)
	m.SE = math.Sqrt(g/(g-1)*squares) / den
	return m, true
}
