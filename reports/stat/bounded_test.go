package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

// For pass and fail the bound is the exact binomial one, which is computed by another
// method.
func TestLowerBoundOfPassesIsClopperPearson(t *testing.T) {
	for _, n := range []int{2, 3, 5, 10, 60, 300} {
		for _, k := range []int{0, 1, 2, n / 2, n - 1, n} {
			for _, alpha := range []float64{0.05, 0.025, 0.005} {
				passes := make([]stat.Cluster, n)
				for i := range passes {
					passes[i].Den = 1
					if i < k {
						passes[i].Num = 1
					}
				}
				bound, ok := stat.LowerBound(passes, 0, 1, alpha)
				require.True(t, ok)
				exact, _ := stat.ClopperPearson(k, n, 1-2*alpha)
				slack := 0.002*(float64(k)/float64(n)-exact.Low) + 1e-12
				require.InDelta(t, exact.Low, bound, slack, "%d of %d at %v", k, n, alpha)
				require.LessOrEqual(t, bound, exact.Low+1e-12)
			}
		}
	}
}

// The bound is compared with its definition, which is drawn at random.
func TestLowerBoundIsTheQuantileOfWeightedRatios(t *testing.T) {
	clusters := []stat.Cluster{{Num: 3, Den: 4}, {Num: -2, Den: 4}, {Num: 1, Den: 8}, {Num: 0, Den: 2}, {Num: 5, Den: 6}, {Num: 0.5, Den: 1}}
	const least, alpha, draws = -1, 0.05, 400_000
	bound, ok := stat.LowerBound(clusters, least, 1, alpha)
	require.True(t, ok)
	rng, below := rand.New(rand.NewPCG(21, 1)), 0
	for range draws {
		w := rng.ExpFloat64() * 25 / 6 // the unseen cluster has the mean size
		num, den := least*w, w
		for _, c := range clusters {
			w := rng.ExpFloat64()
			num, den = num+w*c.Num, den+w*c.Den
		}
		if num/den <= bound {
			below++
		}
	}
	require.InDelta(t, alpha, float64(below)/draws, 0.0015) // 4 standard errors
}

func TestLowerBound(t *testing.T) {
	flat := []stat.Cluster{{Num: 0.5, Den: 1}, {Num: 1, Den: 2}, {Num: 0.5, Den: 1}, {Num: 0.5, Den: 1}}
	t.Run("no spread is the bound at nought of n", func(t *testing.T) {
		same := slices.Repeat([]stat.Cluster{{Num: 0, Den: 1}}, 60)
		bound, ok := stat.LowerBound(same, -1, 1, 0.05)
		require.True(t, ok)
		m, _ := stat.ClusterRatio(same)
		v, _ := m.ShareInterval(0.9)
		require.InDelta(t, v.Low, bound, 1e-12)
		require.InDelta(t, -(1 - math.Pow(0.05, 1.0/60)), bound, 1e-12)
	})
	t.Run("order does not matter", func(t *testing.T) {
		list := []stat.Cluster{{Num: 1, Den: 2}, {Num: 0, Den: 1}, {Num: -1, Den: 3}}
		a, _ := stat.LowerBound(list, -1, 1, 0.05)
		slices.Reverse(list)
		b, _ := stat.LowerBound(list, -1, 1, 0.05)
		require.Equal(t, a, b)
	})
	t.Run("three times as many", func(t *testing.T) {
		list := []stat.Cluster{{Num: 1, Den: 2}, {Num: 0, Den: 1}, {Num: -1, Den: 3}, {Num: 1, Den: 1}}
		asked, _ := stat.LowerBound(list, -1, 3, 0.05)
		given, _ := stat.LowerBound(slices.Repeat(list, 3), -1, 1, 0.05)
		require.InDelta(t, given, asked, 1e-9)
	})
	for name, c := range map[string]struct {
		list                []stat.Cluster
		least, times, alpha float64
	}{
		"one cluster":       {flat[:1], 0, 1, 0.05},
		"below least":       {flat, 0.6, 1, 0.05},
		"not a number":      {append(slices.Clone(flat), stat.Cluster{Num: math.NaN(), Den: 1}), 0, 1, 0.05},
		"infinite":          {append(slices.Clone(flat), stat.Cluster{Num: math.Inf(1), Den: 1}), 0, 1, 0.05},
		"nothing counted":   {append(slices.Clone(flat), stat.Cluster{}), 0, 1, 0.05},
		"no times":          {flat, 0, 0, 0.05},
		"level of a half":   {flat, 0, 1, 0.5},
		"least not bounded": {flat, math.Inf(-1), 1, 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			_, ok := stat.LowerBound(c.list, c.least, c.times, c.alpha)
			require.False(t, ok)
		})
	}
}

// If a twentieth of the tasks break and the others do not change, the t bound rules out
// that loss three times as often as allowed.
func TestSimulationLowerBoundOfRareLosses(t *testing.T) {
	suites, _ := size()
	for _, tasks := range []int{20, 60, 150} {
		rng, student, bounded := rand.New(rand.NewPCG(22, uint64(tasks))), 0, 0
		for range suites {
			list := make([]stat.Cluster, tasks)
			for i := range list {
				list[i] = stat.Cluster{Num: -coin(rng, 0.05), Den: 1}
			}
			m, _ := stat.ClusterRatio(list)
			if v, ok := m.ShareInterval(0.9); ok && v.Low > -0.05 {
				student++
			}
			if low, ok := stat.LowerBound(list, -1, 1, 0.05); ok && low > -0.05 {
				bounded++
			}
		}
		atMost(t, fmt.Sprintf("%d tasks: one in twenty breaks, ruled out", tasks), bounded, suites, 0.05)
		t.Logf("%d tasks: the t bound instead %.4f", tasks, float64(student)/float64(suites))
	}
}

// Floor: 45 bisections of about ten Newton steps over the distinct clusters.
func BenchmarkLowerBound(b *testing.B) {
	for _, distinct := range []int{5, 60, 5000} {
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			rng, list := rand.New(rand.NewPCG(23, 1)), make([]stat.Cluster, distinct)
			for i := range list {
				list[i] = stat.Cluster{Num: rng.Float64(), Den: 1}
			}
			b.ReportAllocs()
			for b.Loop() {
				stat.LowerBound(list, -1, 1, 0.05)
			}
		})
	}
}
