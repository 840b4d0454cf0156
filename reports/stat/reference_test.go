package stat_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// The expected values of these tests were computed with other software, by
//
//	python3 testdata/reference.py
//
// with scipy 1.10.1 and statsmodels 0.13.5. Gaffke's bound and Woodruff's ranks are
// exceptions: that script computes them itself, in 60 digits and by trying every rank.

// The reference is statsmodels' multipletests, for 25 p-values.
func TestAdjustAgainstStatsmodels(t *testing.T) {
	p := []float64{0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216, 0.222, 0.251, 0.269, 0.275, 0.34, 0.341, 0.384, 0.569, 0.594, 0.696, 0.762, 0.94, 0.942, 0.975, 0.986}
	holm, err := multiple.Holm(p)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.025, 0.192, 0.897, 0.902, 0.902, 1}, holm[:6], 1e-11)
	bh, err := multiple.BenjaminiHochberg(p)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{
		0.025, 0.1, 0.21, 0.21, 0.21, 0.25, 0.264285714286, 0.491071428571, 0.491071428571, 0.491071428571, 0.491071428571, 0.491071428571, 0.491071428571,
		0.491071428571, 0.5328125, 0.5328125, 0.564705882353, 0.781578947368, 0.781578947368, 0.87, 0.907142857143, 0.986, 0.986, 0.986, 0.986,
	}, bh, 1e-11)
}

// The reference is statsmodels' mcnemar(exact=True), two-sided.
func TestMcNemarAgainstStatsmodels(t *testing.T) {
	for c, want := range map[[2]int]float64{{0, 6}: 0.03125, {3, 12}: 0.03515625, {39, 38}: 1, {120, 161}: 0.0168692963401} {
		p, ok := stat.McNemar(c[0], c[1])
		require.True(t, ok)
		require.InDelta(t, want, p, 1e-11, "%v", c)
	}
}

// The reference is statsmodels' OLS on a constant with cov_type="cluster".
func TestClusterMeanAgainstStatsmodels(t *testing.T) {
	values := []float64{1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0.5, 2.5}
	var list []stat.Observation
	sums := make([]stat.Cluster, 6)
	for i, g := range []int{0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4, 4, 4, 5} {
		list = append(list, stat.Observation{Cluster: strconv.Itoa(g), Value: values[i]})
		sums[g].Num, sums[g].Den = sums[g].Num+values[i], sums[g].Den+1
	}
	m, ok := stat.ClusterMean(list)
	require.True(t, ok)
	r, ok := stat.ClusterRatio(sums)
	require.True(t, ok)
	for _, m := range []stat.Mean{m, r} {
		require.InDelta(t, 0.785714285714, m.Value, 1e-11)
		require.InDelta(t, 0.180759193074, m.SE, 1e-11)
	}
}

// The reference is scipy's permutation_test of paired samples, over all 2^12 sign
// patterns.
func TestPairedPermutationAgainstScipy(t *testing.T) {
	var list []stat.Observation
	for i, v := range []float64{12, -3, 7, 0.5, 4, -1.25, 9, 2, -6, 3.5, 1, 8} {
		list = append(list, stat.Observation{Cluster: strconv.Itoa(i), Value: v})
	}
	p, ok := stat.PairedPermutation(list)
	require.True(t, ok && p.Exact)
	require.InDelta(t, 0.07177734375, p.P, 1e-15)
}

// The reference for Gaffke's bound is the distribution of a sum of weighted
// exponentials, in partial fractions of 60 digits. The saddlepoint must agree within 1%
// of the distance.
func TestLowerBoundAgainstPartialFractions(t *testing.T) {
	var list []stat.Cluster
	sum := 0.0
	for _, v := range []float64{0.91, -0.32, 0.13, 0.05, 0.77, 0.4, 0.25, -0.08, 0.61, 0.5, 0.34, 0.02} {
		list, sum = append(list, stat.Cluster{Num: v, Den: 1}), sum+v
	}
	for alpha, want := range map[float64]float64{0.05: -0.0262064195714, 0.025: -0.0810669834706, 0.005: -0.196442777997} {
		bound, ok := stat.LowerBound(list, -1, 1, alpha)
		require.True(t, ok)
		require.InDelta(t, want, bound, 0.01*(sum/12-want), "%v", alpha)
	}
	sizes := tasks(2.5, 3, 3, 4, 1.75, 2, 6, 7, 4.5, 9, 0.5, 1)
	bound, ok := stat.LowerBound(sizes, 0, 1, 0.025)
	require.True(t, ok)
	require.InDelta(t, 0.360595920073, bound, 0.01*(18.25/26-bound))
	iv, ok := stat.ShareInterval(sizes, 0.95)
	require.True(t, ok)
	require.Equal(t, bound, iv.Low)
}

// The reference for Woodruff's interval has 90 skewed values in 30 clusters;
// statsmodels gives the error of the share below the quantile.
func TestQuantileIntervalAgainstStatsmodels(t *testing.T) {
	values := []float64{
		3.4028, 1.5532, 0.4695, 1.0012, 0.1733, 2.7724, 0.9754, 1.5356, 3.0216, 1.4037, 0.1834, 1.3659, 0.8879, 1.0322, 0.1705, 6.0802, 5.1651, 0.6489, 0.1563, 0.0238,
		0.6695, 0.3138, 1.9271, 0.1265, 1.1263, 0.0654, 0.0381, 0.5475, 0.7421, 0.0913, 1.9362, 0.8313, 0.3197, 0.2417, 1.5597, 0.2157, 4.0045, 0.7503, 0.655, 0.7618,
		0.6428, 0.2086, 1.4466, 0.7968, 2.8884, 0.1028, 4.9527, 0.6169, 0.1245, 0.1437, 0.3042, 1.3739, 0.2316, 0.3426, 1.2947, 3.6349, 6.267, 9.3778, 3.7079, 0.7598,
		4.707, 0.6017, 1.2454, 0.4105, 2.0261, 2.5569, 3.381, 3.8422, 1.9293, 1.8108, 0.4821, 4.8856, 1.2158, 0.3621, 0.318, 0.6126, 0.3494, 2.4058, 2.3567, 0.6619,
		3.1527, 0.4742, 0.8536, 1.8182, 1.1138, 0.3497, 0.2978, 0.1896, 0.1523, 1.6721,
	}
	var list []stat.Observation
	for cluster := range 30 {
		for range 1 + cluster%5 {
			list = append(list, stat.Observation{Cluster: strconv.Itoa(cluster), Value: values[len(list)]})
		}
	}
	require.Len(t, list, len(values))
	for p, want := range map[float64]stat.Interval{0.5: {Low: 0.6126, High: 1.3659}, 0.9: {Low: 2.7724, High: 6.0802}} {
		iv, ok := stat.QuantileInterval(list, p, 0.95)
		require.True(t, ok)
		require.Equal(t, want, iv, "%v", p)
	}
}
