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
	// one the p-values are multiples of 1/10,000.
	flipDraws = 9999
)

// Permutation is the outcome of a permutation test.
type Permutation struct {
	// P is the two-sided p-value, never 0.
	P float64
	// Clusters counts the clusters whose differences do not add up to 0; the
	// others say nothing. No P is below 2^(1−Clusters).
	Clusters int
	// Exact is false when P is drawn at random: an estimate from 9,999 sign
	// flips, with the observed one counted among them.
	Exact bool
}

// PairedPermutation asks whether paired differences have mean 0, by flipping the
// signs of whole clusters (tasks): if a change does nothing, the two runs of a
// task could as well have been swapped. Trials of a task may resemble each other
// as they like; tasks must be independent.
//
// It is exact when the sums by cluster are whole numbers of moderate size (passes,
// steps) or there are at most 20 clusters, and random otherwise, from a seed
// that is a hash of those sums: the same differences give the same P. Sums that
// differ by rounding count as equal. ok is false when obs is empty or its values
// are not finite or add up to more than 1e150.
//
// R. A. Fisher, "The Design of Experiments" (1935), section 21; B. Phipson and
// G. K. Smyth, "Permutation P-values Should Never Be Zero", Statistical
// Applications in Genetics and Molecular Biology 9 (2010) 39; flips of whole
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
		p.P, p.Exact = flipWhole(whole, int((all+total)/2)), true
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
	return float64(far) / (flipDraws + 1)
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
