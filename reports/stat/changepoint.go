package stat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Sample is one point of a series: a share or mean, and how many observations it
// is of.
type Sample struct {
	Value float64
	// Weight is positive; 1 for a plain value.
	Weight float64
}

// ChangePoint is where a series changed its level.
type ChangePoint struct {
	// At is the index of the first point of the new level.
	At int
	// Before and After are the weighted means up to the neighbouring changes.
	Before, After float64
	// P is corrected for the search within the series; at most alpha.
	P float64
}

// changeExact is the longest stretch whose orders are all tried: 8! of them.
const changeExact = 8

// changeDraws is the largest number of random orders beyond.
const changeDraws = 9999

// ChangePoints finds where the level of a series changed, in its order. Points
// are taken as exchangeable as long as nothing changes: a point moves with its
// weight, so they may spread more than their weights let expect, but must not hang
// together from one to the next. A level lasts at least least points, 1 or more;
// no stretch shorter than twice that is cut.
//
// A stretch is cut at the t for which, for some u, the points up to t and those
// from t on up to u differ most: in the sum of squares between both. So a dip is
// found although the level before it returns. The cut is kept if its p-value, the
// share of orders of the stretch's points in which some cut differs as much, is at
// most alpha; then both sides are searched. A side of m among n points has m/n of
// alpha, and its P is no smaller than that of the cut it came of: over all stretches
// without a change in them a cut is found with a probability of about alpha.
//
// The orders are all tried for up to 8 points and otherwise drawn, 100/alpha of them
// and at most 9,999, from a seed that is a hash of the stretch: the same series gives
// the same changes. Fewer than 8 points cannot show a change at an alpha of 0.05.
// Where weights themselves change once and for good, to four times, an alpha of 0.05
// is up to 0.08: then points are not quite exchangeable. ok is false when a value is
// not finite, a weight not positive, or both together too large to be squared.
//
// A. J. Scott and M. Knott, "A Cluster Analysis Method for Grouping Means in the
// Analysis of Variance", Biometrics 30 (1974) 507–512, and A. Sen and M. S.
// Srivastava, "On Tests for Detecting Change in Mean", Annals of Statistics 3
// (1975) 98–108, for the cut; D. S. Matteson and N. A. James, "A Nonparametric
// Approach for Multiple Change Point Analysis of Multivariate Data", JASA 109
// (2014) 334–345, for u, the orders and the search, as used by D. Daly et al., "The
// Use of Change Point Detection to Identify Software Performance Regressions in a
// Continuous Integration System", ICPE 2020, 67–75; N. Meinshausen, "Hierarchical
// testing of variable importance", Biometrika 95 (2008) 265–278, for m/n.
func ChangePoints(series []Sample, alpha float64, least int) (changes []ChangePoint, ok bool) {
	total, weight := 0.0, 0.0
	for _, s := range series {
		total, weight = total+s.Value*s.Weight, weight+s.Weight
		if !(s.Weight > 0) {
			return nil, false
		}
	}
	if len(series) == 0 {
		return nil, true
	}
	c := changeSearch{least: max(1, least), alpha: alpha, all: len(series)}
	mean, spread := total/weight, 0.0
	for _, s := range series {
		c.series = append(c.series, moment{s.Weight, s.Weight * (s.Value - mean)})
		spread = max(spread, math.Abs(s.Value-mean))
	}
	if limit := spread * weight; !(limit*limit*weight < 1e300) {
		return nil, false
	}
	c.search(0, len(series), 0)
	slices.SortFunc(c.found, func(a, b ChangePoint) int { return cmp.Compare(a.At, b.At) })
	for i := range c.found {
		from, to := 0, len(series)
		if i > 0 {
			from = c.found[i-1].At
		}
		if i+1 < len(c.found) {
			to = c.found[i+1].At
		}
		at := c.found[i].At
		c.found[i].Before, c.found[i].After = average(series[from:at]), average(series[at:to])
	}
	return c.found, true
}

// average is the weighted mean of a stretch.
func average(stretch []Sample) float64 {
	sum, weight := 0.0, 0.0
	for _, s := range stretch {
		sum, weight = sum+s.Value*s.Weight, weight+s.Weight
	}
	return sum / weight
}

