// Package multiple adjusts p-values for the number of tests that are made at once. Its
// functions are pure: the same values give the same bits.
package multiple

import (
	"cmp"
	"fmt"
	"slices"
)

// Holm adjusts p-values of a family of tests, in the order given: rejecting where
// the adjusted value is at most α keeps the chance of any false rejection in the
// family at α, however the tests depend on each other. A value that is not within
// [0, 1] is an error, which names it.
//
// S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
// Scandinavian Journal of Statistics 6 (1979) 65–70.
func Holm(p []float64) (adjusted []float64, err error) {
	return WeightedHolm(p, slices.Repeat([]float64{1}, len(p)))
}

// WeightedHolm is Holm with a weight for each test, positive and finite: while none is
// rejected, a test has its weight's share of α. With equal weights it is Holm.
//
// Holm (1979), section 4.
func WeightedHolm(p, weights []float64) (adjusted []float64, err error) {
	order, err := ascending(p)
	if err != nil {
		return nil, fmt.Errorf("adjust by Holm: %w", err)
	}
	left := 0.0
	for i, w := range weights {
		if !(w > 0 && w <= 1e150) {
			return nil, fmt.Errorf("adjust by Holm: weight %d of %d is %v; a weight is a positive number", i+1, len(weights), w)
		}
		left += w
	}
	if len(weights) != len(p) {
		return nil, fmt.Errorf("adjust by Holm: %d weights of %d p-values", len(weights), len(p))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a]/weights[a], p[b]/weights[b]) })
	adjusted = make([]float64, len(p))
	reached := 0.0
	for _, i := range order {
		reached = max(reached, min(1, p[i]*max(1, left/weights[i]))) // rounding makes no p smaller
		adjusted[i] = reached
		left -= weights[i]
	}
	return adjusted, nil
}

// BenjaminiHochberg adjusts p-values of a family of tests, in the order given:
// rejecting where the adjusted value is at most q keeps the expected share of
// false ones among the rejections at q, for tests that are independent or
// positively dependent. It refuses what Holm refuses.
//
// Y. Benjamini and Y. Hochberg, "Controlling the False Discovery Rate", Journal
// of the Royal Statistical Society B 57 (1995) 289–300; positive dependence:
// Benjamini and Yekutieli, Annals of Statistics 29 (2001) 1165–1188.
func BenjaminiHochberg(p []float64) (adjusted []float64, err error) {
	order, err := ascending(p)
	if err != nil {
		return nil, fmt.Errorf("adjust by Benjamini and Hochberg: %w", err)
	}
	adjusted = make([]float64, len(p))
	reached := 1.0
	for rank, i := range slices.Backward(order) {
		reached = min(reached, max(p[i], p[i]*float64(len(p))/float64(rank+1))) // rounding makes no p smaller
		adjusted[i] = reached
	}
	return adjusted, nil
}

// ascending is the order of p from small to large, ties as they came.
func ascending(p []float64) (order []int, err error) {
	order = make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("p-value %d of %d is %v; a p-value is a number from 0 to 1", i+1, len(p), v)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order, nil
}

// Rejects says that a p-value, adjusted or not, is at most alpha. Values apart by
// rounding only are equal: 3·0.1 rejects at 0.3, although its nearest binary
// fraction is above.
func Rejects(p, alpha float64) bool { return p <= alpha*(1+1e-12) }
