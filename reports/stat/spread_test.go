package stat_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

// By hand: the clusters {1,3}, {5,5}, {2,2} have mean 3. The sum of squares between
// them is 2(1+4+1) = 12, 6 for each degree of freedom; within them it is 2, 2/3 each.
// With size 2, shared is (6 − 2/3)/2 = 8/3, and all is 10/3.
func TestSpreadByHand(t *testing.T) {
	sd, icc, ok := stat.Spread(obs("a", 1, "b", 5, "a", 3, "c", 2, "b", 5, "c", 2))
	require.True(t, ok)
	require.InDelta(t, math.Sqrt(10.0/3), sd, 1e-12)
	require.InDelta(t, 0.8, icc, 1e-12)
	for _, c := range []struct {
		name    string
		obs     []stat.Observation
		sd, icc float64
		ok      bool
	}{
		{"nothing", nil, 0, 0, false},
		{"one cluster", obs("a", 1, "a", 2), 0, 0, false},
		{"constant", obs("a", 1, "a", 1, "b", 1), 0, 0, true},
		{"one each", obs("a", 1, "b", 3), math.Sqrt2, 1, true},
		// The mean is 3.5. Between clusters it is 3·1.5² + 4.5² = 27, within them 2
		// over 2. The size is 4 − 10/4 = 1.5, so shared is 26/1.5 = 52/3 and all is
		// 55/3.
		{"unequal", obs("a", 1, "a", 3, "a", 2, "b", 8), math.Sqrt(55.0 / 3), 52.0 / 55, true},
		{"spread only within", obs("a", 0, "a", 1, "b", 0, "b", 1), math.Sqrt(0.5), 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sd, icc, ok := stat.Spread(c.obs)
			require.Equal(t, c.ok, ok)
			require.InDelta(t, c.sd, sd, 1e-12)
			require.InDelta(t, c.icc, icc, 1e-12)
		})
	}
}

// Clusters of unequal size are drawn with known variances: 4 between, 9 within.
func TestSpreadRecovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var list []stat.Observation
	for g := range 4000 {
		shared := 2 * rng.NormFloat64()
		for range 1 + g%5 {
			list = append(list, stat.Observation{Cluster: strconv.Itoa(g), Value: 7 + shared + 3*rng.NormFloat64()})
		}
	}
	sd, icc, ok := stat.Spread(list)
	require.True(t, ok)
	require.InDelta(t, math.Sqrt(13), sd, 0.06)
	require.InDelta(t, 4.0/13, icc, 0.03)
}

func TestMeanP(t *testing.T) {
	m := stat.Mean{Value: 3, SE: 1, N: 6, Clusters: 3}
	p, ok := m.P(0)
	require.True(t, ok)
	require.InDelta(t, 1-3/math.Sqrt(11), p, 1e-9) // df 2: 1 − t/√(t²+2)
	p, _ = m.P(3)
	require.Equal(t, 1.0, p)
	iv, _ := m.Interval(0.9)
	for _, end := range []float64{iv.Low, iv.High} { // the ends of the interval are the values that the test just rejects
		p, _ = m.P(end)
		require.InDelta(t, 0.1, p, 1e-9)
	}
	for _, none := range []stat.Mean{{Value: 1, N: 4, Clusters: 4}, {Value: 1, SE: 1, N: 4, Clusters: 1}} {
		_, ok = none.P(0)
		require.False(t, ok)
	}
	_, ok = m.P(math.NaN())
	require.False(t, ok)
}

func TestPairedShareInterval(t *testing.T) {
	still := func(clusters int) stat.Mean { return stat.Mean{N: 8 * clusters, Clusters: clusters} }
	for _, c := range []struct {
		name      string
		m         stat.Mean
		low, high float64
	}{
		{"spread", stat.Mean{Value: -0.01, SE: 0.02, N: 480, Clusters: 60}, -0.01 - 1.6710930*0.02, -0.01 + 1.6710930*0.02}, // t(0.95, 59) = 1.671
		{"no change in 59", still(59), -(1 - math.Pow(0.05, 1.0/59)), 1 - math.Pow(0.05, 1.0/59)},
		{"no change in two", still(2), -(1 - math.Sqrt(0.05)), 1 - math.Sqrt(0.05)},
		{"all broken", stat.Mean{Value: -1, N: 9, Clusters: 9}, -1, -1 + 2*(1-math.Pow(0.05, 1.0/9))},
	} {
		t.Run(c.name, func(t *testing.T) {
			iv, ok := c.m.ShareInterval(0.9)
			require.True(t, ok)
			require.InDelta(t, c.low, iv.Low, 1e-6)
			require.InDelta(t, c.high, iv.High, 1e-6)
		})
	}
	for _, confidence := range []float64{0, 1, math.NaN()} {
		_, ok := still(60).ShareInterval(confidence)
		require.False(t, ok, "%v", confidence)
	}
	_, ok := stat.Mean{N: 8, Clusters: 1}.ShareInterval(0.9)
	require.False(t, ok)
}
