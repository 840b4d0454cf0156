package stat

import "gonum.org/v1/gonum/mathext"

// ClopperPearson is the two-sided exact interval for a share of k in n. Each end
// errs with probability (1−confidence)/2 at most, whatever the true share; for
// that it is wider than Wilson's, which holds its level on average. The bound on
// one side at level 1−a is the end of the interval at confidence 1−2a. ok is
// false as for Wilson.
//
// C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits
// Illustrated in the Case of the Binomial", Biometrika 26 (1934) 404–413; the
// ends as beta quantiles: Johnson, Kemp and Kotz, "Univariate Discrete
// Distributions", 3rd ed. (2005), chapter 3.
func ClopperPearson(k, n int, confidence float64) (iv Interval, ok bool) {
	if n <= 0 || k < 0 || k > n || !level(confidence) {
		return Interval{}, false
	}
	tail := (1 - confidence) / 2
	iv = Interval{Low: 0, High: 1}
	if k > 0 {
		iv.Low = mathext.InvRegIncBeta(float64(k), float64(n-k+1), tail)
	}
	if k < n {
		// By symmetry, so that k and n−k mirror each other to the bit.
		iv.High = 1 - mathext.InvRegIncBeta(float64(n-k), float64(k+1), tail)
	}
	return iv, true
}
