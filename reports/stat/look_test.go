package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
)

// These are the boundaries of Lan and DeMets with the spending function of
// O'Brien–Fleming type. The program of D. M. Reboussin et al., Controlled Clinical
// Trials 21 (2000) 190–207, and its successors print the same values.
func TestLookPublishedBoundaries(t *testing.T) {
	for _, c := range []struct {
		alpha float64
		z     []float64
	}{
		{0.025, []float64{2.9626, 1.9686}},
		{0.025, []float64{3.7103, 2.5114, 1.9930}},
		{0.025, []float64{4.3326, 2.9631, 2.3590, 2.0141}},
		{0.025, []float64{4.8769, 3.3569, 2.6803, 2.2898, 2.0310}},
		{0.05, []float64{4.2292, 2.8882, 2.2981, 1.9618, 1.7397}},
	} {
		for i, z := range c.z {
			level := stat.Look{Rounds: equalRounds(len(c.z)), At: i + 1}.Level(c.alpha)
			require.InDelta(t, z, -mathext.NormalQuantile(level), 2e-4, "alpha %v, look %d of %d", c.alpha, i+1, len(c.z))
		}
	}
}

func equalRounds(n int) []int {
	rounds := make([]int, n)
	for i := range rounds {
		rounds[i] = i + 1
	}
	return rounds
}

// crossings counts the paths of the mean over tasks, with the given correlation
// between trials of one task, that have crossed a boundary by each look.
func crossings(rng *rand.Rand, rounds []int, icc float64, paths int, levels []float64) []float64 {
	bounds, crossed := make([]float64, len(levels)), make([]float64, len(levels))
	for i, level := range levels {
		bounds[i] = -mathext.NormalQuantile(level)
	}
	for range paths {
		task, sum, before := rng.NormFloat64(), 0.0, 0
		for i, n := range rounds {
			k := float64(n)
			sum += rng.NormFloat64() * math.Sqrt(float64(n-before))
			before = n
			mean := math.Sqrt(icc)*task + math.Sqrt(1-icc)*sum/k
			if mean/math.Sqrt(icc+(1-icc)/k) > bounds[i] {
				for j := i; j < len(crossed); j++ {
					crossed[j] += 1 / float64(paths)
				}
				break
			}
		}
	}
	return crossed
}

func levelsOf(rounds []int, alpha float64) []float64 {
	levels := make([]float64, len(rounds))
	for i := range levels {
		levels[i] = stat.Look{Rounds: rounds, At: i + 1}.Level(alpha)
	}
	return levels
}

// Random walks compute the levels by a second method: they cross by each look with the
// probability that is spent by then.
func TestLookSpendsByRandomWalks(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 5))
	for _, rounds := range [][]int{{1, 2, 3, 4, 5}, {1, 2, 4, 5, 6}, {1, 20}, {9, 10}, {2, 3, 7, 8, 9, 10, 30}} {
		for _, alpha := range []float64{0.025, 0.2, 0.3} {
			const paths = 200_000
			crossed := crossings(rng, rounds, 0, paths, levelsOf(rounds, alpha))
			for i, n := range rounds {
				t0 := float64(n) / float64(rounds[len(rounds)-1])
				want := math.Erfc(-mathext.NormalQuantile(alpha/2) / math.Sqrt(2*t0))
				require.InDelta(t, want, crossed[i], 4.5*math.Sqrt(want*(1-want)/paths)+1e-6, "rounds %v, alpha %v, look %d", rounds, alpha, i+1)
			}
		}
	}
}

