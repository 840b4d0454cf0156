package stat

import "math"

// Quantile is the p-quantile, 0 ≤ p ≤ 1, of values sorted in ascending order,
// by linear interpolation between order statistics (type 7, the default of R,
// NumPy and spreadsheets). ok is false when there are no values or p is outside.
//
// R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The
// American Statistician 50 (1996) 361–365.
func Quantile(sorted []float64, p float64) (q float64, ok bool) {
	if len(sorted) == 0 || !(p >= 0 && p <= 1) {
		return 0, false
	}
	h := p * float64(len(sorted)-1)
	below := math.Floor(h)
	i := int(below)
	if i+1 == len(sorted) {
		return sorted[i], true
	}
	return sorted[i] + (h-below)*(sorted[i+1]-sorted[i]), true
}
