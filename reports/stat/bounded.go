package stat

import (
	"cmp"
	"math"
	"slices"
)

// LowerBound is the lower confidence bound, at one-sided level 1−α, of the ratio
// of the sums of Num and of Den over clusters none of which can lie below least
// (Num/Den ≥ least, Den > 0). Unlike the t interval it allows for what was not
// seen: a few clusters at least, among many that did not change, are rare enough
// to be missed altogether, and the spread seen then says nothing of them.
//
// times is 1 for what is known; k asks what k times as many clusters like these
// would give. ok is false with fewer than two clusters, a ratio below least, values
// that are not finite, times not positive or α not strictly between 0 and 0.5.
//
// It is the α-quantile of the ratio when each cluster, and one more of mean size
// at least, is weighted by a standard exponential: N. Gaffke, "Three Test
// Statistics for a Nonparametric One-Sided Hypothesis on the Mean of a Nonnegative
// Variable", Mathematical Methods of Statistics 14 (2005) 451–467; shown beside
// other bounds in E. Learned-Miller and P. S. Thomas, arXiv:1905.06208 (2019). For
// pass and fail it is Clopper's and Pearson's, and where all clusters are alike
// the bound of Hanley and Lippman-Hand as in ShareInterval. That it keeps its level
// for all bounded values is conjectured, and held here in simulation. The quantile
// is by saddlepoint, within 1 % of its distance from the ratio.
func LowerBound(clusters []Cluster, least, times, alpha float64) (bound float64, ok bool) {
	if len(clusters) < 2 || math.IsInf(least, 0) || !(times > 0) || !(alpha > 0 && alpha < 0.5) {
		return 0, false
	}
	for _, c := range clusters {
		if !(c.Den > 0) || !(c.Num >= least*c.Den-1e-9*math.Abs(least*c.Den)) {
			return 0, false
		}
	}
	return lowerBound(clusters, least, times, alpha)
}

// lowerBound is LowerBound, of a single cluster, too.
func lowerBound(clusters []Cluster, least, times, alpha float64) (bound float64, ok bool) {
	b, ok := newBounding(clusters, least)
	if !ok {
		return 0, false
	}
	return b.bound(times, alpha), true
}

// bounding is what Gaffke's bound is computed from. It is not safe for concurrent use.
type bounding struct {
	list                  []group
	ratio, size, g, least float64 // size is the mean Den of the g clusters
	shifted               []weighted
}

// newBounding sorts the clusters. ok is false where a Den is negative, all are 0, or a
// sum is not finite.
func newBounding(clusters []Cluster, least float64) (b bounding, ok bool) {
	list, sum, ok := alike(clusters)
	if !ok {
		return bounding{}, false
	}
	g := float64(len(clusters))
	return bounding{list: list, ratio: sum.Num / sum.Den, size: sum.Den / g, g: g, least: least, shifted: make([]weighted, len(list)+1)}, true
}

// bound is the lower bound of times as many clusters.
func (b *bounding) bound(times, alpha float64) float64 {
	if len(b.list) == 1 {
		return b.ratio + math.Expm1(math.Log(alpha)/(b.g*times))*(b.ratio-b.least)
	}
	low, high := b.least, b.ratio
	for range 45 {
		mid := low + (high-low)/2
		if b.chance(mid, times) <= alpha {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// chance is that of the weighted ratio to be at most value, of times as many clusters.
func (b *bounding) chance(value, times float64) float64 {
	for i, c := range b.list {
		b.shifted[i] = weighted{value: c.Num - value*c.Den, n: c.n * times}
	}
	b.shifted[len(b.list)] = weighted{value: (b.least - value) * b.size, n: 1}
	return belowZero(b.shifted)
}

// reaches says that the bound is at least value, without finding it.
func (b *bounding) reaches(value, times, alpha float64) bool {
	if len(b.list) == 1 {
		return b.bound(times, alpha) >= value
	}
	return value <= b.least || value < b.ratio && b.chance(value, times) <= alpha
}

// group are n clusters that are alike.
type group struct {
	Cluster
	n float64
}

// alike sorts clusters, so that their order does not matter, and counts equal ones.
func alike(clusters []Cluster) (list []group, sum Cluster, ok bool) {
	sorted := slices.Clone(clusters)
	slices.SortFunc(sorted, func(a, b Cluster) int { return cmp.Or(cmp.Compare(a.Num, b.Num), cmp.Compare(a.Den, b.Den)) })
	for _, c := range sorted {
		if !(c.Den >= 0) {
			return nil, Cluster{}, false
		}
		sum.Num, sum.Den = sum.Num+c.Num, sum.Den+c.Den
		if last := len(list) - 1; last >= 0 && list[last].Cluster == c {
			list[last].n++
			continue
		}
		list = append(list, group{Cluster: c, n: 1})
	}
	return list, sum, sum.Den > 0 && math.Abs(sum.Num) <= vast && sum.Den <= vast
}

// weighted is a value that n standard exponentials, or their fractions, multiply.
type weighted struct{ value, n float64 }

// belowZero is the probability that Σ value·Gamma(n) is at most 0, by the formula
// of R. Lugannani and S. Rice, "Saddle Point Approximation for the Distribution of
// the Sum of Independent Random Variables", Advances in Applied Probability 12
// (1980) 475–490. The sum's cumulants are K(s) = −Σ n·log(1 − s·value).
func belowZero(list []weighted) float64 {
	least, most := 0.0, 0.0
	for _, w := range list {
		least, most = min(least, w.value), max(most, w.value)
	}
	if least >= 0 {
		return 0
	}
	if most <= 0 {
		return 1
	}
	low, high := 1/least, 1/most // where K is finite; K′ rises from −∞ to ∞
	s := 0.0
	for range 100 {
		slope, bend := 0.0, 0.0
		for _, w := range list {
			q := w.value / (1 - s*w.value)
			slope += w.n * q
			bend += w.n * q * q
		}
		if slope > 0 {
			high = s
		} else {
			low = s
		}
		next := s - slope/bend
		if !(next > low && next < high) {
			next = low + (high-low)/2
		}
		if math.Abs(next-s) <= 1e-12*(high-low)+1e-15*math.Abs(s) {
			s = next
			break
		}
		s = next
	}
	k, bend := 0.0, 0.0
	for _, w := range list {
		q := w.value / (1 - s*w.value)
		k -= w.n * math.Log1p(-s*w.value)
		bend += w.n * q * q
	}
	w := math.Copysign(math.Sqrt(max(0, -2*k)), s)
	u := s * math.Sqrt(bend)
	if math.Abs(w) < 1e-4 {
		return 0.5 // the middle: no bound is sought there
	}
	return normalShare(w) + math.Exp(-w*w/2)/math.Sqrt(2*math.Pi)*(1/w-1/u)
}