// If trials of a task are correlated, all looks together err less often than promised.
// Looks without correction err far more often than that.
func TestLookSimulationResemblingTrials(t *testing.T) {
	paths := 100_000
	if testkit.Evidence() {
		paths = 5_000_000
	}
	const alpha = 0.025
	rounds, rng, before := equalRounds(5), rand.New(rand.NewPCG(15, 6)), 1.0
	se := math.Sqrt(alpha / float64(paths))
	t.Log("ICC: crossings with levels of Look, with alpha at each look")
	for _, icc := range []float64{0, 0.1, 0.3, 0.6} {
		corrected := crossings(rng, rounds, icc, paths, levelsOf(rounds, alpha))[4]
		naive := crossings(rng, rounds, icc, paths, []float64{alpha, alpha, alpha, alpha, alpha})[4]
		t.Logf("%.1f: %.4f, %.4f", icc, corrected, naive)
		require.Less(t, corrected, alpha+4*se, "ICC %v", icc)
		require.Less(t, corrected, before+4*se, "a greater correlation crosses less, ICC %v", icc)
		require.Greater(t, naive, 1.2*alpha, "five looks without correction, ICC %v", icc)
		before = corrected
	}
}

func drawLook(t *rapid.T) stat.Look {
	var l stat.Look
	for range rapid.IntRange(1, 7).Draw(t, "rounds") {
		before := 0
		if n := len(l.Rounds); n > 0 {
			before = l.Rounds[n-1]
		}
		l.Rounds = append(l.Rounds, before+rapid.SampledFrom([]int{1, 1, 1, 2, 5, 40}).Draw(t, "trials"))
	}
	l.At = rapid.IntRange(1, len(l.Rounds)).Draw(t, "at")
	return l
}

// A repeated p-value is the inverse of the level, is in [0, 1], is never below the
// plain one and rises with it.
func TestLookRepeatedP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLook(t)
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		if rapid.Bool().Draw(t, "small") {
			p = math.Pow(10, -300*p)
		}
		a, b := l.P(min(p, q)), l.P(max(p, q))
		require.True(t, a >= 0 && b <= 1 && a <= b, "P(%v) %v, P(%v) %v", min(p, q), a, max(p, q), b)
		require.GreaterOrEqual(t, l.P(p), p)
		level := l.Level(p)
		require.True(t, level >= 0 && level <= p, "level %v of %v", level, p)
		require.LessOrEqual(t, l.Level(min(p, q)), l.Level(max(p, q)))
		if level > 0 && p > 1e-100 { // below that the sum over paths is coarse; no p-value of real data is that small
			least := l.P(level)
			require.LessOrEqual(t, least, p*(1+1e-7))
			require.GreaterOrEqual(t, l.Level(least), level*(1-1e-12))
			if level > 1e-300 { // several p have one level below, where numbers have few digits
				require.InEpsilon(t, p, least, 1e-4)
			}
		}
	})
}

func TestLookZeroAndSingle(t *testing.T) {
	for _, l := range []stat.Look{{}, {Rounds: []int{3}, At: 1}} {
		for _, v := range []float64{0, 1e-9, 0.025, 0.3, 0.95, 1} {
			require.Equal(t, [3]float64{v, v, v}, [3]float64{l.Level(v), l.P(v), l.Confidence(v)})
		}
	}
	l := stat.Look{Rounds: equalRounds(5), At: 5}
	require.InDelta(t, 0.95775, l.Confidence(0.95), 1e-5, "1 − 2·Φ(−2.0310)")
	l.At = 1
	require.InDelta(t, 1, l.Confidence(0.95), 2e-6)
}

func TestLookRefuses(t *testing.T) {
	good := stat.Look{Rounds: []int{1, 2}, At: 1}
	for _, l := range []stat.Look{{At: 1}, {Rounds: []int{1, 2}}, {Rounds: []int{1, 2}, At: 3}, {Rounds: []int{2, 2}, At: 1}, {Rounds: []int{0, 2}, At: 1}, {Rounds: equalRounds(1001), At: 1}} {
		require.False(t, l.Valid())
		require.True(t, math.IsNaN(l.Level(0.025)) && math.IsNaN(l.P(0.5)) && math.IsNaN(l.Confidence(0.95)), "%v", l)
	}
	for _, v := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		require.True(t, math.IsNaN(good.Level(v)) && math.IsNaN(good.P(v)) && math.IsNaN(good.Confidence(v)), "%v", v)
	}
}

func BenchmarkLookP(b *testing.B) {
	l := stat.Look{Rounds: equalRounds(5), At: 5}
	for b.Loop() {
		l.P(0.02)
	}
}