// moment is a point as the search adds it up: its weight, and its distance from
// the mean of the series times that.
type moment struct{ weight, sum float64 }

type changeSearch struct {
	series []moment
	least  int
	alpha  float64
	all    int
	found  []ChangePoint
}

// search cuts the stretch from…to and then both sides of the cut.
func (c *changeSearch) search(from, to int, p float64) {
	stretch := c.series[from:to]
	if len(stretch) < 2*c.least {
		return
	}
	at, most := widest(stretch, c.least)
	if most == 0 {
		return
	}
	share := float64(c.all) / float64(len(stretch))
	own, ok := c.orders(stretch, most*(1-1e-9), c.alpha/share)
	if !ok {
		return
	}
	p = max(p, own*share)
	c.found = append(c.found, ChangePoint{At: from + at, P: p})
	c.search(from, from+at, p)
	c.search(from+at, to, p)
}

// widest finds the cut whose sides differ most, the first of several, and the sum
// of squares between them.
func widest(stretch []moment, least int) (at int, most float64) {
	var left moment
	for t, m := range stretch {
		if t >= least {
			right := moment{}
			for u := t; u < len(stretch); u++ {
				right.weight, right.sum = right.weight+stretch[u].weight, right.sum+stretch[u].sum
				if u+1-t < least {
					continue
				}
				if b := between(left, right); b > most {
					at, most = t, b
				}
			}
		}
		left.weight, left.sum = left.weight+m.weight, left.sum+m.sum
	}
	return at, most
}

// between is the sum of squares between two groups: the product of their weights
// over the sum of them, times the square of the difference of their means.
func between(a, b moment) float64 {
	d := a.sum*b.weight - b.sum*a.weight
	return d * d / (a.weight * b.weight * (a.weight + b.weight))
}

// reaches says that some cut of a stretch differs as much as reach.
func reaches(stretch []moment, least int, reach float64) bool {
	var left moment
	for t, m := range stretch {
		if t >= least {
			right, first := moment{}, t+least-1
			for u := t; u < len(stretch); u++ {
				right.weight, right.sum = right.weight+stretch[u].weight, right.sum+stretch[u].sum
				d := left.sum*right.weight - right.sum*left.weight
				if d*d >= reach*(left.weight*right.weight*(left.weight+right.weight)) && u >= first {
					return true
				}
			}
		}
		left.weight, left.sum = left.weight+m.weight, left.sum+m.sum
	}
	return false
}

// orders is the share of orders of a stretch that reach. ok is false when it is
// above alpha: it then stops early.
func (c *changeSearch) orders(stretch []moment, reach, alpha float64) (p float64, ok bool) {
	stretch = slices.Clone(stretch)
	if len(stretch) <= changeExact {
		far, all := 0, 0
		everyOrder(stretch, len(stretch), func() {
			all++
			if reaches(stretch, c.least, reach) {
				far++
			}
		})
		p = float64(far) / float64(all)
		return p, p <= alpha
	}
	rng, far := seededMoments(stretch), 1
	draws := changeDraws
	if few := 100 / alpha; few < changeDraws { // at alpha, a tenth of it is the standard error
		draws = int(few)
	}
	for range draws {
		if float64(far) > alpha*float64(draws+1) {
			return 1, false
		}
		rng.Shuffle(len(stretch), func(i, j int) { stretch[i], stretch[j] = stretch[j], stretch[i] })
		if reaches(stretch, c.least, reach) {
			far++
		}
	}
	p = float64(far) / float64(draws+1)
	return p, p <= alpha
}

// everyOrder calls visit with every order of the first n of list (B. R. Heap,
// "Permutations by Interchanges", The Computer Journal 6 (1963) 293–298).
func everyOrder(list []moment, n int, visit func()) {
	if n <= 1 {
		visit()
		return
	}
	for i := range n {
		everyOrder(list, n-1, visit)
		j := 0
		if n%2 == 0 {
			j = i
		}
		if i < n-1 {
			list[j], list[n-1] = list[n-1], list[j]
		}
	}
}

func seededMoments(stretch []moment) *rand.Rand {
	values := make([]float64, 0, 2*len(stretch))
	for _, m := range stretch {
		values = append(values, m.weight, m.sum)
	}
	return seeded(values)
}
