package stat_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/calibration"
)

// From the table of Student's t, two-sided 95%: 12.706, 4.303, 2.776, 2.228, 2.042,
// 1.980.
func TestTQuantile(t *testing.T) {
	for df, want := range map[float64]float64{1: 12.7062, 2: 4.30265, 4: 2.77645, 10: 2.22814, 30: 2.04227, 120: 1.97993} {
		require.InDelta(t, want, stat.TQuantile(0.975, df), 6e-5, "df %v", df)
		require.InDelta(t, -want, stat.TQuantile(0.025, df), 6e-5, "df %v", df)
	}
	// The closed forms: df 1 is Cauchy, tan(π(p−½)); df 2 is (2p−1)/√(2p(1−p)).
	for _, p := range []float64{0.6, 0.9, 0.975, 0.999} {
		require.InEpsilon(t, math.Tan(math.Pi*(p-0.5)), stat.TQuantile(p, 1), 1e-9)
		require.InEpsilon(t, (2*p-1)/math.Sqrt(2*p*(1-p)), stat.TQuantile(p, 2), 1e-9)
	}
	for _, p := range []float64{0.025, 0.6, 0.975, 0.999} { // where the two methods meet, and far out
		require.InDelta(t, stat.TQuantile(p, 1e5), stat.TQuantile(p, 1e5+1), 1e-9)
		require.InDelta(t, distuv.StudentsT{Sigma: 1, Nu: 5e5}.Quantile(p), stat.TQuantile(p, 5e5), 1e-9)
		require.InDelta(t, math.Sqrt2*math.Erfinv(2*p-1), stat.TQuantile(p, 1e15), 1e-12)
	}
	for _, c := range [][2]float64{{0, 3}, {1, 3}, {0.5, 0}, {math.NaN(), 3}, {0.5, -1}} {
		require.True(t, math.IsNaN(stat.TQuantile(c[0], c[1])), "%v", c)
	}
}

// By hand: the tasks a {1,3}, b {5,5}, c {2,2} have mean 3, residual sums −2, 4, −2 and
// squares 24. SE² = 3/2·24/36 = 1, so SE = 1; t(0.975, 2) = 4.302653.
func TestClusterMeanByHand(t *testing.T) {
	m, ok := stat.ClusterMean(obs("a", 1, "b", 5, "a", 3, "c", 2, "b", 5, "c", 2))
	require.True(t, ok)
	require.Equal(t, stat.Mean{Value: 3, SE: 1, N: 6, Clusters: 3}, m)
	iv, ok := m.Interval(0.95)
	require.True(t, ok)
	require.InDelta(t, 3-4.302653, iv.Low, 1e-6)
	require.InDelta(t, 3+4.302653, iv.High, 1e-6)
}

func TestClusterMeanDegenerate(t *testing.T) {
	for _, c := range []struct {
		name     string
		obs      []stat.Observation
		ok, band bool
		want     stat.Mean
	}{
		{"nothing", nil, false, false, stat.Mean{}},
		{"not a number", obs("a", math.NaN()), false, false, stat.Mean{}},
		{"infinite", obs("a", 1.0, "b", math.Inf(1)), false, false, stat.Mean{}},
		{"one cluster", obs("a", 1, "a", 3), true, false, stat.Mean{Value: 2, N: 2, Clusters: 1}},
		{"all equal", obs("a", 4, "b", 4), true, true, stat.Mean{Value: 4, N: 2, Clusters: 2}},
		{"spread only within", obs("a", 1, "a", 3, "b", 1, "b", 3), true, true, stat.Mean{Value: 2, N: 4, Clusters: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, ok := stat.ClusterMean(c.obs)
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.want, m)
			iv, band := m.Interval(0.95)
			require.Equal(t, c.band, band)
			if band {
				require.Equal(t, stat.Interval{Low: c.want.Value, High: c.want.Value}, iv)
			}
		})
	}
}

