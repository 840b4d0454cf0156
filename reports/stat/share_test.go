package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
)

// tasks returns clusters from their counts: passed, of, passed, of, …
func tasks(counts ...float64) (list []stat.Cluster) {
	for i := 0; i < len(counts); i += 2 {
		list = append(list, stat.Cluster{Num: counts[i], Den: counts[i+1]})
	}
	return list
}

func repeated(n int, counts ...float64) (list []stat.Cluster) {
	for range n {
		list = append(list, tasks(counts...)...)
	}
	return list
}

// binomialTail returns the probability of k or more in n, added up term by term.
func binomialTail(k, n int, p float64) float64 {
	term, sum := math.Pow(1-p, float64(n)), 0.0
	for i := 0; i <= n; i++ {
		if i >= k {
			sum += term
		}
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return sum
}

// With one observation for each task, the ends are the shares at which k or more, and k
// or fewer, have a probability of 2.5%. Bisection on the sum finds them.
func TestShareIntervalOfSingleTrialsIsExact(t *testing.T) {
	solve := func(reaches func(p float64) bool) float64 {
		low, high := 0.0, 1.0
		for range 60 {
			if mid := (low + high) / 2; reaches(mid) {
				high = mid
			} else {
				low = mid
			}
		}
		return low
	}
	for _, n := range []int{1, 2, 3, 10, 69} {
		for k := 0; k <= n; k += 1 + n/7 {
			iv, ok := stat.ShareInterval(append(repeated(k, 1, 1), repeated(n-k, 0, 1)...), 0.95)
			require.True(t, ok)
			low, high := 0.0, 1.0
			if k > 0 {
				low = solve(func(p float64) bool { return binomialTail(k, n, p) >= 0.025 })
			}
			if k < n {
				high = 1 - solve(func(q float64) bool { return binomialTail(n-k, n, q) >= 0.025 })
			}
			require.InDelta(t, low, iv.Low, 1e-9, "%d of %d", k, n)
			require.InDelta(t, high, iv.High, 1e-9, "%d of %d", k, n)
			exact, _ := stat.ClopperPearson(k, n, 0.95)
			require.Equal(t, exact, iv)
			whole, _ := stat.ShareInterval(append(repeated(k, 7, 7), repeated(n-k, 0, 7)...), 0.95)
			require.Equal(t, exact, whole, "seven trials of each that all go the same way say no more than one")
		}
	}
}

// If tasks have several observations, the lower end is the share t at which Σ w·(Num −
// t·Den), with one additional task that always fails, has its sign by chance in 2.5% of
// draws of standard exponentials w. For distinct weights that probability has a closed
// form (hypoexponential): Johnson, Kotz and Balakrishnan, "Continuous Univariate
// Distributions" 1, 2nd ed. (1994), section 19.9.
func TestShareIntervalAgainstClosedForm(t *testing.T) {
	below := func(values []float64) float64 { // P(Σ v·w ≤ 0)
		sum := 0.0
		for i, v := range values {
			if v >= 0 {
				continue
			}
			part := 1.0
			for j, w := range values {
				if j != i {
					part *= v / (v - w)
				}
			}
			sum += part
		}
		return sum
	}
	for _, list := range [][]stat.Cluster{
		tasks(2, 3), tasks(2, 3, 5, 6), tasks(1, 4, 5, 6), tasks(9, 10, 5, 6, 4, 7), tasks(1, 2, 5, 6, 4, 7, 3, 3), tasks(9, 10, 5, 6, 4, 7, 2, 9, 6, 8, 12, 13),
	} {
		iv, ok := stat.ShareInterval(list, 0.95)
		require.True(t, ok)
		size, share, total := 0.0, 0.0, 0.0
		for _, c := range list {
			size += c.Den / float64(len(list))
			share, total = share+c.Num, total+c.Den
		}
		low, high := 0.0, share/total
		for range 60 {
			mid := (low + high) / 2
			values := []float64{-mid * size}
			for _, c := range list {
				values = append(values, c.Num-mid*c.Den)
			}
			if below(values) <= 0.025 {
				low = mid
			} else {
				high = mid
			}
		}
		require.InDelta(t, low, iv.Low, 0.01*(share/total-low), "%v", list)
	}
}

// By hand: for n perfect tasks the lower end is 0.025^(1/n). 17 is the first n to reach
// 80%, 72 the first to reach 95%, 368 the first to reach 99%.
func TestPerfectClusters(t *testing.T) {
	for threshold, want := range map[float64]int{0.025: 1, 0.5: 6, 0.8: 17, 0.9: 36, 0.95: 72, 0.99: 368} {
		n, ok := stat.PerfectClusters(threshold, 0.95)
		require.True(t, ok)
		require.Equal(t, want, n, "%v", threshold)
		iv, _ := stat.ShareInterval(repeated(n, 3, 3), 0.95)
		require.GreaterOrEqual(t, iv.Low, threshold-1e-12)
		if n > 1 {
			iv, _ = stat.ShareInterval(repeated(n-1, 50, 50), 0.95)
			require.Less(t, iv.Low, threshold, "trials do not replace tasks")
		}
	}
	for _, bad := range [][2]float64{{0, 0.95}, {1, 0.95}, {math.NaN(), 0.95}, {0.8, 0}, {0.8, 1}} {
		_, ok := stat.PerfectClusters(bad[0], bad[1])
		require.False(t, ok, "%v", bad)
	}
}

// The returned number suffices, and one task less does not, by an interval of that many
// tasks.
func TestShareClusters(t *testing.T) {
	for _, c := range []struct {
		each      []stat.Cluster
		threshold float64
	}{
		{tasks(1, 1), 0.95},
		{tasks(1, 1, 1, 1, 1, 1, 1, 1, 0, 1), 0.6},
		{tasks(1, 1, 1, 1, 1, 1, 1, 1, 0, 1), 0.9},
		{tasks(3, 3, 2, 3), 0.75},
		{tasks(3, 3, 2, 3), 0.9},
		{tasks(12, 15, 15, 15, 4, 4), 0.8},
	} {
		n, ok := stat.ShareClusters(c.each, c.threshold, 0.95)
		require.True(t, ok)
		excludes := func(times int) bool {
			var list []stat.Cluster
			for range times {
				list = append(list, c.each...)
			}
			iv, _ := stat.ShareInterval(list, 0.95)
			return iv.Low >= c.threshold || iv.High <= c.threshold
		}
		size := len(c.each)
		require.True(t, excludes((n+size-1)/size), "%v at %v: %d tasks", c.each, c.threshold, n)
		require.False(t, excludes((n-1)/size), "%v at %v: %d tasks", c.each, c.threshold, n)
	}
	for _, c := range []struct {
		list      []stat.Cluster
		threshold float64
	}{{tasks(1, 1, 0, 1), 0.5}, {tasks(1, 1), 1}, {tasks(0, 1), 0}, {nil, 0.5}, {tasks(1, 2, 1, 2), 0.5 + 1e-9}} {
		_, ok := stat.ShareClusters(c.list, c.threshold, 0.95)
		require.False(t, ok, "%v", c)
	}
}

// correlatedTasks draws tasks with a mean share whose observations have an intra-task
// correlation.
func correlatedTasks(rng *rand.Rand, tasks int, mean, icc float64, size func() int) []stat.Cluster {
	list := make([]stat.Cluster, tasks)
	for i := range list {
		share := evidence.Beta(rng, mean, icc)
		list[i].Den = float64(size())
		for range int(list[i].Den) {
			list[i].Num += coin(rng, share)
		}
	}
	return list
}

// By hand: for G tasks with m equal trials each, SE² is p(1−p)/(G−1). It is divided by
// the SE² of n independent trials, p(1−p)/(n−1).
func TestDesignEffect(t *testing.T) {
	effect, ok := stat.DesignEffect(append(repeated(6, 1, 1), repeated(4, 0, 1)...))
	require.True(t, ok)
	require.InDelta(t, 1, effect, 1e-12)
	effect, ok = stat.DesignEffect(append(repeated(6, 5, 5), repeated(4, 0, 5)...))
	require.True(t, ok)
	require.InDelta(t, 49.0/9, effect, 1e-12)
	effect, ok = stat.DesignEffect(repeated(10, 3, 5))
	require.True(t, ok)
	require.InDelta(t, 0, effect, 1e-12, "tasks that all have the same share")
	rng, sum := rand.New(rand.NewPCG(41, 1)), 0.0
	for range 400 {
		list := correlatedTasks(rng, 50, 0.8, 0.3, func() int { return 5 })
		effect, _ := stat.DesignEffect(list)
		sum += effect / 400
	}
	require.InDelta(t, 1+4*0.3, sum, 0.1, "1 + (m − 1)·ICC, Kish (1965)")
	for _, bad := range [][]stat.Cluster{nil, tasks(3, 5), repeated(3, 5, 5), repeated(3, 0, 5), tasks(6, 5, 1, 5), tasks(1, 0, 1, 5)} {
		_, ok := stat.DesignEffect(bad)
		require.False(t, ok, "%v", bad)
	}
}

func TestShareInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "tasks")
		list, failing := make([]stat.Cluster, n), -1
		num, den := 0.0, 0.0
		for i := range list {
			size := rapid.IntRange(1, 9).Draw(t, "size")
			passed := rapid.SampledFrom([]int{0, size, size, size, size / 2}).Draw(t, "passed")
			list[i] = stat.Cluster{Num: float64(passed), Den: float64(size)}
			num, den = num+list[i].Num, den+list[i].Den
			if passed < size {
				failing = i
			}
		}
		iv, ok := stat.ShareInterval(list, 0.95)
		require.True(t, ok)
		share := num / den
		require.True(t, 0 <= iv.Low && iv.Low <= share && share <= iv.High && iv.High <= 1, "%+v around %v", iv, share)
		require.True(t, (share == 0) == (iv.Low == 0) && (share == 1) == (iv.High == 1), "%+v around %v", iv, share)
		wider, _ := stat.ShareInterval(list, 0.99)
		require.True(t, wider.Low <= iv.Low && iv.High <= wider.High)
		mirror, tripled := make([]stat.Cluster, n), make([]stat.Cluster, n)
		for i, c := range list {
			mirror[n-1-i] = stat.Cluster{Num: c.Den - c.Num, Den: c.Den}
			tripled[i] = stat.Cluster{Num: 3 * c.Num, Den: 3 * c.Den}
		}
		other, _ := stat.ShareInterval(mirror, 0.95)
		require.InDelta(t, 1-iv.High, other.Low, 1e-12, "failures mirror passes, in any order")
		again, _ := stat.ShareInterval(tripled, 0.95)
		require.InDelta(t, iv.Low, again.Low, 1e-9, "three times the trials of the same tasks say no more")
		require.InDelta(t, iv.High, again.High, 1e-9)
		if failing >= 0 {
			list[failing].Num++
			better, _ := stat.ShareInterval(list, 0.95)
			require.GreaterOrEqual(t, better.Low, iv.Low-0.003*share, "one pass more is never worse evidence")
			require.GreaterOrEqual(t, better.High, iv.High-0.003)
		}
	})
	for _, c := range []struct {
		list       []stat.Cluster
		confidence float64
	}{
		{nil, 0.95}, {tasks(1, 0), 0.95}, {tasks(-1, 5), 0.95}, {tasks(6, 5), 0.95}, {tasks(math.NaN(), 5), 0.95}, {tasks(1, math.NaN()), 0.95},
		{tasks(1, math.Inf(1)), 0.95}, {tasks(1, 2), 0}, {tasks(1, 2), 1}, {tasks(1, 2), math.NaN()},
	} {
		_, ok := stat.ShareInterval(c.list, c.confidence)
		require.False(t, ok, "%+v", c)
	}
}

// Floor: sort the tasks, and compute the exponents of the distinct ones 45 times.
func BenchmarkShareInterval(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	list := correlatedTasks(rng, 1000, 0.9, 0.3, func() int { return 1 + rng.IntN(30) })
	b.ReportAllocs()
	for b.Loop() {
		stat.ShareInterval(list, 0.95)
	}
}
