package stat

import "iter"

// sameLikelihood is how much likelier than the outcome another one may be and
// still count as no likelier: rounding must not break a tie. R uses the same.
const sameLikelihood = 1 + 1e-7

// binomialTest is the exact two-sided p-value of k successes in n against a true
// share p: the probability of all counts that are at most as likely as k. ok is false
// when n is not positive, k is not within 0…n, or p is not strictly between 0 and 1.
//
// Summing the no likelier counts is one of several definitions of two-sided, the
// one of R's binom.test; see J. D. Gibbons and J. W. Pratt, "P-values:
// Interpretation and Methodology", The American Statistician 29 (1975) 20–25.
func binomialTest(k, n int, p float64) (value float64, ok bool) {
	if n <= 0 || k < 0 || k > n || !(p > 0 && p < 1) {
		return 0, false
	}
	size, odds := float64(n), p/(1-p)
	mode := min(n, int((size+1)*p))
	return noLikelier(0, n, mode, k, func(i int) float64 {
		return (size - float64(i)) / float64(i+1) * odds
	}), true
}

// noLikelier is the probability of the values no likelier than k under the
// unimodal distribution on low…high with the given mode; up(i) is the
// probability of i+1 over that of i. Working with ratios needs no factorials,
// so nothing overflows and the error grows only with the distance from the mode.
func noLikelier(low, high, mode, k int, up func(int) float64) float64 {
	limit := 0.0
	for i, w := range weights(low, high, mode, up) {
		if i == k {
			limit = w * sameLikelihood
			break
		}
	}
	part, all := 0.0, 0.0
	for _, w := range weights(low, high, mode, up) {
		all += w
		if w <= limit {
			part += w
		}
	}
	return min(1, part/all)
}

// weights walks from the mode up and then from below it down, with the weight of
// each value over that of the mode. It leaves out weights below 1e-290, where
// precision ends; sums over them are 0.
func weights(low, high, mode int, up func(int) float64) iter.Seq2[int, float64] {
	const least = 1e-290
	return func(yield func(int, float64) bool) {
		w := 1.0
		for i := mode; i <= high && w >= least; i++ {
			if !yield(i, w) {
				return
			}
			w *= up(i)
		}
		w = 1
		for i := mode - 1; i >= low; i-- {
			if w /= up(i); w < least || !yield(i, w) {
				return
			}
		}
	}
}

// McNemar is the exact two-sided p-value for pairs of pass and fail: broken
// pairs passed before only, fixed ones after only, and pairs that did not change
// say nothing. It is 1 when no pair changed. The pairs must be independent: one
// per task; for several trials per task use PairedPermutation. ok is false when a
// count is negative.
//
// Q. McNemar, "Note on the Sampling Error of the Difference Between Correlated
// Proportions or Percentages", Psychometrika 12 (1947) 153–157; the exact form:
// A. Agresti, "Categorical Data Analysis", 3rd ed. (2013), section 11.1.
func McNemar(broken, fixed int) (p float64, ok bool) {
	if broken < 0 || fixed < 0 {
		return 0, false
	}
	if broken == fixed {
		return 1, true
	}
	return binomialTest(broken, broken+fixed, 0.5)
}
