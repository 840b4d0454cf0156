package stat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// wholeWork bounds the steps of the exact distribution of whole sums.
	wholeWork = 1 << 22
	// flipClusters is the most clusters whose signs are all enumerated.
	flipClusters = 20
	// flipDraws is the number of random sign flips beyond; with the observed
	// one the p-values are multiples of 1/10,000, down to the first.
	flipDraws = 9999
	// flipLeast is the least P: below it a float has no precision left to be halved.
	flipLeast = 1e-300
)

// Permutation is the outcome of a permutation test.
type Permutation struct {
	// P is the two-sided p-value, never 0.
	P float64
	// Clusters counts the clusters whose differences do not add up to 0; the
	// others say nothing. No P is below 2^(1−Clusters).
	Clusters int
	// Exact is false when P is drawn at random: an estimate from 9,999 sign
	// flips, with the observed one counted among them. Where none of them reaches
	// the observed mean, P is a bound of the exact p-value that lies above it.
	Exact bool
}

// PairedPermutation asks whether paired differences have mean 0, by flipping the
// signs of whole clusters (tasks): if a change does nothing, the two runs of a
// task could as well have been swapped. Trials of a task may resemble each other
// as they like; tasks must be independent.
//
// It is exact when the sums by cluster are whole numbers of moderate size (passes,
// steps) or there are at most 20 clusters, and random otherwise, from a seed
// that is a hash of those sums: the same differences give the same P. Below 1/10,000
// it is Chernoff's bound of the exact p-value, so that a large effect can be
// significant among any number of tests. Sums that
// differ by rounding count as equal. ok is false when obs is empty or its values
// are not finite or add up to more than 1e150.
//
// R. A. Fisher, "The Design of Experiments" (1935), section 21; B. Phipson and
// G. K. Smyth, "Permutation P-values Should Never Be Zero", Statistical
// Applications in Genetics and Molecular Biology 9 (2010) 39; H. Chernoff, "A
// Measure of Asymptotic Efficiency for Tests of a Hypothesis Based on the Sum of
// Observations", Annals of Mathematical Statistics 23 (1952) 493–507; flips of whole
// clusters: A. M. Winkler et al., "Multi-level block permutation", NeuroImage
// 123 (2015) 253–268.
func PairedPermutation(obs []Observation) (p Permutation, ok bool) {
	sums, ok := clusterSums(obs)
	if !ok {
		return Permutation{}, false
	}
	sizes, total, all := make([]float64, 0, len(sums)), 0.0, 0.0
	for _, c := range sums {
		if c.sum != 0 {
			sizes = append(sizes, math.Abs(c.sum))
			total += c.sum
			all += math.Abs(c.sum)
		}
	}
	p.Clusters = len(sizes)
	if whole, ok := wholeSizes(sizes, all); ok {
		p.P, p.Exact = max(flipLeast, flipWhole(whole, int((all+total)/2))), true
		return p, true
	}
	slices.SortFunc(sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	reach := math.Abs(total) - 1e-12*all
	if p.Exact = p.Clusters <= flipClusters; p.Exact {
		left := make([]float64, len(sizes)+1)
		for i, s := range slices.Backward(sizes) {
			left[i] = left[i+1] + s
		}
		p.P = math.Ldexp(float64(flipCount(sizes, left, 0, 0, reach)), -p.Clusters)
	} else {
		p.P = flipRandom(sizes, reach)
	}
	return p, true
}

// wholeSizes turns sizes into integers when all are whole and few enough for the
// exact distribution.
func wholeSizes(sizes []float64, all float64) (whole []int, ok bool) {
	if all*float64(len(sizes)) > wholeWork {
		return nil, false
	}
	whole = make([]int, len(sizes))
	for i, s := range sizes {
		if s != math.Trunc(s) {
			return nil, false
		}
		whole[i] = int(s)
	}
	return whole, true
}

func flipRandom(sizes []float64, reach float64) float64 {
	rng, far := seeded(sizes), 1
	for range flipDraws {
		sum, bits := 0.0, uint64(0)
		for i, s := range sizes {
			if i%64 == 0 {
				bits = rng.Uint64()
			}
			sum += math.Float64frombits(math.Float64bits(s) ^ bits<<63) // ±s without a branch
			bits >>= 1
		}
		if math.Abs(sum) >= reach {
			far++
		}
	}
	p := float64(far) / (flipDraws + 1)
	if far == 1 {
		p = min(p, max(flipLeast, flipBound(sizes, reach)))
	}
	return p
}

// flipBound is the least 2·exp(Σ log cosh(t·size) − t·reach) over t: never below the
// probability that |Σ ±size| is reach or more, whatever t is. The best t is where
// Σ size·tanh(t·size) is reach.
func flipBound(sizes []float64, reach float64) float64 {
	low, high := 0.0, 100/slices.Min(sizes) // there tanh is 1 throughout
	for range 60 {
		t, sum := low+(high-low)/2, 0.0
		for _, s := range sizes {
			sum += s * math.Tanh(t*s)
		}
		if sum < reach {
			low = t
		} else {
			high = t
		}
	}
	exponent := -low * reach
	for _, s := range sizes {
		exponent += low*s + math.Log1p(math.Exp(-2*low*s)) - math.Ln2 // log cosh
	}
	return 2 * math.Exp(exponent)
}

// seeded is a source of randomness that depends on values only (FNV-1a over
// their bits, by words).
func seeded(values []float64) *rand.Rand {
	h := uint64(14695981039346656037)
	for _, v := range values {
		h = (h ^ math.Float64bits(v)) * 1099511628211
	}
	return rand.New(rand.NewPCG(h, uint64(len(values))))
}
