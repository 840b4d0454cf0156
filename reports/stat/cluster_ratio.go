package stat

import "math"

// Cluster are sums over what came from one cluster.
type Cluster struct{ Num, Den float64 }

// ClusterRatio is the ratio of the sums of Num and of Den, with a standard error
// that allows for resemblance within clusters, by linearisation: with residuals
// e = Num − ratio·Den, SE² = G/(G−1) · Σ e² / (Σ Den)². Where Den counts
// observations it is ClusterMean. ok is false when the sum of Den is not positive,
// or a sum is not finite. N is 0.
//
// W. G. Cochran, "Sampling Techniques", 3rd ed. (1977), section 6.3; Cameron and
// Miller (2015) as in ClusterMean.
func ClusterRatio(clusters []Cluster) (m Mean, ok bool) {
	var num, den float64
	for _, c := range clusters {
		num, den = num+c.Num, den+c.Den
	}
	if !(den > 0) || math.IsInf(den, 0) || math.IsNaN(num) || math.IsInf(num, 0) {
		return Mean{}, false
	}
	m = Mean{Value: num / den, Clusters: len(clusters)}
	if m.Clusters < 2 {
		return m, true
	}
	squares := 0.0
	for _, c := range clusters {
		e := c.Num - m.Value*c.Den
		squares += e * e
	}
	g := float64(m.Clusters)
	m.SE = math.Sqrt(g/(g-1)*squares) / den
	return m, true
}
