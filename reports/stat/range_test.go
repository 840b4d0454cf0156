package stat_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// differences draws paired differences by task, at random and in the patterns in which
// rounding, ties and symmetry cause errors.
func differences(t *rapid.T) []float64 {
	n := rapid.SampledFrom([]int{1, 2, 3, 19, 20, 21, 64, 77, 98, 120, 300, 1001, 10_000}).Draw(t, "n")
	values := make([]float64, n)
	fill := func(of func(i int) float64) {
		for i := range values {
			values[i] = of(i)
		}
	}
	unit := rapid.SampledFrom([]float64{1, 2, 3, 0.1, 1.0 / 3, 1e-9, 1e9, 2_930_000}).Draw(t, "unit")
	switch rapid.SampledFrom([]string{"equal", "one", "even", "odd", "zeros", "ties", "random", "heavy"}).Draw(t, "shape") {
	case "equal":
		fill(func(int) float64 { return unit })
	case "one":
		values[n/2] = unit
	case "even": // the same number broken and fixed, the rest unchanged
		zeros := rapid.IntRange(0, n).Draw(t, "zeros")
		fill(func(i int) float64 { return unit * float64(i%2*2-1) * min(1, float64(i/(zeros+1))) })
	case "odd": // one more of one sign than of the other
		fill(func(i int) float64 { return unit * float64(1-i%2*2) })
		if n%2 == 0 {
			values[0] = 0
		}
	case "zeros":
	case "ties":
		fill(func(int) float64 { return unit * float64(rapid.IntRange(-2, 2).Draw(t, "tie")) })
	case "random":
		fill(func(int) float64 { return unit * rapid.Float64Range(-1, 1).Draw(t, "value") })
	case "heavy":
		fill(func(i int) float64 { return unit * math.Pow(float64(i%7-3), 9) })
	}
	return values
}

// Every p-value is in [0, 1] without rounding error, because adjustments refuse others.
// Every interval is in order, and input with a NaN is refused.
func TestPValuesAreProbabilities(t *testing.T) {
	testkit.Slow(t)
	rapid.Check(t, func(t *rapid.T) {
		values := differences(t)
		var family []float64
		p := func(name string, v float64, ok bool) {
			if ok {
				require.True(t, v >= 0 && v <= 1, "%s of %d values: %v", name, len(values), v)
				family = append(family, v)
			}
		}
		list, plus, minus := make([]stat.Observation, len(values)), 0, 0
		for i, v := range values {
			list[i] = stat.Observation{Cluster: strconv.Itoa(i), Value: v}
			if v > 0 {
				plus++
			} else if v < 0 {
				minus++
			}
		}
		flips, ok := stat.PairedPermutation(list)
		require.True(t, ok && flips.P > 0)
		p("permutation", flips.P, ok)
		runs := make([][]float64, len(values)) // the new run, zeros, and its values rotated by one
		for i, v := range values {
			runs[i] = []float64{v, 0, values[(i+1)%len(values)]}
		}
		blocks, ok := stat.BlockPermutation(runs)
		require.True(t, ok && blocks.Low > 0 && blocks.High > 0)
		p("blocks, low", blocks.Low, ok)
		p("blocks, high", blocks.High, ok)
		look := stat.Look{Rounds: []int{1, 2, 3, 4, 5}, At: 1 + len(values)%5}
		repeated := look.P(flips.P)
		require.GreaterOrEqual(t, repeated, flips.P*(1-1e-9), "looking more than once makes no p smaller")
		p("repeated", repeated, true)
		mean, ok := stat.ClusterMean(list)
		require.True(t, ok)
		two, ok := mean.P(0)
		p("t", two, ok)
		if n := min(len(values), 300); n > 0 {
			e, ok := flake.Classify(stat.Trials{Passed: min(plus, n), N: n}, stat.Trials{Passed: min(minus, n), N: n}, 0.05)
			require.True(t, ok)
			p("change", e.P, ok)
		}
		for name, adjust := range map[string]func([]float64) ([]float64, error){
			"Holm": multiple.Holm, "Benjamini–Hochberg": multiple.BenjaminiHochberg,
			"weighted Holm": func(p []float64) ([]float64, error) {
				weights := slices.Repeat([]float64{1}, len(p))
				weights[0] = 9
				return multiple.WeightedHolm(p, weights)
			},
		} {
			adjusted, err := adjust(family)
			require.NoError(t, err)
			for i, v := range adjusted {
				require.True(t, v >= family[i] && v <= 1, "%s: %v of %v", name, adjusted, family)
			}
		}
		iv, ok := mean.Interval(0.95)
		require.True(t, !ok || iv.Low <= mean.Value && mean.Value <= iv.High)
		sizes, limits := make([]stat.Cluster, len(values)), stat.Interval{Low: 0, High: 1}
		for i, v := range values {
			sizes[i] = stat.Cluster{Num: math.Abs(v), Den: 1}
			limits.High = max(limits.High, math.Abs(v))
		}
		sum, _ := stat.ClusterRatio(sizes)
		iv, ok = stat.MeanInterval(sizes, limits, 0.95)
		slack := 1e-9 * limits.High
		require.True(t, ok && 0 <= iv.Low && iv.Low <= sum.Value+slack && sum.Value <= iv.High+slack && iv.High <= limits.High+slack, "%v around %v", iv, sum.Value)
		iv, ok = stat.QuantileInterval(list, 0.5, 0.95)
		require.True(t, !ok || iv.Low <= iv.High)
		if plus+minus > 0 {
			iv, ok = stat.ClopperPearson(plus, plus+minus, 0.95)
			share := float64(plus) / float64(plus+minus)
			require.True(t, ok && 0 <= iv.Low && iv.Low <= share && share <= iv.High && iv.High <= 1)
		}

		at := rapid.IntRange(0, len(values)-1).Draw(t, "at")
		values[at], list[at].Value = math.NaN(), math.NaN()
		_, ok = stat.PairedPermutation(list)
		require.False(t, ok)
		runs[at][0], sizes[at].Num = math.NaN(), math.NaN()
		_, ok = stat.BlockPermutation(runs)
		require.False(t, ok)
		_, ok = stat.MeanInterval(sizes, limits, 0.95)
		require.False(t, ok)
		require.True(t, math.IsNaN(look.P(math.NaN())))
		_, ok = stat.ClusterMean(list)
		require.False(t, ok)
	})
}

// The splits are as even as possible, in suites of any size. The two tails then contain
// all the probability, and must not add up to more than 1.
func TestEvenSplits(t *testing.T) {
	for n := 1; n <= 1500; n += 1 + n/50 {
		list := make([]stat.Observation, n)
		for i := range list {
			list[i] = stat.Observation{Cluster: strconv.Itoa(i), Value: float64(1 - i%2*2)}
		}
		p, ok := stat.PairedPermutation(list)
		require.True(t, ok && p.Exact)
		require.LessOrEqual(t, p.P, 1.0, "%d tasks", n)
		require.InDelta(t, 1, p.P, 1e-12, "%d tasks", n)
	}
}
