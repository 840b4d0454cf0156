package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

func TestLogBins(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		from   []float64 // the lower ends of the bins; n counts the values of each
		n      []int
	}{
		{"none", nil, []float64{}, []int{}},
		{"nothing takes time", []float64{0, 0, 0.5}, []float64{1}, []int{3}},
		{"negative is least", []float64{-5, 1}, []float64{1}, []int{2}},
		{"an edge begins a bin", []float64{999.999, 1000, 1000}, []float64{math.Pow(10, 35.0/12), 1000}, []int{1, 2}},
		{"off the scale is most", []float64{1e14, math.Inf(1)}, []float64{math.Pow(10, 143.0/12)}, []int{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, n := []float64{}, []int{}
			for _, b := range logBins(c.values) {
				from, n = append(from, b.From), append(n, b.N)
				require.InDelta(t, math.Pow(10, 1.0/12), b.To/b.From, 1e-12)
			}
			require.InDeltaSlice(t, c.from, from, 1e-6)
			require.Equal(t, c.n, n)
		})
	}
}

// The reference puts each value into its bin separately.
func TestLogBinsHoldEveryValueOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var values []float64
	for range 5000 {
		values = append(values, math.Exp(rng.NormFloat64()*4+12))
	}
	slices.Sort(values)
	bins := logBins(values)
	require.LessOrEqual(t, len(bins), maxBins)
	for _, b := range bins {
		n := 0
		for _, v := range values {
			if (v >= b.From || b.From == 1) && v < b.To {
				n++
			}
		}
		require.Equal(t, n, b.N)
	}
}

// As in Latency, turns without a reply and turns of episodes without a result are
// excluded. So are turns that do not report their first token.
func TestTTFT(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(1, "t", true, 4, func(_ *ledger.Episode, turns []ledger.Turn) {
		for i, us := range []int64{100, 300, 900} {
			turns[i].TTFTUs, turns[i].DurationUs = new(us), new(10*us)
		}
		turns[2].ErrorKind = "timeout"
	})
	w.Add(1, "t", false, 1, func(e *ledger.Episode, turns []ledger.Turn) { e.InfraError, turns[0].TTFTUs = true, new(int64(7)) })
	m := build(w.M, w.Rows).Candidates[0].Metrics
	require.Equal(t, &Spread{P5: 110, P25: 150, P50: 200, P75: 250, P95: 290}, m.TTFT)
	require.Len(t, m.TTFTBins, 2)
	require.Equal(t, 3, m.Turns)
	n := 0
	for _, b := range m.LatencyBins {
		n += b.N
	}
	require.Equal(t, 3, n)
	none := build(manifest.Manifest{}, ledger.Rows{})
	require.Empty(t, none.Candidates)
	w = reporttest.NewWorld("a")
	w.Add(1, "t", true, 1, nil)
	m = build(w.M, w.Rows).Candidates[0].Metrics
	require.Nil(t, m.TTFT)
	require.Empty(t, m.TTFTBins)
}
