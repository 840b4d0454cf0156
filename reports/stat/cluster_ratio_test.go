package stat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

func TestClusterRatio(t *testing.T) {
	// If the denominators are counts, the ratio is the mean of the observations.
	obs := []stat.Observation{{Cluster: "a", Value: 3}, {Cluster: "a", Value: 5}, {Cluster: "b", Value: 4}, {Cluster: "c", Value: 9}, {Cluster: "c", Value: 1}, {Cluster: "c", Value: 2}}
	want, ok := stat.ClusterMean(obs)
	require.True(t, ok)
	got, ok := stat.ClusterRatio([]stat.Cluster{{Num: 8, Den: 2}, {Num: 4, Den: 1}, {Num: 12, Den: 3}})
	require.True(t, ok)
	require.InDelta(t, want.Value, got.Value, 1e-12)
	require.InDelta(t, want.SE, got.SE, 1e-12)
	require.Equal(t, want.Clusters, got.Clusters)
	// By hand: ratio 6/4, residuals 1−1.5·1 and 5−1.5·3, SE² = 2/1·(0.25+0.25)/16.
	got, ok = stat.ClusterRatio([]stat.Cluster{{Num: 1, Den: 1}, {Num: 5, Den: 3}})
	require.True(t, ok)
	require.InDelta(t, 1.5, got.Value, 1e-12)
	require.InDelta(t, 0.25, got.SE, 1e-12)
	_, ok = stat.ClusterRatio([]stat.Cluster{{Num: 1}})
	require.False(t, ok)
	_, ok = stat.ClusterRatio(nil)
	require.False(t, ok)
}
