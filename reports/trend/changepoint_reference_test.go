package trend

import (
	"math/rand/v2"
	"slices"

	"github.com/cupel-eval/cupel/reports/stat/level"
)

// changePoints is how cupel searched for changes before level.Shifts, as a reference in
// simulations. It cuts a stretch where both sides differ most, tests the cut against
// random orders of all nights, and then searches both sides. It tried all orders of up
// to 8 nights; here they are drawn.
func changePoints(rng *rand.Rand, series []level.Reading, weights []float64, alpha float64) []int {
	total, weight := 0.0, 0.0
	for i, r := range series {
		total, weight = total+r.Value*weights[i], weight+weights[i]
	}
	c := changeSearch{rng: rng, least: 2, alpha: alpha, all: len(series)}
	for i, r := range series {
		c.series = append(c.series, moment{weights[i], weights[i] * (r.Value - total/weight)})
	}
	c.search(0, len(series))
	slices.Sort(c.found)
	return c.found
}

// moment has the weight of a night, and the weight times the distance from the mean of
// the series.
type moment struct{ weight, sum float64 }

type changeSearch struct {
	rng    *rand.Rand
	series []moment
	least  int
	alpha  float64
	all    int
	found  []int
}

// search cuts the stretch from…to and then both sides of the cut.
func (c *changeSearch) search(from, to int) {
	stretch := c.series[from:to]
	if len(stretch) < 8 { // fewer nights cannot be significant at 0.05
		return
	}
	at, most := widest(stretch, c.least)
	if most == 0 || !c.rare(stretch, most*(1-1e-9), c.alpha*float64(len(stretch))/float64(c.all)) {
		return
	}
	c.found = append(c.found, from+at)
	c.search(from, from+at)
	c.search(from+at, to)
}

// rare reports whether at most alpha of all orders of a stretch reach the sum.
func (c *changeSearch) rare(stretch []moment, reach, alpha float64) bool {
	stretch = slices.Clone(stretch)
	far, draws := 1, min(9999, int(100/alpha))
	for range draws {
		if float64(far) > alpha*float64(draws+1) {
			return false
		}
		c.rng.Shuffle(len(stretch), func(i, j int) { stretch[i], stretch[j] = stretch[j], stretch[i] })
		if reaches(stretch, c.least, reach) {
			far++
		}
	}
	return float64(far) <= alpha*float64(draws+1)
}

// widest returns the cut whose sides differ most, the first of several, and the sum of
// squares between them.
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

// between returns the sum of squares between two groups: the product of their weights
// over the sum of them, times the square of the difference of their means.
func between(a, b moment) float64 {
	d := a.sum*b.weight - b.sum*a.weight
	return d * d / (a.weight * b.weight * (a.weight + b.weight))
}

// reaches reports whether some cut of a stretch differs by at least reach.
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
