package stat

import (
	"math"
	"slices"
)

// Blocks is the outcome of BlockPermutation.
type Blocks struct {
	// Low and High are the one-sided p-values for the first values being smaller, and
	// larger, than the others would let expect; never 0. Twice the smaller of both, at
	// most 1, is two-sided.
	Low, High float64
	// Exact is false where they are drawn at random, as of Permutation.
	Exact bool
}

// BlockPermutation compares a new run with several runs of one configuration, task by
// task: each list has the value of a task in the new run first and then one for each
// other run. If the new run is like the others, any of the values could as well have
// been the new one. So the sum of first values is compared with the sums of one value
// of each task drawn at random. Trials that make up one value may resemble each other
// as they like; tasks must be independent. With two values in each list, High and Low
// are the one-sided p-values of PairedPermutation of their differences.
//
// It is exact where values of a task differ by whole numbers of moderate size, and
// 9,999 draws with a fixed seed otherwise; where none of these is as extreme, the
// p-value is Chernoff's bound of the exact one, which lies above it. ok is false
// without tasks, for a list of fewer than two values, and for values that are not
// finite or too large.
//
// Stratified permutation of blocks: P. Good, "Permutation, Parametric and Bootstrap
// Tests of Hypotheses", 3rd ed. (2005), sections 3.6 and 7.5; A. M. Winkler et al.
// (2015) and Chernoff (1952) as in PairedPermutation.
func BlockPermutation(tasks [][]float64) (p Blocks, ok bool) {
	list, observed, reach := make([][]float64, 0, len(tasks)), 0.0, 0.0
	for _, values := range tasks {
		if len(values) < 2 {
			return Blocks{}, false
		}
		lowest, highest := slices.Min(values), slices.Max(values)
		if !(highest-lowest <= vast) { // or not a number
			return Blocks{}, false
		}
		shifted, noise := make([]float64, len(values)), 1e-12*max(math.Abs(lowest), math.Abs(highest))
		for i, v := range values {
			if shifted[i] = v - lowest; math.Abs(shifted[i]-math.Round(shifted[i])) <= noise {
				shifted[i] = math.Round(shifted[i])
			}
		}
		if highest = slices.Max(shifted); highest > noise {
			list = append(list, shifted)
			observed, reach = observed+shifted[0], reach+highest
		}
	}
	switch {
	case len(tasks) == 0 || reach > vast:
		return Blocks{}, false
	case len(list) == 0:
		return Blocks{Low: 1, High: 1, Exact: true}, true
	}
	if p, ok := blocksWhole(list, observed, reach); ok {
		return p, true
	}
	return blocksRandom(list, observed, 1e-12*reach), true
}

// blocksWhole is the exact distribution of the sum of whole numbers.
func blocksWhole(list [][]float64, observed, reach float64) (p Blocks, ok bool) {
	work := 0
	for _, values := range list {
		work += len(values)
		for _, v := range values {
			if v != math.Trunc(v) {
				return Blocks{}, false
			}
		}
	}
	if reach*float64(work) > wholeWork {
		return Blocks{}, false
	}
	share, next, top := make([]float64, int(reach)+1), make([]float64, int(reach)+1), 0
	share[0] = 1
	for _, values := range list {
		clear(next)
		for _, v := range values {
			for s, chance := range share[:top+1] {
				next[s+int(v)] += chance / float64(len(values))
			}
		}
		top += int(slices.Max(values))
		share, next = next, share
	}
	for s, chance := range share {
		if float64(s) <= observed {
			p.Low += chance
		}
		if float64(s) >= observed {
			p.High += chance
		}
	}
	p.Low, p.High, p.Exact = within(p.Low), within(p.High), true
	return p, true
}

// within keeps a p-value in what it can be.
func within(p float64) float64 { return min(1, max(flipLeast, p)) }

// blocksRandom draws sums. Values apart by noise are equal.
func blocksRandom(list [][]float64, observed, noise float64) Blocks {
	rng, low, high := seeded(slices.Concat(list...)), 1, 1
	for range flipDraws {
		sum := 0.0
		for _, values := range list {
			sum += values[rng.IntN(len(values))]
		}
		if sum <= observed+noise {
			low++
		}
		if sum >= observed-noise {
			high++
		}
	}
	p := Blocks{Low: float64(low) / (flipDraws + 1), High: float64(high) / (flipDraws + 1)}
	if low == 1 {
		p.Low = within(min(p.Low, blocksBound(list, observed, -1)))
	}
	if high == 1 {
		p.High = within(min(p.High, blocksBound(list, observed, 1)))
	}
	return p
}

// blocksBound is the least exp(Σ log mean exp(t·value) − t·observed) over t of the
// given sign: never below the probability of a sum as far out as observed.
func blocksBound(list [][]float64, observed, sign float64) float64 {
	spread := math.Inf(1)
	for _, values := range list {
		spread = min(spread, slices.Max(values))
	}
	// at is the exponent at t, and its slope in t.
	at := func(t float64) (exponent, slope float64) {
		exponent, slope = -t*observed, -observed
		for _, values := range list {
			most := slices.Max(values) * max(0, math.Copysign(1, t)) // keeps exp from overflowing
			sum, weighted := 0.0, 0.0
			for _, v := range values {
				e := math.Exp(t * (v - most))
				sum, weighted = sum+e, weighted+e*v
			}
			exponent += t*most + math.Log(sum/float64(len(values)))
			slope += weighted / sum
		}
		return exponent, slope
	}
	low, high := 0.0, 100/spread
	for range 60 {
		mid := low + (high-low)/2
		if _, slope := at(sign * mid); sign*slope < 0 {
			low = mid
		} else {
			high = mid
		}
	}
	exponent, _ := at(sign * low)
	return math.Exp(exponent)
}
