package stat_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

// Both are checked against a count over every subset of k trials, and the definition by
// binomial coefficients.
func TestPassAgainstSubsets(t *testing.T) {
	for n := 1; n <= 11; n++ {
		for passed := 0; passed <= n; passed++ {
			for k := 1; k <= n; k++ {
				subsets, some, all := 0, 0, 0
				for set := uint(0); set < 1<<n; set++ {
					if bits.OnesCount(set) != k {
						continue
					}
					subsets++
					switch bits.OnesCount(set & (1<<passed - 1)) { // the first ones passed
					case 0:
					case k:
						all++
						some++
					default:
						some++
					}
				}
				task := stat.Trials{Passed: passed, N: n}
				at, ok := task.PassAt(k)
				require.True(t, ok)
				require.InDelta(t, float64(some)/float64(subsets), at, 1e-12, "%+v, %d", task, k)
				every, ok := task.PassAll(k)
				require.True(t, ok)
				require.InDelta(t, float64(all)/float64(subsets), every, 1e-12, "%+v, %d", task, k)
				want, _ := choose(passed, k).Quo(choose(passed, k), choose(n, k)).Float64()
				require.InDelta(t, want, every, 1e-12)
			}
		}
	}
}

// The estimates are unbiased: with true share p, they average p^k and 1 − (1−p)^k over
// the binomial distribution of passes.
func TestPassUnbiased(t *testing.T) {
	const n, p = 12, 0.3
	for k := 1; k <= n; k++ {
		at, all, weight := 0.0, 0.0, math.Pow(1-p, n)
		for passed := 0; passed <= n; passed++ {
			a, _ := stat.Trials{Passed: passed, N: n}.PassAt(k)
			b, _ := stat.Trials{Passed: passed, N: n}.PassAll(k)
			at += weight * a
			all += weight * b
			weight *= float64(n-passed) / float64(passed+1) * p / (1 - p)
		}
		require.InDelta(t, 1-math.Pow(1-p, float64(k)), at, 1e-12)
		require.InDelta(t, math.Pow(p, float64(k)), all, 1e-12)
	}
}

func TestPassRefuses(t *testing.T) {
	for _, c := range []struct {
		task stat.Trials
		k    int
	}{{stat.Trials{Passed: 1, N: 3}, 0}, {stat.Trials{Passed: 1, N: 3}, 4}, {stat.Trials{Passed: 4, N: 3}, 1}, {stat.Trials{Passed: -1, N: 3}, 1}, {stat.Trials{}, 1}} {
		_, ok := c.task.PassAt(c.k)
		require.False(t, ok, "%+v", c)
		_, ok = c.task.PassAll(c.k)
		require.False(t, ok, "%+v", c)
	}
}

// By hand, k = 2: the tasks have 4/4, 2/4 and 0/4 passes, and one of a single trial is
// excluded. At least one of two passes with 1, 1 − 1/6 and 0, both with 1, 1/6 and 0.
// All tasks have the same weight.
func TestPassesOfTasks(t *testing.T) {
	tasks := []stat.Trials{{Passed: 4, N: 4}, {Passed: 2, N: 4}, {Passed: 0, N: 4}, {Passed: 1, N: 1}}
	for _, c := range []struct {
		name   string
		passes func([]stat.Trials, int) []stat.Cluster
		each   []float64
	}{
		{"at", stat.PassesAt, []float64{1, 5.0 / 6, 0}},
		{"all", stat.PassesAll, []float64{1, 1.0 / 6, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.passes(tasks, 2)
			require.Len(t, got, 3)
			for i, want := range c.each {
				require.InDelta(t, want, got[i].Num, 1e-12)
				require.Equal(t, 1.0, got[i].Den)
			}
			require.Empty(t, c.passes(tasks, 5))
			require.Empty(t, c.passes(nil, 1))
		})
	}
}
