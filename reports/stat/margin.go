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

// Margin is the outcome of a test of non-inferiority.
type Margin struct {
	// Low and High are the one-sided bounds of the true difference, each at
	// level 1−α.
	Low, High float64
	// NotWorse says Low > −margin: worse by the margin or more is ruled out.
	NotWorse bool
	// Worse says High < −margin: anything better than the margin is ruled out.
	// With neither, the data cannot tell.
	Worse bool
}

// NonInferior compares a mean paired difference (candidate − baseline, where more
// is better) with a margin ≥ 0, the loss one is ready to bear, at one-sided level
// α (usually 0.05 or 0.025). The bounds are those of the t interval.
//
// reach is the most a cluster's mean difference can lie from 0: 1 for shares,
// +Inf where nothing bounds it. It matters when no cluster differs from another
// and t knows no spread: then up to 1−α^(1/Clusters) of all clusters may still
// differ without one having been seen (the exact binomial bound at 0), and each
// by reach. Two tasks that did not change rule out little.
//
// ok is false with fewer than two clusters, a margin or reach below 0, or an α
// not strictly between 0 and 0.5.
//
// G. Piaggio et al., "Reporting of Noninferiority and Equivalence Randomized
// Trials", JAMA 308 (2012) 2594–2604, for judging by the interval; the bound at
// 0: J. A. Hanley and A. Lippman-Hand, "If Nothing Goes Wrong, Is Everything All
// Right?", JAMA 249 (1983) 1743–1745.
func (m Mean) NonInferior(margin, reach, alpha float64) (v Margin, ok bool) {
	if m.Clusters < 2 || !(margin >= 0) || !(reach >= 0) || !(alpha > 0 && alpha < 0.5) {
		return Margin{}, false
	}
	g := float64(m.Clusters)
	if m.SE > 0 {
		half := TQuantile(1-alpha, g-1) * m.SE
		v.Low, v.High = m.Value-half, m.Value+half
	} else {
		unseen := -math.Expm1(math.Log(alpha) / g)
		v.Low = m.Value - unseen*(m.Value+reach)
		v.High = m.Value + unseen*(reach-m.Value)
	}
	v.NotWorse, v.Worse = v.Low > -margin, v.High < -margin
	return v, true
}
