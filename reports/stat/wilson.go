package stat

import "math"

// Wilson is the two-sided Wilson score interval for a share of k in n at the
// given confidence (0.95 for 95 %). ok is false when n is not positive, k is not
// within 0…n, or the confidence is not strictly between 0 and 1.
//
// It holds exactly those shares p that the score test would not reject, keeps
// inside [0, 1], and has a width even at k = 0 and k = n, where it also reaches
// the end exactly.
//
// E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical
// Inference", JASA 22 (1927) 209–212; recommended for small n by Brown, Cai and
// DasGupta, "Interval Estimation for a Binomial Proportion", Statistical Science
// 16 (2001) 101–133.
func Wilson(k, n int, confidence float64) (iv Interval, ok bool) {
	if n <= 0 || k < 0 || k > n || !level(confidence) {
		return Interval{}, false
	}
	z := normalQuantile(twoSided(confidence))
	size, p := float64(n), float64(k)/float64(n)
	denom := 1 + z*z/size
	center := (p + z*z/(2*size)) / denom
	half := z / denom * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	iv = Interval{Low: max(0, center-half), High: min(1, center+half)}
	// The ends are exact at the extremes; rounding must not say otherwise.
	if k == 0 {
		iv.Low = 0
	}
	if k == n {
		iv.High = 1
	}
	return iv, true
}

// WilsonSize is the least number of observations at which the Wilson interval
// around an unchanged estimate p no longer holds the threshold. ok is false when
// no number would do: p equals the threshold, or the threshold is 0 or 1.
//
// The interval holds t exactly while |p−t| ≤ z·√(t(1−t)/n), so n = z²t(1−t)/(p−t)².
func WilsonSize(p, threshold, confidence float64) (n int, ok bool) {
	if p == threshold || threshold <= 0 || threshold >= 1 || !level(confidence) {
		return 0, false
	}
	z := normalQuantile(twoSided(confidence))
	need := math.Ceil(z * z * threshold * (1 - threshold) / ((p - threshold) * (p - threshold)))
	if !(need < maxSize) {
		return 0, false
	}
	return int(need), true
}

// maxSize bounds the sizes worth naming: beyond it the answer is "never".
const maxSize = 1e7

func level(confidence float64) bool { return confidence > 0 && confidence < 1 }