// Thirty times 0.1 does not add up to exactly 3, nor do the residuals to 0. The result
// must not be an interval of width 0 around a mean other than 0.1, or a p-value of 0.
func TestClusterMeanRounding(t *testing.T) {
	var list []stat.Observation
	for i := range 30 {
		list = append(list, stat.Observation{Cluster: strconv.Itoa(i % 6), Value: 0.1})
	}
	m, ok := stat.ClusterMean(list)
	require.True(t, ok)
	require.NotEqual(t, 0.1, m.Value, "or this tests nothing")
	require.Zero(t, m.SE)
	_, ok = stat.ClusterMean(obs("a", 1e200, "b", 1.0))
	require.False(t, ok, "its square is not a finite number")
}

// A simple second implementation checks the result: the ordinary standard error if
// every cluster has one observation, and the sandwich estimator as a double loop
// otherwise.
func TestClusterMeanAgainstDoubleLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var list []stat.Observation
		for range 2 + rng.IntN(40) {
			list = append(list, stat.Observation{Cluster: strconv.Itoa(rng.IntN(9)), Value: float64(rng.IntN(12))})
		}
		list = append(list, stat.Observation{Cluster: "x", Value: 1}, stat.Observation{Cluster: "y", Value: 2})
		m, ok := stat.ClusterMean(list)
		require.True(t, ok)
		mean, pairs, names := 0.0, 0.0, map[string]bool{}
		for _, o := range list {
			mean += o.Value / float64(len(list))
			names[o.Cluster] = true
		}
		for _, a := range list {
			for _, b := range list {
				if a.Cluster == b.Cluster {
					pairs += (a.Value - mean) * (b.Value - mean)
				}
			}
		}
		g, n := float64(len(names)), float64(len(list))
		require.InDelta(t, mean, m.Value, 1e-9)
		require.InDelta(t, math.Sqrt(g/(g-1)*pairs)/n, m.SE, 1e-9)
	}
}

// R: quantile(c(1,2,4,8), c(0,.25,.5,.9,1)) is 1, 1.75, 3, 6.8, 8.
func TestQuantile(t *testing.T) {
	for p, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 3, 0.9: 6.8, 1: 8} {
		got, ok := stat.Quantile([]float64{1, 2, 4, 8}, p)
		require.True(t, ok)
		require.InDelta(t, want, got, 1e-12, "p %v", p)
	}
	one, ok := stat.Quantile([]float64{7}, 0.95)
	require.True(t, ok)
	require.Equal(t, 7.0, one)
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		_, ok := stat.Quantile([]float64{1}, p)
		require.False(t, ok)
	}
	_, ok = stat.Quantile(nil, 0.5)
	require.False(t, ok)
}

func TestQuantileAgainstPiecewiseLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		values := make([]float64, 1+rng.IntN(20))
		for i := range values {
			values[i] = rng.Float64() * 100
		}
		slices.Sort(values)
		p := rng.Float64()
		// The simple method walks the segments of the line through (i/(n−1), x_i).
		want := values[0]
		for i := 1; i < len(values); i++ {
			left, right := float64(i-1)/float64(len(values)-1), float64(i)/float64(len(values)-1)
			if p >= left && p <= right {
				want = values[i-1] + (values[i]-values[i-1])*(p-left)/(right-left)
			}
		}
		got, _ := stat.Quantile(values, p)
		require.InDelta(t, want, got, 1e-9)
	}
}

func TestCompareRatio(t *testing.T) {
	for _, c := range []struct {
		num, den int64
		t        float64
		want     int
	}{
		{95, 100, 0.95, 0}, {19, 20, 0.95, 0}, {949999, 1000000, 0.95, -1}, {950001, 1000000, 0.95, 1},
		{7, 10, 0.7, 0}, {3, 10, 0.30000000000000004, -1}, {5, 1, 5, 0}, {1, 3, 1.0 / 3, 1},
		{0, 4, 0, 0}, {1, 1, math.Inf(1), -1}, {1, 1, math.NaN(), -1}, {1, 1e15, 1e-15, 0},
	} {
		require.Equal(t, c.want, stat.CompareRatio(c.num, c.den, c.t), "%d/%d against %v", c.num, c.den, c.t)
	}
	// The simple method compares thresholds with three decimals, in thousandths.
	for num := int64(0); num <= 200; num++ {
		for thousandths := int64(900); thousandths <= 1000; thousandths += 7 {
			f, _ := big.NewRat(thousandths, 1000).Float64()
			want := big.NewInt(num * 1000).Cmp(big.NewInt(thousandths * 200))
			require.Equal(t, want, stat.CompareRatio(num, 200, f))
		}
	}
}

