package stat

import "math"

// Observation is one value and the cluster it came from. Values of one cluster
// (trials of one task) may resemble each other.
type Observation struct {
	Cluster string
	Value   float64
}

// Mean is a mean of clustered observations.
type Mean struct {
	// Value is the mean over the N observations, each with the same weight.
	Value float64
	// SE is the cluster-robust standard error. It is 0 when every cluster's
	// residuals add up to 0, which includes all observations being equal: the
	// interval then has no width. It is meaningless (0) with fewer than two Clusters.
	SE          float64
	N, Clusters int
}

// ClusterMean is the mean of obs with a standard error that allows for
// resemblance within clusters. ok is false when obs is empty or holds a value
// that is not finite, or values that add up to more than 1e150.
//
// With residuals e = y − ȳ, SE² = G/(G−1) · Σ_g (Σ_{i∈g} e_i)² / N², the CR1
// estimate for a model with an intercept only. With one observation per cluster
// it is the ordinary standard error s/√n.
//
// A. C. Cameron and D. L. Miller, "A Practitioner's Guide to Cluster-Robust
// Inference", Journal of Human Resources 50 (2015) 317–372, sections II and
// VI.A; E. Miller, "Adding Error Bars to Evals", arXiv:2411.00640 (2024), for
// questions as clusters.
func ClusterMean(obs []Observation) (m Mean, ok bool) {
	if len(obs) == 0 {
		return Mean{}, false
	}
	sum, size, index := 0.0, 0.0, map[string]int{}
	for _, o := range obs {
		sum += o.Value
		size += math.Abs(o.Value)
		if _, seen := index[o.Cluster]; !seen {
			index[o.Cluster] = len(index)
		}
	}
	if !(size <= vast) { // or not a number
		return Mean{}, false
	}
	m = Mean{Value: sum / float64(len(obs)), N: len(obs), Clusters: len(index)}
	residuals := make([]float64, m.Clusters)
	for _, o := range obs {
		residuals[index[o.Cluster]] += o.Value - m.Value
	}
	m.SE = standardError(residuals, m.N, size/float64(m.N))
	return m, true
}

// standardError is CR1 from the sums of residuals by cluster, of n observations
// of the given mean size. A spread that rounding alone could make is none: a
// constant does not become a sure finding.
func standardError(residuals []float64, n int, size float64) float64 {
	g := float64(len(residuals))
	if g < 2 {
		return 0
	}
	squares := 0.0
	for _, r := range residuals {
		squares += r * r
	}
	se := math.Sqrt(g/(g-1)*squares) / float64(n)
	if se <= 1e-12*size {
		return 0
	}
	return se
}

// Interval is the two-sided t interval around the mean with Clusters−1 degrees
// of freedom. ok is false with fewer than two clusters, where the spread between
// clusters is unknown, or a confidence not strictly between 0 and 1.
func (m Mean) Interval(confidence float64) (iv Interval, ok bool) {
	if m.Clusters < 2 || !level(confidence) {
		return Interval{}, false
	}
	half := TQuantile(twoSided(confidence), float64(m.Clusters-1)) * m.SE
	return Interval{Low: m.Value - half, High: m.Value + half}, true
}
