package stat

import "math"

// Agreement is Cohen's κ of two raters: 1 is agreement throughout, 0 what chance
// alone would give, below 0 less than that.
type Agreement struct {
	Kappa float64
	// SE is the standard error for large samples; 0 at full agreement.
	SE float64
	N  int
}

// Kappa is Cohen's κ from a square table: counts[i][j] items were labelled i by
// the first rater and j by the second. ok is false when the table is not square,
// holds a negative count or nothing, or both raters used one and the same label
// only, where agreement by chance is certain and κ undefined.
//
// J. Cohen, "A Coefficient of Agreement for Nominal Scales", Educational and
// Psychological Measurement 20 (1960) 37–46; the standard error: J. L. Fleiss, J.
// Cohen and B. S. Everitt, "Large Sample Standard Errors of Kappa and Weighted
// Kappa", Psychological Bulletin 72 (1969) 323–327.
func Kappa(counts [][]int) (a Agreement, ok bool) {
	rows, columns := make([]float64, len(counts)), make([]float64, len(counts))
	for i, row := range counts {
		if len(row) != len(counts) {
			return Agreement{}, false
		}
		for j, c := range row {
			if c < 0 {
				return Agreement{}, false
			}
			a.N += c
			rows[i] += float64(c)
			columns[j] += float64(c)
		}
	}
	n := float64(a.N)
	observed, chance := 0.0, 0.0
	for i := range counts {
		observed += float64(counts[i][i]) / n
		chance += rows[i] / n * columns[i] / n
	}
	if a.N == 0 || !(chance < 1) {
		return Agreement{}, false
	}
	a.Kappa = (observed - chance) / (1 - chance)
	lean := a.Kappa - chance*(1-a.Kappa)
	square := -lean * lean
	for i, row := range counts {
		for j, c := range row {
			d := -(1 - a.Kappa) * (columns[i] + rows[j]) / n
			if i == j {
				d++
			}
			square += float64(c) / n * d * d
		}
	}
	a.SE = math.Sqrt(max(0, square)/n) / (1 - chance)
	return a, true
}

// Interval is the normal interval around κ, cut at −1 and 1. It speaks of large
// samples and of independent items; at full agreement it has no width. ok is
// false when there are no items or the confidence is not strictly between 0 and 1.
func (a Agreement) Interval(confidence float64) (iv Interval, ok bool) {
	if a.N < 1 || !level(confidence) {
		return Interval{}, false
	}
	half := normalQuantile(twoSided(confidence)) * a.SE
	return Interval{Low: max(-1, a.Kappa-half), High: min(1, a.Kappa+half)}, true
}
