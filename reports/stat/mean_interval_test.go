package stat_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/reports/stat"
)

func equalTasks(n int, value float64) []stat.Cluster {
	list := make([]stat.Cluster, n)
	for i := range list {
		list[i] = stat.Cluster{Num: 3 * value, Den: 3}
	}
	return list
}

func TestMeanInterval(t *testing.T) {
	within := stat.Interval{Low: 0, High: 15}
	// All tasks are equal: the ends follow from the formula of the doc comment.
	for _, n := range []int{1, 5, 21, 300} {
		iv, ok := stat.MeanInterval(equalTasks(n, 3), within, 0.95)
		require.True(t, ok)
		root := math.Pow(0.025, 1/float64(n))
		require.InDelta(t, 3*root, iv.Low, 1e-9)
		require.InDelta(t, 3+12*(1-root), iv.High, 1e-9)
	}
	// Both ends are those of LowerBound. The upper one is the limit minus the bound of
	// the distances to the limit.
	list := []stat.Cluster{{Num: 2, Den: 1}, {Num: 9, Den: 2}, {Num: 3, Den: 1}, {Num: 14, Den: 1}, {Num: 6, Den: 3}}
	short := make([]stat.Cluster, len(list))
	for i, c := range list {
		short[i] = stat.Cluster{Num: 15*c.Den - c.Num, Den: c.Den}
	}
	iv, ok := stat.MeanInterval(list, within, 0.95)
	require.True(t, ok)
	low, _ := stat.LowerBound(list, 0, 1, 0.025)
	high, _ := stat.LowerBound(short, 0, 1, 0.025)
	require.InDelta(t, low, iv.Low, 1e-9)
	require.InDelta(t, 15-high, iv.High, 1e-9)
	// A cost of an unsolved episode counts, and widens the interval upwards.
	free, ok := stat.MeanInterval(list[:4], within, 0.95)
	require.True(t, ok)
	paid, ok := stat.MeanInterval(append(list[:4:4], stat.Cluster{Num: 5}), within, 0.95)
	require.True(t, ok)
	require.Greater(t, paid.High, free.High)

	for name, c := range map[string]struct {
		list       []stat.Cluster
		within     stat.Interval
		confidence float64
	}{
		"no clusters":         {nil, within, 0.95},
		"beyond the limit":    {equalTasks(5, 16), within, 0.95},
		"below the limit":     {equalTasks(5, -1), within, 0.95},
		"no observations":     {[]stat.Cluster{{Num: 1}}, within, 0.95},
		"negative":            {[]stat.Cluster{{Num: 1, Den: 1}, {Num: 1, Den: -1}}, within, 0.95},
		"not a number":        {[]stat.Cluster{{Num: math.NaN(), Den: 1}, {Num: 1, Den: 1}}, within, 0.95},
		"infinite":            {[]stat.Cluster{{Num: math.Inf(1), Den: 1}, {Num: 1, Den: 1}}, within, 0.95},
		"limits without room": {equalTasks(5, 0), stat.Interval{}, 0.95},
		"an infinite limit":   {equalTasks(5, 1), stat.Interval{High: math.Inf(1)}, 0.95},
		"confidence":          {equalTasks(5, 1), within, 1},
	} {
		_, ok := stat.MeanInterval(c.list, c.within, c.confidence)
		require.False(t, ok, name)
		_, ok = stat.MeanClusters(c.list, c.within, 5, c.confidence)
		require.False(t, ok, name)
	}
}

// MeanClusters returns the smallest number of copies of a cluster whose interval
// excludes the threshold.
func TestMeanClusters(t *testing.T) {
	within := stat.Interval{Low: 0, High: 15}
	for value, want := range map[float64]int{1: 11, 2: 15, 3: 21, 4: 39, 9: 7} {
		n, ok := stat.MeanClusters(equalTasks(2, value), within, 5, 0.95)
		require.True(t, ok)
		require.Equal(t, want, n, "%v steps", value)
		clear := func(n int) bool {
			iv, _ := stat.MeanInterval(equalTasks(n, value), within, 0.95)
			return iv.High <= 5 || iv.Low >= 5
		}
		require.True(t, clear(n) && !clear(n-1))
	}
	mixed := []stat.Cluster{{Num: 2, Den: 1}, {Num: 9, Den: 2}, {Num: 3, Den: 1}, {Num: 6, Den: 3}}
	n, ok := stat.MeanClusters(mixed, within, 5, 0.95)
	require.True(t, ok)
	clear := func(copies int) bool {
		var list []stat.Cluster
		for range copies {
			list = append(list, mixed...)
		}
		iv, _ := stat.MeanInterval(list, within, 0.95)
		return iv.High <= 5
	}
	require.True(t, clear((n+3)/4) && !clear((n-1)/4), "%d", n)
	_, ok = stat.MeanClusters(equalTasks(4, 5), within, 5, 0.95)
	require.False(t, ok, "at the threshold")
}

// For any clusters, the interval contains the mean and is within the limits. More
// copies of the same clusters narrow it.
func TestMeanIntervalIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []stat.Cluster
		num, den := 0.0, 0.0
		for range rapid.IntRange(1, 40).Draw(t, "n") {
			d := float64(rapid.IntRange(1, 9).Draw(t, "den"))
			c := stat.Cluster{Num: d * rapid.Float64Range(-2, 7).Draw(t, "value"), Den: d}
			list, num, den = append(list, c), num+c.Num, den+c.Den
		}
		iv, ok := stat.MeanInterval(list, stat.Interval{Low: -2, High: 7}, 0.95)
		require.True(t, ok)
		require.True(t, -2-1e-9 <= iv.Low && iv.Low <= num/den+1e-9 && num/den-1e-9 <= iv.High && iv.High <= 7+1e-9, "%v of %v", iv, num/den)
		twice, ok := stat.MeanInterval(append(list, list...), stat.Interval{Low: -2, High: 7}, 0.95)
		require.True(t, ok)
		require.True(t, twice.Low >= iv.Low-1e-6 && twice.High <= iv.High+1e-6, "%v, twice %v", iv, twice)
	})
}
