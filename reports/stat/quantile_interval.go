package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// QuantileInterval is the two-sided interval around the p-quantile of clustered
// observations: from one of the observed values to another, without any
// assumption about their distribution. For a bound on one side at level 1−a take
// the end at confidence 1−2a. ok is false when there is no such interval, because
// too few observations lie beyond the quantile (a 95 % interval of the 95 %
// quantile needs 72 independent ones), with fewer than two clusters, values that
// are not finite, or p or confidence not strictly between 0 and 1.
//
// The ranks of its ends are those of the exact binomial interval (H. A. David and
// H. N. Nagaraja, "Order Statistics", 3rd ed. (2003), section 7.1) for the number
// of independent observations that would place as uncertain a share below the
// quantile: R. S. Woodruff, "Confidence Intervals for Medians and Other Position
// Measures", JASA 47 (1952) 635–646; that number is found as by Korn
// and Graubard (1998).
func QuantileInterval(obs []Observation, p, confidence float64) (iv Interval, ok bool) {
	if !level(p) || !level(confidence) {
		return Interval{}, false
	}
	sorted, below := make([]float64, len(obs)), slices.Clone(obs)
	for i, o := range obs {
		sorted[i] = o.Value
	}
	slices.Sort(sorted)
	center, _ := Quantile(sorted, p)
	for i, o := range obs {
		switch {
		case math.IsNaN(o.Value) || math.IsInf(o.Value, 0):
		case o.Value <= center:
			below[i].Value = 1
		default:
			below[i].Value = 0
		}
	}
	m, ok := ClusterMean(below)
	if !ok || m.Clusters < 2 {
		return Interval{}, false
	}
	n, size := float64(m.N), m.independent(p*(1-p), confidence)
	tail := (1 - confidence) / 2
	// Of size draws, rank·size or fewer lie below the quantile with chance(rank).
	chance := func(rank, p float64) float64 {
		return mathext.RegIncBeta(size-rank*size, rank*size+1, 1-p)
	}
	low := int(n * largest(func(rank float64) bool { return chance(rank, p) <= tail }))
	high := int(n * largest(func(rank float64) bool { return chance(rank, 1-p) <= tail }))
	if math.Pow(p, size) > tail || math.Pow(1-p, size) > tail {
		return Interval{}, false
	}
	return Interval{Low: sorted[min(low, m.N-1)], High: sorted[max(m.N-1-high, 0)]}, true
}

// independent is the number of independent observations of the given variance
// whose mean would vary as much as m: variance/SE², at most N, Clusters where there
// is no spread between them, and lowered by the ratio of Student's t to the normal
// for not knowing the spread.
//
// E. L. Korn and B. I. Graubard, "Confidence Intervals for Proportions with Small
// Expected Number of Positive Counts Estimated from Survey Data", Survey
// Methodology 24 (1998) 193–201.
func (m Mean) independent(variance, confidence float64) float64 {
	size := float64(m.Clusters)
	if m.SE > 0 {
		size = min(variance/(m.SE*m.SE), float64(m.N))
	}
	ratio := normalQuantile(twoSided(confidence)) / TQuantile(twoSided(confidence), float64(m.Clusters-1))
	return size * ratio * ratio
}

// largest is the largest share, in [0, 1), at which what holds near 0 still holds.
func largest(holds func(share float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 50 {
		if mid := (low + high) / 2; holds(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
