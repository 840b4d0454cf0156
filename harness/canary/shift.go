package canary

import (
	"math"
	"math/rand/v2"
)

// The test for a change that only many answers together show.
const (
	// Level is the chance of a false alarm of one look: a model that did not change
	// gives at most one alarm in 200 nights on average.
	Level = 1.0 / 200
	// MinNights is the least number of nights that can show a change: fewer can be
	// split in fewer than 1/Level ways.
	MinNights = 10
	// draws is how many orders of the nights are drawn at most. As soon as so many of
	// them are as extreme as the real one that Level is out of reach, no more are.
	draws = 9999
	// window is how many nights are looked at. Of them minAfter to maxAfter, and at
	// most half, are after the change: one night says nothing about what it repeats.
	window             = 120
	minAfter, maxAfter = 2, 30
)

// The measurements, in the order in which evidence lists them.
const (
	byAnswer = iota
	byLength
	byLogProb
	measures
)

// floors keep a prompt whose answers hardly ever differ in a measurement from
// outweighing all others: see distances.
var floors = [measures]float64{0.1, 0.05, 0.02}

// split is where the nights most likely fall apart.
type split struct {
	// after is how many of the last nights are after the change.
	after int
	// p is the chance that nights of a model that did not change differ so much in
	// any measurement; by is the chance for each measurement by itself, 1 for one
	// that is unknown or never differs.
	p  float64
	by [measures]float64
}

