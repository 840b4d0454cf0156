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
	iv = wilson(float64(k)/float64(n), float64(n), z)
	// The ends are exact at the extremes; rounding must not say otherwise.
	if k == 0 {
		iv.Low = 0
	}
	if k == n {
		iv.High = 1
	}
	return iv, true
}

func wilson(p, size, z float64) Interval {
	denom := 1 + z*z/size
	center := (p + z*z/(2*size)) / denom
	half := z / denom * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return Interval{Low: max(0, center-half), High: min(1, center+half)}
}

// ShareInterval is the two-sided interval around a mean of values that are all
// within [0, 1]: passes, or shares of passes. It is Wilson's for the number of
// independent trials that would vary as much, n = p(1−p)/SE², so that it keeps
// within [0, 1] and has a width where all passed; that number is at most N, is
// Clusters where there is no spread between them, and is lowered by the ratio of
// Student's t to the normal for not knowing the spread. ok is false as for
// Interval, and when the mean shows that values were not within [0, 1].
//
// E. L. Korn and B. I. Graubard, "Confidence Intervals for Proportions with Small
// Expected Number of Positive Counts Estimated from Survey Data", Survey
// Methodology 24 (1998) 193–201, for the effective size; with Wilson's interval:
// C. Franco et al., "Comparative Study of Confidence Intervals for Proportions in
// Complex Sample Surveys", Journal of Survey Statistics and Methodology 7 (2019)
// 334–364.
func (m Mean) ShareInterval(confidence float64) (iv Interval, ok bool) {
	if m.Clusters < 2 || !level(confidence) || !probability(m.Value) {
		return Interval{}, false
	}
	if m.SE > 0 && (m.Value == 0 || m.Value == 1) {
		return Interval{}, false // only values outside [0, 1] vary around an end
	}
	z := normalQuantile(twoSided(confidence))
	iv = wilson(m.Value, m.independent(m.Value*(1-m.Value), confidence), z)
	if m.Value == 0 {
		iv.Low = 0
	}
	if m.Value == 1 {
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

// level says that a confidence, α or power lies strictly between 0 and 1, by more
// than what rounding makes of the quantiles there.
func level(share float64) bool { return share > 1e-15 && share < 1-1e-15 }
