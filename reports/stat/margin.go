package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// P is the two-sided p-value of the t test with Clusters−1 degrees of freedom
// against the mean being null; on paired differences, a paired test that allows
// for resemblance within clusters. ok is false with fewer than two clusters or
// without spread between them (SE 0), where t has no meaning: PairedPermutation
// has.
func (m Mean) P(null float64) (p float64, ok bool) {
	t := (m.Value - null) / m.SE
	if m.Clusters < 2 || !(m.SE > 0) || math.IsNaN(t) {
		return 0, false
	}
	return min(1, 2*tShare(-math.Abs(t), float64(m.Clusters-1))), true
}

// tShare is the probability below t of Student's t distribution.
func tShare(t, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(t)
}

// ShareInterval is the Interval of a mean paired difference of shares. It has one, too,
// when no cluster differs from another and t knows no spread: then up to 1−α^(1/Clusters)
// of all clusters, α on one side, may still differ without one having been seen (the exact
// binomial bound at 0), and each by 1. Two tasks that did not change rule out little. ok is
// that of Interval.
//
// G. Piaggio et al., "Reporting of Noninferiority and Equivalence Randomized
// Trials", JAMA 308 (2012) 2594–2604, for judging by the interval; the bound at
// 0: J. A. Hanley and A. Lippman-Hand, "If Nothing Goes Wrong, Is Everything All
// Right?", JAMA 249 (1983) 1743–1745.
func (m Mean) ShareInterval(confidence float64) (iv Interval, ok bool) {
	iv, ok = m.Interval(confidence)
	if ok && !(m.SE > 0) {
		unseen := -math.Expm1(math.Log((1-confidence)/2) / float64(m.Clusters))
		iv = Interval{Low: m.Value - unseen*(m.Value+1), High: m.Value + unseen*(1-m.Value)}
	}
	return iv, ok
}
