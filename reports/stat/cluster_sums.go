package stat

import (
	"cmp"
	"math"
	"slices"
)

// cluster is what a mean needs to know of one cluster.
type cluster struct {
	sum float64
	n   int
}

// vast is the sum of absolute values beyond which squares could overflow.
const vast = 1e150

// clusterSums adds up obs by cluster, in the order of the clusters' names and,
// within one, of the values: the same bits whatever the order of obs. ok is false
// when obs is empty or its values are not finite or vast.
func clusterSums(obs []Observation) (sums []cluster, ok bool) {
	sorted := slices.Clone(obs)
	slices.SortFunc(sorted, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Value, b.Value))
	})
	size := 0.0
	for i, o := range sorted {
		if i == 0 || o.Cluster != sorted[i-1].Cluster {
			sums = append(sums, cluster{})
		}
		last := &sums[len(sums)-1]
		last.sum += o.Value
		last.n++
		size += math.Abs(o.Value)
	}
	return sums, len(obs) > 0 && size <= vast
}
