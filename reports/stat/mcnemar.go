package stat

// McNemar is the exact two-sided p-value for pairs of pass and fail: broken
// pairs passed before only, fixed ones after only, and pairs that did not change
// say nothing. It is 1 when no pair changed. The pairs must be independent: one
// per task; for several trials per task use PairedPermutation. ok is false when a
// count is negative or their sum too large for an int.
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
	// The weights of all counts, from the middle up and from below it down. As ratios to
	// the middle one they need no factorials, so nothing overflows. Weights below least, where
	// precision ends, are left out: of n counts, some 37·√n are not.
	const least = 1e-290
	n := broken + fixed
	if n < 0 {
		return 0, false
	}
	middle := (n + 1) / 2
	ratio := func(i int) float64 { return float64(n-i) / float64(i+1) } // the weight of i+1 over that of i
	part, all, w := 0.0, 0.0, 1.0
	for i := middle; i <= n && w >= least; i++ {
		all += w
		if i >= max(broken, fixed) {
			part += w
		}
		w *= ratio(i)
	}
	w = 1
	for i := middle - 1; i >= 0; i-- {
		if w /= ratio(i); w < least {
			break
		}
		all += w
		if i <= min(broken, fixed) {
			part += w
		}
	}
	return part / all, true
}
