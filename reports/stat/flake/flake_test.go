package flake_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after stat.Trials
		want          flake.Stability
		p             float64
	}{
		{"no trial before", stat.Trials{}, stat.Trials{Passed: 8, N: 8}, flake.Unknown, 1},
		{"no trial at all", stat.Trials{}, stat.Trials{}, flake.Unknown, 1},
		{"all pass", stat.Trials{Passed: 8, N: 8}, stat.Trials{Passed: 8, N: 8}, flake.StablePass, 1},
		{"all fail", stat.Trials{N: 3}, stat.Trials{N: 5}, flake.StableFail, 1},
		{"one each, turned", stat.Trials{Passed: 1, N: 1}, stat.Trials{N: 1}, flake.Unclear, 0.5},
		{"two each, turned", stat.Trials{N: 2}, stat.Trials{Passed: 2, N: 2}, flake.Unclear, 1.0 / 6},
		// 1/C(6,3) is 1/20: with binary fractions it could be on either side of 0.05.
		{"three each, turned", stat.Trials{Passed: 3, N: 3}, stat.Trials{N: 3}, flake.NewlyBroken, 0.05},
		{"three each, turned back", stat.Trials{N: 3}, stat.Trials{Passed: 3, N: 3}, flake.NewlyFixed, 0.05},
		{"one failure", stat.Trials{Passed: 8, N: 8}, stat.Trials{Passed: 7, N: 8}, flake.Flaky, 0.5},
		{"three failures", stat.Trials{Passed: 8, N: 8}, stat.Trials{Passed: 5, N: 8}, flake.Flaky, 0.1},
		{"four failures", stat.Trials{Passed: 8, N: 8}, stat.Trials{Passed: 4, N: 8}, flake.NewlyBroken, 70.0 / 1820},
		{"mixed, much lower", stat.Trials{Passed: 7, N: 8}, stat.Trials{Passed: 1, N: 8}, flake.NewlyBroken, 65.0 / 12870},
		{"mixed, same", stat.Trials{Passed: 4, N: 8}, stat.Trials{Passed: 2, N: 4}, flake.Flaky, 1},
		{"one trial against many", stat.Trials{Passed: 40, N: 40}, stat.Trials{N: 1}, flake.NewlyBroken, 1.0 / 41},
		{"one trial against few", stat.Trials{Passed: 5, N: 5}, stat.Trials{N: 1}, flake.Unclear, 1.0 / 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, ok := flake.Classify(c.before, c.after, 0.05)
			require.True(t, ok)
			require.Equal(t, c.want, e.Class)
			require.InDelta(t, c.p, e.P, 1e-12)
		})
	}
	e, _ := flake.Classify(stat.Trials{Passed: 8, N: 8}, stat.Trials{Passed: 8, N: 8}, 0.05)
	require.Equal(t, 1.0, e.Share.High)
	require.InDelta(t, math.Pow(0.025, 1.0/16), e.Share.Low, 1e-12)
	for _, c := range []struct {
		before, after stat.Trials
		alpha         float64
	}{{stat.Trials{Passed: 2, N: 1}, stat.Trials{}, .05}, {stat.Trials{}, stat.Trials{Passed: -1}, .05}, {stat.Trials{}, stat.Trials{}, 0}, {stat.Trials{}, stat.Trials{}, math.NaN()}} {
		_, ok := flake.Classify(c.before, c.after, c.alpha)
		require.False(t, ok)
	}
}

// P is added up from single tables; the two-sided test covers all of them. For any
// share of passes, a task without change is called broken with probability at most
// alpha, and fixed with probability at most alpha, added up over all outcomes.
func TestClassifyKeepsItsLevel(t *testing.T) {
	for _, n := range [][2]int{{3, 3}, {8, 8}, {5, 9}, {10, 1}} {
		for _, share := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
			broken, fixed := 0.0, 0.0
			for a := 0; a <= n[0]; a++ {
				for b := 0; b <= n[1]; b++ {
					e, ok := flake.Classify(stat.Trials{Passed: a, N: n[0]}, stat.Trials{Passed: b, N: n[1]}, 0.05)
					require.True(t, ok)
					ways, _ := choices(n[0], a).Mul(choices(n[0], a), choices(n[1], b)).Float64()
					chance := ways * math.Pow(share, float64(a+b)) * math.Pow(1-share, float64(n[0]+n[1]-a-b))
					switch e.Class {
					case flake.NewlyBroken:
						broken += chance
					case flake.NewlyFixed:
						fixed += chance
					}
				}
			}
			require.LessOrEqual(t, broken, 0.05, "%v at %v", n, share)
			require.LessOrEqual(t, fixed, 0.05, "%v at %v", n, share)
		}
	}
}

// The reference is the one-sided p from big binomials, one term at a time.
func TestClassifyAgainstBinomials(t *testing.T) {
	for _, c := range [][4]int{{7, 9, 2, 11}, {30, 40, 11, 37}, {199, 200, 150, 180}, {12, 12, 0, 12}} {
		e, ok := flake.Classify(stat.Trials{Passed: c[0], N: c[1]}, stat.Trials{Passed: c[2], N: c[3]}, 0.05)
		require.True(t, ok)
		want := new(big.Rat)
		for i := 0; i <= c[2]; i++ {
			if k := c[0] + c[2] - i; k <= c[1] {
				want.Add(want, choices(c[3], i).Mul(choices(c[3], i), choices(c[1], k)))
			}
		}
		f, _ := want.Quo(want, choices(c[1]+c[3], c[0]+c[2])).Float64()
		require.InEpsilon(t, f, e.P, 1e-9, "%v", c)
		require.Equal(t, flake.NewlyBroken, e.Class)
	}
}

func choices(n, k int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Binomial(int64(n), int64(k)))
}