// findSplit looks for the last k nights, for any k, that differ most from those
// before: by the energy statistic of Székely and Rizzo (2004) over all k, as Matteson
// and James (2014) look for change points, standardised by its permutation variance,
// and over all measurements. Its p is that of permuting the nights, which is exact if
// those of an unchanged model could have come in any order. So nothing is assumed
// of how often its answers differ, nor of how the answers of one night depend on each
// other. The draws stop early as in Besag and Clifford (1991); they have a fixed seed.
func findSplit(nights []Observation) split {
	nights = nights[max(0, len(nights)-window):]
	n := len(nights)
	most := min(maxAfter, n/2)
	s := split{p: 1, by: [measures]float64{1, 1, 1}}
	var all []energy
	for m := range measures {
		if e, ok := newEnergy(m, distances(nights, m), n, most); ok {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return s
	}
	order := make([]int, n) // the latest first
	for i := range order {
		order[i] = n - 1 - i
	}
	observed, best := make([]float64, len(all)), math.Inf(-1)
	for i, e := range all {
		z, k := e.largest(order[:most])
		observed[i] = z
		if z > best {
			best, s.after = z, k
		}
	}
	rng := rand.New(rand.NewPCG(uint64(n), 0xca9a21))
	drawn, extreme, of := 0, 0, make([]int, len(all))
	for drawn < draws && float64(extreme) < Level*(draws+1) {
		drawn++
		for i := range most {
			j := i + rng.IntN(n-i)
			order[i], order[j] = order[j], order[i]
		}
		top := math.Inf(-1)
		for i, e := range all {
			z, _ := e.largest(order[:most])
			top = max(top, z)
			if z >= observed[i]-rounding {
				of[i]++
			}
		}
		if top >= best-rounding {
			extreme++
		}
	}
	s.p = float64(extreme+1) / float64(drawn+1)
	for i, e := range all {
		s.by[e.measure] = float64(of[i]+1) / float64(drawn+1)
	}
	return s
}

// rounding is how close two statistics are that differ by rounding only.
const rounding = 1e-9

// energy has the distances between n nights in one measurement. Its statistic for k
// nights is twice their mean distance to the others, less the mean distance within
// each of the two groups.
type energy struct {
	measure, n int
	distance   []float64 // n × n
	sums       []float64 // of each night to all others
	total      float64   // of all pairs
	sd         []float64 // of the statistic of k nights drawn at random, at k
}

// newEnergy returns false if no night can stand out, because all distances are equal.
func newEnergy(measure int, distance []float64, n, most int) (energy, bool) {
	e := energy{measure: measure, n: n, distance: distance, sums: make([]float64, n), sd: make([]float64, most+1)}
	var squares, rows float64
	for i := range n {
		for _, d := range distance[i*n : (i+1)*n] {
			e.sums[i] += d
			squares += d * d / 2
		}
		e.total += e.sums[i] / 2
		rows += e.sums[i] * e.sums[i]
	}
	shared := rows - 2*squares                     // over ordered pairs of pairs with one night in common
	disjoint := e.total*e.total - squares - shared // and with none
	for k := minAfter; k <= most; k++ {
		same, one, none := weightMoments(k, n-k)
		variance := same*squares + one*shared + none*disjoint
		if !(variance > rounding*same*squares) {
			return e, false
		}
		e.sd[k] = math.Sqrt(variance)
	}
	return e, most >= minAfter
}

// weights are those of a pair of nights with none, one or both among the k, of which
// m are not.
func weights(k, m int) [3]float64 {
	a, b := float64(k), float64(m)
	return [3]float64{-2 / (b * (b - 1)), 2 / (a * b), -2 / (a * (a - 1))}
}

// weightMoments are the means, over all choices of k of k + m nights, of the product
// of the weights of two pairs that are the same, have one night in common, or none.
// The mean weight is 0.
func weightMoments(k, m int) (same, one, none float64) {
	w := weights(k, m)
	for sides := range 16 { // of four nights, a bit each
		p, left := 1.0, [2]int{m, k}
		for i := range 4 {
			side := sides >> i & 1
			p *= float64(left[side]) / float64(left[0]+left[1])
			left[side] = max(0, left[side]-1)
		}
		a, b, c, d := sides&1, sides>>1&1, sides>>2&1, sides>>3&1
		same += p * w[a+b] * w[a+b]
		one += p * w[a+b] * w[a+c]
		none += p * w[a+b] * w[c+d]
	}
	return same, one, none
}

// largest returns the largest standardised statistic of the first k nights of an
// order, over all k, and that k.
func (e *energy) largest(order []int) (z float64, k int) {
	z = math.Inf(-1)
	sum, within := 0.0, 0.0
	for i, at := range order {
		sum += e.sums[at]
		for _, earlier := range order[:i] {
			within += e.distance[at*e.n+earlier]
		}
		if i+1 < minAfter {
			continue
		}
		w, cross := weights(i+1, e.n-i-1), sum-2*within
		if v := (w[1]*cross + w[2]*within + w[0]*(e.total-cross-within)) / e.sd[i+1]; v > z+rounding {
			z, k = v, i+1
		}
	}
	return z, k
}

// distances are those between the nights in one measurement, summed over the prompts
// for which all nights have it. Those of a prompt are divided by their mean and its
// floor, so that one that is always answered in the same words weighs more than one
// that hardly ever is.
func distances(nights []Observation, measure int) []float64 {
	n := len(nights)
	sum, one := make([]float64, n*n), make([]float64, n*n)
	values := make([]measured, n)
	for q := range nights[0].Answers {
		known, total := true, 0.0
		for i, o := range nights {
			v, ok := o.Answers[q].measure(measure)
			values[i], known = v, known && ok
		}
		if !known {
			continue
		}
		for i := range n {
			for j := range i {
				d := values[i].distance(values[j])
				one[i*n+j], one[j*n+i] = d, d
				total += 2 * d
			}
		}
		scale := 1 / (total/float64(n*(n-1)) + floors[measure])
		for i := range sum {
			sum[i] += one[i] * scale
		}
	}
	return sum
}

// measured is an answer in one measurement: a number, or else the digest of its text.
type measured struct {
	number float64
	digest string
}

// measure returns false if the measurement of the answer is not known.
func (a Answer) measure(by int) (m measured, known bool) {
	switch {
	case by == byLength && a.Tokens != nil:
		return measured{number: math.Log1p(float64(*a.Tokens))}, true
	case by == byLogProb && a.LogProb != nil:
		return measured{number: *a.LogProb}, true
	}
	return measured{digest: a.Digest}, by != byLength && by != byLogProb
}

// distance is how far two answers are apart in one measurement.
func (m measured) distance(o measured) float64 {
	if m.digest != o.digest {
		return 1
	}
	return math.Abs(m.number - o.number)
}
