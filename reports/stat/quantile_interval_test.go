package stat_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

// ladder returns the values 1…n, each in a separate cluster.
func ladder(n int) (list []stat.Observation) {
	for i := range n {
		list = append(list, stat.Observation{Cluster: strconv.Itoa(i), Value: float64(i + 1)})
	}
	return list
}

// For odd n, (n+1)/2 of n values are at most the middle one. With p' that share, its
// standard error is √(p'(1−p')/(n−1)), which gives the effective size. Counting up then
// finds the ranks, with the incomplete beta function as a sum of terms.
func TestQuantileIntervalByCounting(t *testing.T) {
	for _, n := range []int{15, 27, 41, 61, 83, 101} {
		iv, ok := stat.QuantileInterval(ladder(n), 0.5, 0.95)
		require.True(t, ok)
		share := float64(n+1) / 2 / float64(n)
		ratio := 1.959963984540054 / stat.TQuantile(0.975, float64(n-1))
		size := min(0.25/(share*(1-share)/float64(n-1)), float64(n)) * ratio * ratio
		atMost := func(r float64) float64 { // the probability of at most r heads of size fair coins
			const steps = 10_000
			part, all := 0.0, 0.0
			for i := range steps {
				x := (float64(i) + 0.5) / steps
				d := math.Pow(x, size-r-1) * math.Pow(1-x, r)
				all += d
				if x < 0.5 {
					part += d
				}
			}
			return part / all
		}
		low := 0
		for atMost(float64(low+1)/float64(n)*size) <= 0.025 {
			low++
		}
		require.Equal(t, stat.Interval{Low: float64(low + 1), High: float64(n - low)}, iv, "of %d", n)
	}
}

func TestQuantileInterval(t *testing.T) {
	for _, c := range []struct {
		name          string
		obs           []stat.Observation
		p, confidence float64
		ok            bool
	}{
		{"nothing", nil, 0.5, 0.95, false},
		{"one cluster", obs("a", 1, "a", 2, "a", 3, "a", 4, "a", 5, "a", 6, "a", 7, "a", 8), 0.5, 0.5, false},
		{"not a number", append(ladder(20), obs("x", math.NaN())...), 0.5, 0.95, false},
		{"too few beyond", ladder(60), 0.95, 0.95, false},
		{"enough beyond", ladder(100), 0.95, 0.95, true},
		{"too few below", ladder(60), 0.05, 0.95, false},
		{"p of 1", ladder(20), 1, 0.95, false},
		{"confidence of 1", ladder(20), 0.5, 1, false},
		{"median of ten", ladder(10), 0.5, 0.95, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ok := stat.QuantileInterval(c.obs, c.p, c.confidence)
			require.Equal(t, c.ok, ok)
		})
	}
	// Eight trials that repeat one another add no information; eight independent ones
	// do.
	single, _ := stat.QuantileInterval(ladder(100), 0.9, 0.95)
	var repeated []stat.Observation
	for range 8 {
		repeated = append(repeated, ladder(100)...)
	}
	again, ok := stat.QuantileInterval(repeated, 0.9, 0.95)
	require.True(t, ok)
	require.InDelta(t, single.Low, again.Low, 1)
	require.InDelta(t, single.High, again.High, 1)
	for i := range repeated {
		repeated[i].Cluster = strconv.Itoa(i * 37 % 100) // now each task has values from the whole range
		repeated[i].Value = float64(i*61%800) / 8
	}
	free, ok := stat.QuantileInterval(repeated, 0.9, 0.95)
	require.True(t, ok)
	require.Less(t, free.High-free.Low, (single.High-single.Low)*0.6)
	wide, _ := stat.QuantileInterval(ladder(100), 0.9, 0.8)
	require.True(t, single.Low <= wide.Low && wide.High <= single.High, "less confidence, a narrower interval")
}
