package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

// plain is a series of values of one observation each.
func plain(values ...float64) []stat.Sample {
	list := make([]stat.Sample, len(values))
	for i, v := range values {
		list[i] = stat.Sample{Value: v, Weight: 1}
	}
	return list
}

func TestChangePoints(t *testing.T) {
	share := func(k, n float64) stat.Sample { return stat.Sample{Value: k / n, Weight: n} }
	for name, c := range map[string]struct {
		series []stat.Sample
		alpha  float64
		least  int
		want   []stat.ChangePoint
	}{
		"nothing":      {nil, 0.05, 2, nil},
		"one point":    {plain(3), 0.05, 2, nil},
		"all the same": {plain(4, 4, 4, 4, 4, 4, 4, 4, 4, 4), 0.05, 2, nil},
		// The eight can stand in 8!/(4!·4!) = 70 orders that look different, and two
		// of them differ as much: this one and its mirror image.
		"four and four": {plain(0, 0, 0, 0, 1, 1, 1, 1), 0.05, 2, []stat.ChangePoint{{At: 4, After: 1, P: 2. / 70}}},
		"not at 2 %":    {plain(0, 0, 0, 0, 1, 1, 1, 1), 0.02, 2, nil},
		// 2 of 7!/(3!·4!) = 35 orders are more than 5 %.
		"seven are too few":  {plain(0, 0, 0, 1, 1, 1, 1), 0.05, 2, nil},
		"and enough at 10 %": {plain(0, 0, 0, 1, 1, 1, 1), 0.1, 2, []stat.ChangePoint{{At: 3, After: 1, P: 2. / 35}}},
		// One of eight stands at either end in a quarter of the orders.
		"a single one": {plain(0, 0, 0, 0, 0, 0, 0, 1), 0.05, 1, nil},
		// Its two neighbours are as good as it: no level lasts one point.
		"levels last":   {plain(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9, 1, 1), 0.05, 3, nil},
		"shares, as is": {[]stat.Sample{share(90, 100), share(45, 50), share(90, 100), share(9, 10), share(10, 100), share(10, 100), share(5, 50), share(1, 10)}, 0.05, 2, []stat.ChangePoint{{At: 4, Before: 0.9, After: 0.1, P: 2. / 70}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := stat.ChangePoints(c.series, c.alpha, c.least)
			require.True(t, ok)
			require.Len(t, got, len(c.want))
			for i, w := range c.want {
				require.Equal(t, w.At, got[i].At)
				require.InDelta(t, w.Before, got[i].Before, 1e-12)
				require.InDelta(t, w.After, got[i].After, 1e-12)
				require.InDelta(t, w.P, got[i].P, 1e-12)
			}
		})
	}
}

// A level that comes back, and one that goes on.
func TestChangePointsOfSeveralLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for name, c := range map[string]struct {
		levels []float64
		length []int
	}{
		"dip":                {[]float64{0.95, 0.8, 0.95}, []int{25, 8, 27}},
		"stairs":             {[]float64{2, 3, 4, 5}, []int{15, 15, 15, 15}},
		"newest end":         {[]float64{0.97, 0.88}, []int{55, 5}},
		"there, back, there": {[]float64{1, 0, 1, 0}, []int{15, 10, 20, 15}},
	} {
		t.Run(name, func(t *testing.T) {
			var series []stat.Sample
			var want []int
			for i, level := range c.levels {
				if i > 0 {
					want = append(want, len(series))
				}
				for range c.length[i] {
					series = append(series, stat.Sample{Value: level + 0.02*rng.NormFloat64(), Weight: 100 + float64(rng.IntN(20))})
				}
			}
			got, ok := stat.ChangePoints(series, 0.05, 2)
			require.True(t, ok)
			require.Len(t, got, len(want))
			for i, g := range got {
				require.Equal(t, want[i], g.At)
				require.InDelta(t, c.levels[i], g.Before, 0.02)
				require.InDelta(t, c.levels[i+1], g.After, 0.02)
				require.LessOrEqual(t, g.P, 0.05)
			}
			again, _ := stat.ChangePoints(series, 0.05, 2)
			require.Equal(t, got, again, "a series has one answer")
		})
	}
}

