package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// enumerate tries every choice of one value from each task.
func enumerate(tasks [][]float64) (low, high float64) {
	observed, all := 0.0, 0.0
	for _, values := range tasks {
		observed += values[0]
	}
	var walk func(task int, sum float64)
	walk = func(task int, sum float64) {
		if task == len(tasks) {
			all++
			if sum <= observed+1e-9 {
				low++
			}
			if sum >= observed-1e-9 {
				high++
			}
			return
		}
		for _, v := range tasks[task] {
			walk(task+1, sum+v)
		}
	}
	walk(0, 0)
	return low / all, high / all
}

func TestBlockPermutationAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tasks := make([][]float64, 1+rng.IntN(6))
		for i := range tasks {
			offset := rng.Float64() // an offset that all values of a task share has no effect
			for range 2 + rng.IntN(3) {
				tasks[i] = append(tasks[i], offset+float64(rng.IntN(4)))
			}
		}
		low, high := enumerate(tasks)
		got, ok := stat.BlockPermutation(tasks)
		require.True(t, ok)
		require.True(t, got.Exact)
		require.InDelta(t, low, got.Low, 1e-12)
		require.InDelta(t, high, got.High, 1e-12)
	}
}

func TestBlockPermutationDrawn(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		tasks := make([][]float64, 8)
		for i := range tasks {
			tasks[i] = []float64{rng.NormFloat64() - 0.3, rng.NormFloat64(), rng.NormFloat64()}
		}
		low, high := enumerate(tasks)
		got, ok := stat.BlockPermutation(tasks)
		require.True(t, ok)
		require.False(t, got.Exact)
		require.InDelta(t, low, got.Low, 5*math.Sqrt(low*(1-low)/9999)+1e-4)
		require.InDelta(t, high, got.High, 5*math.Sqrt(high*(1-high)/9999)+1e-4)
		again, _ := stat.BlockPermutation(tasks)
		require.Equal(t, got, again)
	}
	// For extreme data the p-value is a bound: above 4^-30, and below what draws can
	// give.
	tasks := make([][]float64, 30)
	for i := range tasks {
		tasks[i] = []float64{-2 + 0.001*rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
	}
	got, _ := stat.BlockPermutation(tasks)
	require.Less(t, got.Low, 1e-12)
	require.GreaterOrEqual(t, got.Low, math.Pow(4, -30))
	require.Equal(t, 1.0, got.High)
}

// With one other run, it is the paired test.
func TestBlockPermutationOfTwoIsPaired(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		var tasks [][]float64
		var obs []stat.Observation
		for i := range 2 + rng.IntN(20) {
			a, b := float64(rng.IntN(4)), float64(rng.IntN(4))
			tasks = append(tasks, []float64{b, a})
			obs = append(obs, stat.Observation{Cluster: string(rune('a' + i)), Value: b - a})
		}
		got, _ := stat.BlockPermutation(tasks)
		want, _ := stat.PairedPermutation(obs)
		require.InDelta(t, want.P, min(1, 2*min(got.Low, got.High)), 1e-12)
	}
}

func TestBlockPermutationRefuses(t *testing.T) {
	for name, tasks := range map[string][][]float64{
		"nothing": nil, "one value": {{1}}, "not a number": {{1, math.NaN()}}, "infinite": {{1, math.Inf(1)}}, "vast": {{1, 1e200}},
	} {
		_, ok := stat.BlockPermutation(tasks)
		require.False(t, ok, name)
	}
	got, ok := stat.BlockPermutation([][]float64{{3, 3}, {2.5, 2.5, 2.5}})
	require.True(t, ok)
	require.Equal(t, stat.Blocks{Low: 1, High: 1, Exact: true}, got)
}

// Weighted Holm is compared with the closed test, of which it is the shortcut: a
// hypothesis is rejected if every set that contains it has a member with p ≤
// α·weight/weights.
func TestWeightedHolmIsClosed(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		n := 1 + rng.IntN(5)
		p, w := make([]float64, n), make([]float64, n)
		for i := range p {
			p[i], w[i] = math.Pow(rng.Float64(), 3), []float64{1, 1, 4}[rng.IntN(3)]
		}
		want := make([]float64, n)
		for set := 1; set < 1<<n; set++ {
			sum, least := 0.0, math.Inf(1)
			for i := range n {
				if set>>i&1 == 1 {
					sum += w[i]
				}
			}
			for i := range n {
				if set>>i&1 == 1 {
					least = min(least, p[i]*sum/w[i])
				}
			}
			for i := range n {
				if set>>i&1 == 1 {
					want[i] = max(want[i], min(1, least))
				}
			}
		}
		got, err := multiple.WeightedHolm(p, w)
		require.NoError(t, err)
		require.InDeltaSlice(t, want, got, 1e-12)
	}
	_, err := multiple.WeightedHolm([]float64{0.1}, []float64{0})
	require.ErrorContains(t, err, "weight 1 of 1 is 0")
	_, err = multiple.WeightedHolm([]float64{0.1}, nil)
	require.ErrorContains(t, err, "0 weights of 1")
}
