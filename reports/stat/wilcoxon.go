package stat

import (
	"cmp"
	"math"
	"slices"
)

// exactRanks is the largest number of differences Wilcoxon treats exactly.
const exactRanks = 100

// SignedRanks is the outcome of Wilcoxon's signed rank test.
type SignedRanks struct {
	// N counts the differences that are not 0.
	N int
	// Plus and Minus are the sums of the ranks of positive and negative
	// differences; they add up to N(N+1)/2.
	Plus, Minus float64
	// P is the two-sided p-value against differences symmetric around 0; 1
	// when N is 0.
	P float64
	// Exact is false when P is the normal approximation.
	Exact bool
}

// Wilcoxon is the signed rank test of paired differences. Zeros are dropped and
// ties share the mean of their ranks. Up to 100 differences P is exact, given the
// ranks as they are, ties included; above, it is normal with the variance of the
// tied ranks and a continuity correction of half a rank. Trials of one task are
// not independent: give it one difference per task. ok is false when differences
// is empty or holds a value that is not finite.
//
// F. Wilcoxon (1945); ties by the conditional distribution: J. W. Pratt and J. D.
// Gibbons, "Concepts of Nonparametric Theory" (1981), chapter 3;
// the approximation: Hollander, Wolfe and Chicken (2014), section 3.1.
func Wilcoxon(differences []float64) (r SignedRanks, ok bool) {
	kept := make([]float64, 0, len(differences))
	for _, d := range differences {
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return SignedRanks{}, false
		}
		if d != 0 {
			kept = append(kept, d)
		}
	}
	slices.SortFunc(kept, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	ranks, plus, squares := make([]int, len(kept)), 0, 0.0 // ranks twice over, so that mean ranks are whole
	for i := 0; i < len(kept); {
		end := i + 1
		for end < len(kept) && math.Abs(kept[end]) == math.Abs(kept[i]) {
			end++
		}
		for j := i; j < end; j++ {
			ranks[j] = i + 1 + end
			squares += float64(ranks[j]) * float64(ranks[j]) / 4
			if kept[j] > 0 {
				plus += ranks[j]
			}
		}
		i = end
	}
	r.N = len(kept)
	all := r.N * (r.N + 1)
	r.Plus, r.Minus = float64(plus)/2, float64(all-plus)/2
	if r.Exact = r.N <= exactRanks; r.Exact {
		r.P = flipWhole(ranks, plus)
	} else {
		away := max(0, math.Abs(r.Plus-r.Minus)/2-0.5)
		r.P = math.Erfc(away / math.Sqrt(squares/4) / math.Sqrt2)
	}
	return r, len(differences) > 0
}