// Shifted, scaled and mirrored series change in the same places.
func TestChangePointsKeepUnderUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 2))
	var series, scaled []stat.Sample
	for i := range 40 {
		s := stat.Sample{Value: rng.NormFloat64() + 3*float64(i/20), Weight: 1 + rng.Float64()}
		series = append(series, s)
		scaled = append(scaled, stat.Sample{Value: 1e12 - 4096*s.Value, Weight: 512 * s.Weight})
	}
	a, _ := stat.ChangePoints(series, 0.01, 3)
	b, _ := stat.ChangePoints(scaled, 0.01, 3)
	require.Len(t, a, 1)
	require.Len(t, b, 1)
	require.Equal(t, a[0].At, b[0].At)
	require.InDelta(t, 1e12-4096*a[0].After, b[0].After, 1e-2)
}

func TestChangePointsRefuse(t *testing.T) {
	for name, series := range map[string][]stat.Sample{
		"no number":       plain(1, math.NaN(), 2),
		"infinite":        plain(1, 2, math.Inf(1)),
		"huge":            plain(1e160, -1e160, 0),
		"no weight":       {{Value: 1}},
		"negative weight": {{Value: 1, Weight: -1}, {Value: 1, Weight: 4}},
		"endless weight":  {{Value: 1, Weight: math.Inf(1)}, {Value: 1, Weight: 4}},
		"weight unknown":  {{Value: 1, Weight: math.NaN()}},
	} {
		got, ok := stat.ChangePoints(series, 0.05, 2)
		require.False(t, ok, name)
		require.Empty(t, got, name)
	}
}

// dumbCut is the first step of ChangePoints by its words alone: means and sums of
// squares of every pair of neighbouring stretches, in every order.
func dumbCut(series []stat.Sample, least int) (at int, p float64) {
	squares := func(list []stat.Sample) float64 {
		sum, weight := 0.0, 0.0
		for _, s := range list {
			sum, weight = sum+s.Weight*s.Value, weight+s.Weight
		}
		out := 0.0
		for _, s := range list {
			out += s.Weight * (s.Value - sum/weight) * (s.Value - sum/weight)
		}
		return out
	}
	best := func(list []stat.Sample) (at int, most float64) {
		for u := 2 * least; u <= len(list); u++ {
			for t := least; t <= u-least; t++ {
				if b := squares(list[:u]) - squares(list[:t]) - squares(list[t:u]); b > most+1e-12 {
					at, most = t, b
				}
			}
		}
		return at, most
	}
	at, observed := best(series)
	far, all := 0, 0
	var order func(done, rest []stat.Sample)
	order = func(done, rest []stat.Sample) {
		if len(rest) == 0 {
			all++
			if _, most := best(done); most >= observed*(1-1e-9) {
				far++
			}
			return
		}
		for i := range rest {
			left := append(append([]stat.Sample{}, rest[:i]...), rest[i+1:]...)
			order(append(append([]stat.Sample{}, done...), rest[i]), left)
		}
	}
	order(nil, series)
	return at, float64(far) / float64(all)
}

func TestChangePointsAgreeWithDumbOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 3))
	cut := 0
	for i := range 60 {
		n, least := 2+rng.IntN(5), 1+rng.IntN(2)
		var series []stat.Sample
		for k := range n {
			series = append(series, stat.Sample{Value: math.Round(2*rng.NormFloat64()) + float64(5*(2*k/n)), Weight: float64(1 + rng.IntN(3))})
		}
		at, p := dumbCut(series, least)
		// With everything allowed the first cut is kept; P is that of the whole, or a
		// part's, which is no smaller.
		got, ok := stat.ChangePoints(series, 1, least)
		require.True(t, ok)
		if at == 0 {
			require.Empty(t, got, "%d: %v", i, series)
			continue
		}
		cut++
		var found bool
		for _, c := range got {
			if c.At == at {
				found = true
				require.InDelta(t, p, c.P, 1e-12, "%d: %v", i, series)
			}
			require.GreaterOrEqual(t, c.P, p-1e-12)
		}
		require.True(t, found, "%d: %v has %v, not %d", i, series, got, at)
	}
	require.Greater(t, cut, 40)
}

// Beyond eight points orders are drawn: the estimate is close to the exact share.
func TestChangePointsByDraws(t *testing.T) {
	series := plain(1, 2, 1, 2, 1, 7, 8, 7, 8)
	// Nine points: 9!/(5!·4!) = 126 ways to part them; both ends for the four.
	got, ok := stat.ChangePoints(series, 0.05, 4)
	require.True(t, ok)
	require.Len(t, got, 1)
	require.Equal(t, 5, got[0].At)
	require.InDelta(t, 2./126, got[0].P, 0.005)
}
