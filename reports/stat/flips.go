package stat

import "math"

// flipWhole is the two-sided p-value of flipping the signs of whole positive
// weights: the probability, each sign being a fair coin, that the sum lies at
// least as far from its middle as the one where the weights that are positive
// add up to plus. It is exact: each sum's probability is followed weight by
// weight, as in the recurrence of the signed rank test, which this is for ranks.
//
// F. Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1
// (1945) 80–83; the recurrence: M. Hollander, D. A. Wolfe and E. Chicken,
// "Nonparametric Statistical Methods", 3rd ed. (2014), section 3.1.
func flipWhole(weights []int, plus int) float64 {
	all := 0
	for _, w := range weights {
		all += w
	}
	tail := min(plus, all-plus)
	if 2*tail == all {
		return 1
	}
	sums := make([]float64, tail+1) // sums[s]: probability that plus is s
	sums[0] = 1
	for _, w := range weights {
		for s := tail; s >= 0; s-- {
			if s >= w {
				sums[s] += sums[s-w]
			}
			sums[s] /= 2
		}
	}
	p := 0.0
	for _, s := range sums {
		p += s
	}
	return min(1, 2*p) // the other tail mirrors this one; together they may be all there is, and rounding a little more
}

// flipCount counts, among all signs of weights from the i-th on, those that bring
// |sum| to at least reach. left[i] is the sum of the weights from i on; a branch
// that can no longer miss, or no longer reach, is not walked.
func flipCount(weights, left []float64, i int, sum, reach float64) uint64 {
	switch {
	case math.Abs(sum)-left[i] >= reach:
		return 1 << (len(weights) - i)
	case math.Abs(sum)+left[i] < reach || i == len(weights):
		return 0
	}
	return flipCount(weights, left, i+1, sum+weights[i], reach) + flipCount(weights, left, i+1, sum-weights[i], reach)
}
