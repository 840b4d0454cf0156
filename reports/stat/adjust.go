package stat

import (
	"cmp"
	"slices"
)

// Holm adjusts p-values of a family of tests, in the order given: rejecting where
// the adjusted value is at most α keeps the chance of any false rejection in the
// family at α, however the tests depend on each other. ok is false when a value
// is not within [0, 1].
//
// S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
// Scandinavian Journal of Statistics 6 (1979) 65–70.
func Holm(p []float64) (adjusted []float64, ok bool) {
	order, ok := ascending(p)
	if !ok {
		return nil, false
	}
	adjusted = make([]float64, len(p))
	reached := 0.0
	for rank, i := range order {
		reached = max(reached, min(1, p[i]*float64(len(p)-rank)))
		adjusted[i] = reached
	}
	return adjusted, true
}

// BenjaminiHochberg adjusts p-values of a family of tests, in the order given:
// rejecting where the adjusted value is at most q keeps the expected share of
// false ones among the rejections at q, for tests that are independent or
// positively dependent. ok is false as for Holm.
//
// Y. Benjamini and Y. Hochberg, "Controlling the False Discovery Rate", Journal
// of the Royal Statistical Society B 57 (1995) 289–300; positive dependence:
// Benjamini and Yekutieli, Annals of Statistics 29 (2001) 1165–1188.
func BenjaminiHochberg(p []float64) (adjusted []float64, ok bool) {
	order, ok := ascending(p)
	if !ok {
		return nil, false
	}
	adjusted = make([]float64, len(p))
	reached := 1.0
	for rank, i := range slices.Backward(order) {
		reached = min(reached, p[i]*float64(len(p))/float64(rank+1))
		adjusted[i] = reached
	}
	return adjusted, true
}

// ascending is the order of p from small to large, ties as they came.
func ascending(p []float64) (order []int, ok bool) {
	order = make([]int, len(p))
	for i, v := range p {
		if !probability(v) {
			return nil, false
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order, true
}

// Rejects says that a p-value, adjusted or not, is at most alpha. Values apart by
// rounding only are equal: 3·0.1 rejects at 0.3, although its nearest binary
// fraction is above.
func Rejects(p, alpha float64) bool { return p <= alpha*(1+1e-12) }