func TestReliability(t *testing.T) {
	bins := calibration.Reliability([]calibration.Forecast{
		{P: 0, Came: false}, {P: 0.05, Came: true}, {P: 0.1, Came: true}, {P: 0.3, Came: true},
		{P: 0.95, Came: true}, {P: 1, Came: false}, {P: 1.2}, {P: -1}, {P: math.NaN()},
	}, 10)
	require.Len(t, bins, 10)
	require.Equal(t, calibration.Bin{Low: 0, High: 0.1, N: 2, Stated: 0.025, Came: 0.5}, bins[0])
	require.Equal(t, calibration.Bin{Low: 0.1, High: 0.2, N: 1, Stated: 0.1, Came: 1}, bins[1])
	require.Equal(t, 1, bins[3].N, "0.3 belongs to [0.3, 0.4)")
	require.Equal(t, 2, bins[9].N, "1 belongs to the last bin")
	require.InDelta(t, 0.975, bins[9].Stated, 1e-15)
	require.Equal(t, 0.5, bins[9].Came)
	require.Nil(t, calibration.Reliability(nil, 0))
}

func TestReliabilityAgainstScan(t *testing.T) {
	for _, count := range []int{1, 3, 5, 7, 10, 49} {
		for i := range 1001 {
			f := calibration.Forecast{P: float64(i) / 1000}
			for b, bin := range calibration.Reliability([]calibration.Forecast{f}, count) {
				in := f.P >= bin.Low && (f.P < bin.High || b == count-1)
				require.Equal(t, in, bin.N == 1, "p %v, bin %d of %d", f.P, b, count)
			}
		}
	}
}

// (0.8−1)² + (0.8−0)² + (0.5−1)² + 0 = 0.04 + 0.64 + 0.25 + 0 = 0.93; /4 = 0.2325.
func TestBrier(t *testing.T) {
	got, ok := calibration.Brier([]calibration.Forecast{{P: .8, Came: true}, {P: .8}, {P: .5, Came: true}, {P: 1, Came: true}, {P: 7}})
	require.True(t, ok)
	require.InDelta(t, 0.2325, got, 1e-15)
	_, ok = calibration.Brier([]calibration.Forecast{{P: math.NaN()}})
	require.False(t, ok)
}

func TestHistogram(t *testing.T) {
	in := []int{3, 1, 3, 2, 3}
	require.Equal(t, []stat.Count{{Value: 1, N: 1}, {Value: 2, N: 1}, {Value: 3, N: 3}}, stat.Histogram(in))
	require.Equal(t, []int{3, 1, 3, 2, 3}, in, "the input keeps its order")
	require.Empty(t, stat.Histogram(nil))
}

// Floor: one map look-up for each observation.
func BenchmarkClusterMean(b *testing.B) {
	var list []stat.Observation
	for i := range 480 {
		list = append(list, stat.Observation{Cluster: strconv.Itoa(i % 60), Value: float64(i % 7)})
	}
	b.ReportAllocs()
	for b.Loop() {
		stat.ClusterMean(list)
	}
}

// obs returns observations from their values: cluster, value, cluster, value, …
func obs(pairs ...any) (list []stat.Observation) {
	for i := 0; i < len(pairs); i += 2 {
		v, whole := pairs[i+1].(int)
		f := float64(v)
		if !whole {
			f = pairs[i+1].(float64)
		}
		list = append(list, stat.Observation{Cluster: pairs[i].(string), Value: f})
	}
	return list
}
