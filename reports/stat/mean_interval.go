package stat

import "slices"

// MeanInterval is the two-sided interval around a mean, ΣNum/ΣDen over clusters (tasks),
// where no cluster's Num/Den lies outside within, of those that were not seen, either.
// Each end is the bound of Gaffke (2005), as in LowerBound, from below and from above: it
// supposes nothing else of how clusters differ. So few clusters that are all equal have a
// wide interval, where the t interval has none: g of them at v reach up to
// v + (within.High − v)·(1 − ((1−confidence)/2)^(1/g)).
//
// A limit is needed, and the caller must name it: without a limit, a mean has no
// interval that holds for every distribution. R. R. Bahadur and L. J. Savage, "The
// Nonexistence of Certain Statistical Procedures in Nonparametric Problems", Annals of
// Mathematical Statistics 27 (1956) 1115–1122.
//
// A cluster may have a Num without a Den, such as the cost of a task that was never
// solved. ok is false without any Den, with a negative one, for a Num/Den outside within,
// limits without a distance between them, sums that are not finite, and a confidence not
// strictly between 0 and 1.
func MeanInterval(clusters []Cluster, within Interval, confidence float64) (iv Interval, ok bool) {
	if !level(confidence) || !inside(clusters, within) {
		return Interval{}, false
	}
	tail := (1 - confidence) / 2
	low, _ := lowerBound(clusters, within.Low, 1, tail)
	high, _ := lowerBound(negated(clusters), -within.High, 1, tail)
	return Interval{Low: low, High: -high}, true
}

// MeanClusters is the least number of clusters, of the mean and spread of these, at which
// MeanInterval no longer holds the threshold. ok is false when no number would do, or
// there is no interval.
func MeanClusters(clusters []Cluster, within Interval, threshold, confidence float64) (n int, ok bool) {
	if !level(confidence) || !inside(clusters, within) {
		return 0, false
	}
	end := within.Low
	if m, _ := ClusterRatio(clusters); m.Value < threshold {
		clusters, threshold, end = negated(clusters), -threshold, -within.High
	}
	b, _ := newBounding(clusters, end)
	return least(func(n int) bool { return b.reaches(threshold, float64(n)/b.g, (1-confidence)/2) })
}

// inside says that the clusters have a mean, and lie within limits.
func inside(clusters []Cluster, within Interval) bool {
	_, sum, ok := alike(clusters)
	if !ok || !(within.Low < within.High) || !(within.High-within.Low <= vast) || !contains(sum, within) {
		return false
	}
	return !slices.ContainsFunc(clusters, func(c Cluster) bool { return c.Den > 0 && !contains(c, within) })
}

// contains allows for rounding.
func contains(c Cluster, within Interval) bool {
	slack := 1e-9 * (within.High - within.Low) * c.Den
	return c.Num >= within.Low*c.Den-slack && c.Num <= within.High*c.Den+slack
}

func negated(clusters []Cluster) []Cluster {
	list := make([]Cluster, len(clusters))
	for i, c := range clusters {
		list[i] = Cluster{Num: -c.Num, Den: c.Den}
	}
	return list
}
