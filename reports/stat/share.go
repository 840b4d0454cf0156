package stat

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// ShareInterval is the two-sided interval around a share, ΣNum/ΣDen over clusters
// (tasks): Num of a cluster's Den observations are so, 0 ≤ Num ≤ Den. Observations
// of one cluster may resemble each other as they like; clusters must be independent.
// Each end errs with probability (1−confidence)/2 at most. The bound on one side at
// level 1−a is the end of the interval at confidence 1−2a.
//
// Where clusters have one observation each, or are of one size and all of one kind
// within, it is Clopper's and Pearson's, for the number of clusters. Otherwise its
// ends are LowerBound, of Num from below and of Den − Num from above: it supposes
// nothing of how clusters differ, and allows for a kind of cluster that was not seen.
// Where nothing fails, only the clusters count, however many observations they have:
// the lower end is ((1−confidence)/2)^(1/clusters), less by a little where their
// sizes differ. The price is a wide interval of few clusters.
//
// ok is false without clusters, where Den is not positive or Num not within 0…Den,
// for sums that are not finite, and for a confidence not strictly between 0 and 1.
//
// Intervals from an effective size (Korn and Graubard 1998) were tried and left:
// the spread that was seen says nothing of tasks that were not, and where 3 % of
// tasks always fail and others rarely, they passed a threshold of 95 % at that true
// share 5 to 22 times in a hundred instead of 2.5.
func ShareInterval(clusters []Cluster, confidence float64) (iv Interval, ok bool) {
	tail := (1 - confidence) / 2
	if !level(confidence) || !counted(clusters) {
		return Interval{}, false
	}
	return Interval{Low: shareBound(clusters, tail), High: 1 - shareBound(others(clusters), tail)}, true
}

// ShareClusters is the least number of clusters, of the share and spread of these,
// at which ShareInterval no longer holds the threshold. ok is false when no number
// would do: the share equals the threshold, or the threshold is 0 or 1.
func ShareClusters(clusters []Cluster, threshold, confidence float64) (n int, ok bool) {
	if !level(confidence) || !level(threshold) || !counted(clusters) {
		return 0, false
	}
	if m, _ := ClusterRatio(clusters); m.Value < threshold {
		clusters, threshold = others(clusters), 1-threshold
	}
	tail, of := (1-confidence)/2, float64(len(clusters))
	full, alike := agreeing(clusters)
	b, _ := newBounding(clusters, 0) // counted clusters have no error
	return least(func(n int) bool {
		times := float64(n) / of
		if alike && full > 0 {
			return mathext.RegIncBeta(full*times, (of-full)*times+1, threshold) <= tail
		}
		return full > 0 && b.reaches(threshold, times, tail)
	})
}

// PerfectClusters is the least number of clusters without a failure whose interval
// lies at or above the threshold; fewer cannot, however many observations they have.
// ok is false when the threshold or the confidence is not strictly between 0 and 1.
func PerfectClusters(threshold, confidence float64) (n int, ok bool) {
	if !level(confidence) || !level(threshold) {
		return 0, false
	}
	return least(func(n int) bool { return math.Pow((1-confidence)/2, 1/float64(n)) >= threshold })
}

// DesignEffect is how many times the variance of a share over clusters is that of as
// many independent observations: 1 for one observation each, or for clusters that do
// not matter, and about the size of a cluster where all of one are equal. ok is false
// where it cannot be known: with fewer than two clusters, or a share of 0 or 1.
//
// L. Kish, "Survey Sampling" (1965), section 8.2.
func DesignEffect(clusters []Cluster) (effect float64, ok bool) {
	m, ok := ClusterRatio(clusters)
	if !ok || !counted(clusters) || m.Clusters < 2 || m.Value <= 0 || m.Value >= 1 {
		return 0, false
	}
	n := 0.0
	for _, c := range clusters {
		n += c.Den
	}
	return m.SE * m.SE * (n - 1) / (m.Value * (1 - m.Value)), true
}

// shareBound is the lower bound of a share at one-sided level 1−tail.
func shareBound(clusters []Cluster, tail float64) float64 {
	full, alike := agreeing(clusters)
	switch {
	case full == 0:
		return 0
	case alike:
		return mathext.InvRegIncBeta(full, float64(len(clusters))-full+1, tail)
	}
	bound, _ := lowerBound(clusters, 0, 1, tail)
	return bound
}

// agreeing is the number of clusters with any success, and whether all clusters have the
// same size and within each all observations are equal.
func agreeing(clusters []Cluster) (full float64, alike bool) {
	alike = true
	for _, c := range clusters {
		if c.Num > 0 {
			full++
		}
		alike = alike && (c.Num == 0 || c.Num == c.Den) && c.Den == clusters[0].Den
	}
	return full, alike
}

// counted says that clusters are counts, or shares of them.
func counted(clusters []Cluster) bool {
	sum := 0.0
	for _, c := range clusters {
		if !(c.Den > 0 && c.Num >= 0 && c.Num <= c.Den) {
			return false
		}
		sum += c.Den
	}
	return len(clusters) > 0 && sum <= vast
}

// others are what the clusters have that are not so.
func others(clusters []Cluster) []Cluster {
	list := make([]Cluster, len(clusters))
	for i, c := range clusters {
		list[i] = Cluster{Num: c.Den - c.Num, Den: c.Den}
	}
	return list
}

// level says that a confidence, α or power lies strictly between 0 and 1, by more
// than what rounding makes of the quantiles there.
func level(share float64) bool { return share > 1e-15 && share < 1-1e-15 }

// maxSize bounds the sizes worth naming: beyond it the answer is "never".
const maxSize = 1e7

func probability(p float64) bool { return p >= 0 && p <= 1 }

// least is the smallest number of clusters that is enough, where more are as well.
func least(enough func(n int) bool) (n int, ok bool) {
	n = 1 + sort.Search(maxSize, func(i int) bool { return enough(i + 1) })
	return n, n <= maxSize
}
