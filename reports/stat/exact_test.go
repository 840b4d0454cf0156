package stat_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/reports/stat"
)

// choose returns C(n, k) as a rational.
func choose(n, k int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
}

// binomial returns the probability of each count from 0 to n, as rationals.
func binomial(n int, p *big.Rat) []*big.Rat {
	list := make([]*big.Rat, n+1)
	for k := range list {
		v := choose(n, k)
		for range k {
			v.Mul(v, p)
		}
		for range n - k {
			v.Mul(v, new(big.Rat).Sub(big.NewRat(1, 1), p))
		}
		list[k] = v
	}
	return list
}

// notAbove adds up the probabilities that are at most the i-th.
func notAbove(list []*big.Rat, i int) float64 {
	sum := new(big.Rat)
	for _, p := range list {
		if p.Cmp(list[i]) <= 0 {
			sum.Add(sum, p)
		}
	}
	f, _ := sum.Float64()
	return f
}

func TestClopperPearsonPublished(t *testing.T) {
	for _, c := range []struct {
		name            string
		k, n            int
		low, high, near float64
	}{
		// Newcombe, Statistics in Medicine 17 (1998) 857–872, table I, method 5.
		{"Newcombe 81/263", 81, 263, 0.2527, 0.3676, 5e-5},
		{"Newcombe 15/148", 15, 148, 0.0578, 0.1617, 5e-5},
		{"Newcombe 0/20", 0, 20, 0, 0.1684, 5e-5},
		{"Newcombe 1/29", 1, 29, 0.0009, 0.1776, 5e-5},
		// The manual of R's binom.test, Conover's (1971) example of plants.
		{"Conover 682/925", 682, 925, 0.7076683, 0.7654066, 5e-8},
		// At the ends the beta quantile has the closed form (α/2)^(1/n).
		{"all of 30", 30, 30, math.Pow(0.025, 1.0/30), 1, 1e-12},
		{"none of 30", 0, 30, 0, 1 - math.Pow(0.025, 1.0/30), 1e-12},
	} {
		t.Run(c.name, func(t *testing.T) {
			iv, ok := stat.ClopperPearson(c.k, c.n, 0.95)
			require.True(t, ok)
			require.InDelta(t, c.low, iv.Low, c.near)
			require.InDelta(t, c.high, iv.High, c.near)
		})
	}
}

// By the definition, k or more has probability (1−confidence)/2 at the low end, and k
// or fewer has it at the high end. Exact rationals check this at the rounded ends.
func TestClopperPearsonAgainstDefinition(t *testing.T) {
	for _, n := range []int{1, 2, 7, 19} {
		for k := 0; k <= n; k++ {
			iv, ok := stat.ClopperPearson(k, n, 0.9)
			require.True(t, ok)
			tail := func(p float64, from, to int) float64 {
				sum := new(big.Rat)
				for _, v := range binomial(n, new(big.Rat).SetFloat64(p))[from : to+1] {
					sum.Add(sum, v)
				}
				f, _ := sum.Float64()
				return f
			}
			if k > 0 {
				require.InDelta(t, 0.05, tail(iv.Low, k, n), 1e-9, "low %d/%d", k, n)
			}
			if k < n {
				require.InDelta(t, 0.05, tail(iv.High, 0, k), 1e-9, "high %d/%d", k, n)
			}
		}
	}
}

func TestClopperPearsonProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 2000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		confidence := rapid.Float64Range(0.5, 0.9999).Draw(t, "confidence")
		iv, ok := stat.ClopperPearson(k, n, confidence)
		require.True(t, ok)
		p := float64(k) / float64(n)
		require.True(t, 0 <= iv.Low && iv.Low <= p && p <= iv.High && iv.High <= 1, "%+v", iv)
		mirror, _ := stat.ClopperPearson(n-k, n, confidence)
		require.InDelta(t, 1-iv.Low, mirror.High, 1e-15)
		if k < n {
			more, _ := stat.ClopperPearson(k+1, n, confidence)
			require.True(t, more.Low >= iv.Low && more.High >= iv.High)
		}
	})
	for _, c := range [][3]float64{{0, 0, .95}, {-1, 5, .95}, {6, 5, .95}, {1, 5, 0}, {1, 5, 1}, {1, 5, math.NaN()}} {
		_, ok := stat.ClopperPearson(int(c[0]), int(c[1]), c[2])
		require.False(t, ok, "%v", c)
	}
}

// The counts are half of a million, and the one next to it. The sum over many terms
// stays exact: the probability of the middle is ≈ 1/√(πn/2), which by Stirling is
// correct to a relative error of 1e-7.
func TestMcNemarLong(t *testing.T) {
	const n = 1_000_000
	p, _ := stat.McNemar(n/2, n/2)
	require.Equal(t, 1.0, p)
	p, _ = stat.McNemar(n/2+1, n/2-1)
	require.InDelta(t, 1-1/math.Sqrt(math.Pi*n/2), p, 1e-9)
	p, _ = stat.McNemar(n, 0)
	require.Zero(t, p, "2^-999999 is below the smallest float")
	p, ok := stat.McNemar(math.MaxInt>>27, 1)
	require.True(t, ok)
	require.Zero(t, p, "which takes as long as for the counts that have a weight, not for all")
	_, ok = stat.McNemar(math.MaxInt, 1)
	require.False(t, ok)
}

func TestMcNemar(t *testing.T) {
	// Fagerland et al. (2013), table 1: airway hyper-responsiveness, 1 against 7.
	p, ok := stat.McNemar(1, 7)
	require.True(t, ok)
	require.InDelta(t, 0.0703125, p, 1e-12)
	for n := 0; n <= 40; n++ {
		list := binomial(n, big.NewRat(1, 2))
		for k := range list {
			p, ok := stat.McNemar(k, n-k)
			require.True(t, ok)
			require.InEpsilon(t, notAbove(list, k), p, 1e-9, "%d, %d", k, n-k)
		}
	}
	for _, c := range [][2]int{{-1, 0}, {0, -1}} {
		_, ok := stat.McNemar(c[0], c[1])
		require.False(t, ok)
	}
}
