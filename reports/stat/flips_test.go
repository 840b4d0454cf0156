package stat_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/reports/stat"
)

// everySign returns the share of all sign patterns of values whose |sum| is at least
// that of the values themselves. It counts the patterns one by one.
func everySign(values []float64) float64 {
	far, seen := 0, 0.0
	for _, v := range values {
		seen += v
	}
	for signs := range 1 << len(values) {
		sum := 0.0
		for i, v := range values {
			if signs>>i&1 == 1 {
				v = -v
			}
			sum += v
		}
		if math.Abs(sum) >= math.Abs(seen)-1e-9 {
			far++
		}
	}
	return float64(far) / float64(int(1)<<len(values))
}

// The data are Darwin's fifteen pairs of plants, in eighths of an inch. Fisher (1935),
// section 21, found that 863 of the 2^15 sums are at least as far to one side.
func TestPairedPermutationDarwin(t *testing.T) {
	var list []stat.Observation
	for i, d := range []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48} {
		list = append(list, stat.Observation{Cluster: strconv.Itoa(i), Value: d})
	}
	p, ok := stat.PairedPermutation(list)
	require.True(t, ok)
	require.Equal(t, stat.Permutation{P: 2 * 863.0 / 32768, Clusters: 15, Exact: true}, p)
	for i := range list {
		list[i].Value /= 8 // inches are not whole numbers; enumeration gives the same count
	}
	q, _ := stat.PairedPermutation(list)
	require.Equal(t, p, q)
}

func TestPairedPermutationAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]float64{1, 0.25, 0.1}).Draw(t, "step")
		raw := rapid.SliceOfN(rapid.IntRange(-9, 9), 1, 24).Draw(t, "differences")
		sums := make([]float64, 10)
		var list []stat.Observation
		for i, d := range raw {
			list = append(list, stat.Observation{Cluster: strconv.Itoa(i % 10), Value: float64(d) * step})
			sums[i%10] += float64(d) * step
		}
		p, ok := stat.PairedPermutation(list)
		require.True(t, ok)
		require.True(t, p.Exact)
		require.InDelta(t, everySign(sums), p.P, 1e-9)
		slices.Reverse(list)
		q, _ := stat.PairedPermutation(list)
		require.Equal(t, p, q, "the order of observations is nothing")
		for i := range list {
			list[i].Value = -list[i].Value
		}
		q, _ = stat.PairedPermutation(list)
		require.InDelta(t, p.P, q.P, 1e-12, "nor is which run is called the first")
	})
}

// The random version gets values that are not whole numbers, the exact version the same
// values as whole numbers. They differ by at most four standard errors of 9,999 draws.
func TestPairedPermutationRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, shift := range []int{0, 1, 2, 3} {
		var whole, parts []stat.Observation
		for i := range 70 {
			v := rng.IntN(21) - 10 + shift
			whole = append(whole, stat.Observation{Cluster: strconv.Itoa(i), Value: float64(v)})
			parts = append(parts, stat.Observation{Cluster: strconv.Itoa(i), Value: float64(v) / 8})
		}
		exact, _ := stat.PairedPermutation(whole)
		drawn, ok := stat.PairedPermutation(parts)
		require.True(t, ok)
		require.True(t, exact.Exact)
		require.False(t, drawn.Exact)
		require.GreaterOrEqual(t, drawn.P, 1e-4)
		require.InDelta(t, exact.P, drawn.P, 4*math.Sqrt(exact.P*(1-exact.P)/9999)+1e-4, "shift %d", shift)
		again, _ := stat.PairedPermutation(parts)
		require.Equal(t, drawn, again)
	}
}

// If all differences are equal, the bound of P is the exact p-value. The seed does not
// depend on the order of the values, although a sum of 0.1, 0.2 and 0.3 does.
func TestPairedPermutationRandomEdges(t *testing.T) {
	var list []stat.Observation
	for i := range 40 {
		for _, v := range []float64{0.1, 0.2, 0.3} {
			list = append(list, stat.Observation{Cluster: strconv.Itoa(i), Value: v})
		}
	}
	p, _ := stat.PairedPermutation(list)
	require.InEpsilon(t, math.Ldexp(1, -39), p.P, 1e-3, "the bound of two of 2^40 patterns is exact")
	p.P = 0
	require.Equal(t, stat.Permutation{Clusters: 40}, p)
	for i := range list {
		list[i].Value *= float64(i/3%7 - 3)
	}
	p, _ = stat.PairedPermutation(list)
	slices.Reverse(list)
	q, _ := stat.PairedPermutation(list)
	require.Equal(t, p, q)
}

// Below 1/10,000 a drawn P is a bound. It is above the exact p-value of the same values
// as whole numbers, and close enough to it to be significant among 10,000 tests.
func TestPairedPermutationBound(t *testing.T) {
	rng, bounds := rand.New(rand.NewPCG(6, 6)), 0
	for range 60 {
		var whole, parts []stat.Observation
		n, shift, heavy := 30+rng.IntN(60), 2+rng.IntN(8), rng.IntN(4)
		for i := range n {
			v := rng.IntN(21) - 10 + shift
			if i < heavy {
				v *= 10
			}
			whole = append(whole, stat.Observation{Cluster: strconv.Itoa(i), Value: float64(v)})
			parts = append(parts, stat.Observation{Cluster: strconv.Itoa(i), Value: float64(v) / 1024.5})
		}
		exact, _ := stat.PairedPermutation(whole)
		drawn, ok := stat.PairedPermutation(parts)
		require.True(t, ok && exact.Exact && !drawn.Exact)
		if drawn.P < 1e-4 {
			bounds++
			require.GreaterOrEqual(t, drawn.P, exact.P)
			require.Less(t, drawn.P, 30*exact.P)
		}
	}
	require.Greater(t, bounds, 20)
}

func TestPairedPermutationEdges(t *testing.T) {
	for _, c := range []struct {
		name string
		obs  []stat.Observation
		ok   bool
		want stat.Permutation
	}{
		{"nothing", nil, false, stat.Permutation{}},
		{"not a number", obs("a", math.NaN()), false, stat.Permutation{}},
		{"infinite sum", obs("a", 1e308, "b", 1e308), false, stat.Permutation{}},
		{"no change", obs("a", 0, "b", 0), true, stat.Permutation{P: 1, Exact: true}},
		{"changes that cancel within", obs("a", 1, "a", -1, "b", 3), true, stat.Permutation{P: 1, Clusters: 1, Exact: true}},
		{"trials do not multiply tasks", obs("a", 1, "a", 1, "a", 1, "b", 1, "b", 1), true, stat.Permutation{P: 0.5, Clusters: 2, Exact: true}},
		{"ten tasks one way", obs("a", 1, "b", 1, "c", 1, "d", 1, "e", 1, "f", 1, "g", 1, "h", 1, "i", 1, "j", 1), true,
			stat.Permutation{P: 2.0 / 1024, Clusters: 10, Exact: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ok := stat.PairedPermutation(c.obs)
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.want, p)
		})
	}
}
