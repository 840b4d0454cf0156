package level

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
)

// noisy returns a series of first-order autoregressive noise of standard deviation 1,
// with the given number of readings at each level.
func noisy(rng *rand.Rand, phi float64, levels []float64, lengths ...int) (series []Reading) {
	u := rng.NormFloat64()
	for i, level := range levels {
		for range lengths[i] {
			series = append(series, Reading{Value: level + u, Spread: 0.1})
			u = phi*u + math.Sqrt(1-phi*phi)*rng.NormFloat64()
		}
	}
	return series
}

func readings(values ...float64) (series []Reading) {
	for _, v := range values {
		series = append(series, Reading{Value: v, Spread: 0.1})
	}
	return series
}

func always(nights float64) func(int) float64 { return func(int) float64 { return nights } }

func TestShifts(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	outlier := noisy(rng, 0, []float64{0}, 40)
	outlier[25].Value = 1e9
	short := noisy(rng, 0, []float64{0}, 40) // a nightly run that was interrupted
	short[25] = Reading{Value: 9, Spread: 3}
	short[26] = Reading{Value: 9, Spread: 3}
	for name, c := range map[string]struct {
		series []Reading
		want   []int
	}{
		"nothing":          {nil, nil},
		"one":              {readings(3), nil},
		"constant":         {readings(make([]float64, 60)...), nil},
		"no change":        {noisy(rng, 0, []float64{0}, 60), nil},
		"a loss":           {noisy(rng, 0, []float64{0, -8}, 30, 10), []int{30}},
		"a gain":           {noisy(rng, 0.5, []float64{0, 8}, 30, 10), []int{30}},
		"a dip":            {noisy(rng, 0, []float64{0, -8, 0}, 30, 8, 20), []int{30, 38}},
		"stairs":           {noisy(rng, 0, []float64{0, 6, 12, 18}, 20, 20, 20, 20), []int{20, 40, 60}},
		"one night off":    {outlier, nil},
		"two short nights": {short, nil},
		"too few":          {noisy(rng, 0, []float64{0, -20}, 5, 6), nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := Shifts(c.series, always(1000))
			require.True(t, ok)
			var at []int
			for _, s := range got {
				at = append(at, s.At)
				require.GreaterOrEqual(t, s.Score, s.Limit)
				require.InDelta(t, levelLimit(1000), s.Limit, 1e-12)
				require.Less(t, s.At, s.Detected)
				require.LessOrEqual(t, s.Detected, s.At+5)
			}
			require.Equal(t, c.want, at)
		})
	}
}

// The first alarm is possible at the twelfth reading: ten of the old level and two of
// the new one.
func TestFirstAlarm(t *testing.T) {
	first := math.MaxInt
	rng := rand.New(rand.NewPCG(61, 2))
	for range 200 {
		got, _ := Shifts(noisy(rng, 0, []float64{0, -50}, 10, 4), always(20))
		for _, s := range got {
			first = min(first, s.Detected+1)
		}
	}
	require.Equal(t, 12, first)
}

// Later nights do not change the result for earlier ones: the changes in a longer
// series include those in a shorter one.
func TestShiftsGoForward(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 3))
	several := 0
	for range 40 {
		series := noisy(rng, 0.3, []float64{0, 5, 1, -4}, 12+rng.IntN(20), 3+rng.IntN(20), 5+rng.IntN(20), 20)
		all, _ := Shifts(series, always(300))
		if len(all) > 1 {
			several++
		}
		for n := range series {
			var want []Shift
			for _, s := range all {
				if s.Detected < n {
					want = append(want, s)
				}
			}
			got, ok := Shifts(series[:n], always(300))
			require.True(t, ok)
			require.Equal(t, want, got, "%d nights", n)
		}
		for i := 1; i < len(all); i++ {
			require.Greater(t, all[i].At, all[i-1].At)
			require.Greater(t, all[i].Detected, all[i-1].Detected)
		}
	}
	require.Greater(t, several, 20)
}

// Another unit, zero or direction does not change the result.
func TestShiftsKeepUnderUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 4))
	series := noisy(rng, 0.5, []float64{0, -6, 2}, 30, 20, 20)
	want, _ := Shifts(series, always(500))
	require.Len(t, want, 2)
	for i := range series {
		series[i] = Reading{Value: 1e6 - 4096*series[i].Value, Spread: 4096 * series[i].Spread}
	}
	got, _ := Shifts(series, always(500))
	require.Len(t, got, 2)
	for i := range want {
		require.Equal(t, want[i].At, got[i].At)
		require.Equal(t, want[i].Detected, got[i].Detected)
		require.InDelta(t, want[i].Score, got[i].Score, 1e-6)
	}
}

func TestShiftsRefuse(t *testing.T) {
	for name, r := range map[string]Reading{
		"no number": {math.NaN(), 1}, "infinite": {math.Inf(1), 1}, "huge": {1e101, 1}, "no spread": {0, 0}, "negative spread": {0, -1},
		"tiny spread": {0, 1e-200}, "infinite spread": {0, math.Inf(1)}, "spread unknown": {0, math.NaN()},
	} {
		got, ok := Shifts(append(readings(1, 2), r), always(200))
		require.False(t, ok, name)
		require.Empty(t, got, name)
	}
	for _, nights := range []float64{0, -1, math.NaN(), math.Inf(1)} { // not a number of nights
		require.False(t, levelLimit(nights) < levelLow, nights)
	}
}

// Values at the ends of the accepted range do not produce a score of NaN.
func FuzzShifts(f *testing.F) {
	f.Add(uint64(1), 1.0, 0.0, 0.1)
	f.Add(uint64(2), 1e100, -1e100, 1e-100)
	f.Add(uint64(3), 1e-300, 1e90, 1e100)
	f.Fuzz(func(t *testing.T, seed uint64, scale, jump, spread float64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var series []Reading
		for i := range 50 {
			series = append(series, Reading{scale*rng.NormFloat64() + jump*float64(i/20%2), spread})
		}
		got, _ := Shifts(series, always(200))
		for _, s := range got {
			require.True(t, s.Score >= s.Limit && s.Score < 1e3 && 0 < s.At && s.At < s.Detected && s.Detected < len(series), "%+v", s)
		}
	})
}

// plainAR1 computes lagged.ar1 by its definition, from the levels themselves.
func plainAR1(levels [][]float64, spread float64) (phi, sigma, df float64) {
	var earlier, later []float64
	for _, level := range levels {
		mean := 0.0
		for _, v := range level {
			mean += v / float64(len(level))
		}
		for i := 1; i < len(level); i++ {
			earlier, later = append(earlier, level[i-1]-mean), append(later, level[i]-mean)
		}
	}
	products, squares := 0.0, 0.0
	for i := range later {
		products += earlier[i] * later[i]
		squares += (earlier[i]*earlier[i] + later[i]*later[i]) / 2
	}
	if squares > 0 {
		phi = products / squares
	}
	n := float64(len(later) + len(levels))
	phi += float64(len(levels)) * (1 + 3*phi) / n
	if phi*phi < 1 {
		phi += math.Sqrt((1 - phi*phi) / n)
	}
	phi = min(0.9, max(0, phi))
	rest := 2 * spread * spread
	for i := range later {
		e := later[i] - phi*earlier[i]
		rest += e * e
	}
	df = float64(len(later) - len(levels) - 1)
	return phi, math.Sqrt(rest / df), df
}

// plainShifts computes Shifts by its definition. It keeps no sums, and adds everything
// up again.
func plainShifts(series []Reading, nights float64) (shifts []Shift) {
	var levels [][]float64
	from, first, known := 0, 10, -1
	mean := func(list []float64) (m float64) {
		for _, v := range list {
			m += v / float64(len(list))
		}
		return m
	}
	for t := 0; t < len(series); t++ {
		var cleaned []float64
		var spreads []float64
		for i := from; i <= t; i++ {
			v, r := series[i].Value, series[i]
			if i > from {
				prediction, most := mean(cleaned), math.Inf(1)
				phi, sigma, df := plainAR1(append(levels[:len(levels):len(levels)], cleaned), mean(spreads))
				if df >= 1 {
					prediction += phi * (cleaned[len(cleaned)-1] - prediction)
					most = sigma * studentOf(3, df)
				}
				off := v - prediction
				if r.Spread > mean(spreads) {
					off *= mean(spreads) / r.Spread
				}
				v = prediction + math.Copysign(min(math.Abs(off), most), off)
			}
			cleaned, spreads = append(cleaned, v), append(spreads, r.Spread)
		}
		if t <= known {
			continue
		}
		best := Shift{Detected: t, Limit: levelLimit(nights)}
		for k := first; k+2 <= len(cleaned); k++ {
			if len(cleaned)-k > 30 {
				continue
			}
			before, after := cleaned[:k], cleaned[k:]
			phi, sigma, df := plainAR1(append(levels[:len(levels):len(levels)], before, after), mean(spreads))
			sum, last := 0.0, before[k-1]
			for _, v := range after {
				sum, last = sum+(v-mean(before))-phi*(last-mean(before)), v
			}
			n := float64(len(after))
			if score := normalOf(math.Abs(sum/sigma)/math.Sqrt(n+n*n/float64(k)), df); score >= best.Score {
				best.At, best.Score = from+k, score
			}
		}
		if best.Score >= best.Limit {
			shifts = append(shifts, best)
			levels, known, first = append(levels, cleaned[:best.At-from]), t, 3
			from = best.At
		}
	}
	return shifts
}

func TestShiftsAgreeWithPlainOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 5))
	found := 0
	for i := range 60 {
		series := noisy(rng, 0.2*float64(i%5), []float64{0, 5, -3, 1}, 10+rng.IntN(40), 2+rng.IntN(20), 2+rng.IntN(30), 10)
		for k := range series {
			series[k].Spread *= 0.1 + 4*rng.Float64()
			if rng.IntN(15) == 0 {
				series[k].Value += 10 * rng.NormFloat64()
			}
		}
		want := plainShifts(series, 200)
		got, ok := Shifts(series, always(200))
		require.True(t, ok)
		require.Len(t, got, len(want), "series %d", i)
		for k, w := range want {
			require.Equal(t, w.At, got[k].At, "series %d", i)
			require.Equal(t, w.Detected, got[k].Detected, "series %d", i)
			require.InDelta(t, w.Score, got[k].Score, 1e-7, "series %d", i)
		}
		found += len(got)
	}
	require.Greater(t, found, 40)
}

// By hand: the deviations −½, −½, ½, ½ have three products of neighbours: ¼, −¼, ¼.
func TestAR1ByHand(t *testing.T) {
	var l levelReadings
	l.start()
	for _, v := range []float64{7, 0, 0, 1, 1} {
		l.add(v, 1)
	}
	got := l.within(1, 5)
	require.Equal(t, lagged{3, 0.75, 0.75, 0.25}, got)
	require.Equal(t, lagged{}, l.within(2, 3))
	// φ = ⅓, plus (1 + 3·⅓)/40 and one standard error.
	got = lagged{39, 9, 9, 3}
	phi, sigma, df := got.ar1(1, 0)
	raised := 1.0/3 + 2.0/40
	raised += math.Sqrt((1 - raised*raised) / 40)
	require.InDelta(t, raised, phi, 1e-12)
	require.InDelta(t, 37, df, 0)
	require.InDelta(t, math.Sqrt((9-6*raised+9*raised*raised)/37), sigma, 1e-12)
}

// The mean estimate of φ is above φ in short and in long series, up to the largest
// value that is allowed for.
func TestAR1IsConservative(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 6))
	for _, phi := range []float64{0, 0.5, 0.8} {
		for _, n := range []int{12, 20, 60, 400} {
			sum := 0.0
			for range 300 {
				var l levelReadings
				l.start()
				for _, r := range noisy(rng, phi, []float64{0}, n) {
					l.add(r.Value, r.Spread)
				}
				got, _, _ := l.within(0, n).ar1(1, 0.1)
				sum += got / 300
			}
			if n > 12 || phi < 0.8 { // for twelve readings, the limit of 0.9 lowers the mean
				require.Greater(t, sum, phi, "φ %v, %d readings", phi, n)
			}
			require.Less(t, sum, phi+0.45, "φ %v, %d readings", phi, n)
		}
	}
}

func TestNormalOf(t *testing.T) {
	for _, df := range []float64{3, 7, 20, 100, 1000} {
		for _, v := range []float64{0, 0.5, 1, 2, 3, 5} {
			exact := -math.Sqrt2 * math.Erfinv(2*distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(-v)-1)
			require.InDelta(t, exact, normalOf(v, df), 0.03, "t %v of %v", v, df)
			require.InDelta(t, v, studentOf(normalOf(v, df), df), 1e-9)
		}
	}
}

func TestLevelLimit(t *testing.T) {
	for i, nights := range levelNights {
		require.InDelta(t, levelLow+levelStep*float64(i), levelLimit(nights), 1e-12)
	}
	last := levelLow
	for nights := 100.0; nights < 1e7; nights *= 1.1 {
		require.GreaterOrEqual(t, levelLimit(nights), last)
		last = levelLimit(nights)
	}
	require.Greater(t, last, 7.0, "the limit continues to rise beyond the table")
}

// The table of limits agrees with the simulation that it names, in one cell: 500
// series, or 10,000 with CUPEL_EVIDENCE=1.
func TestSimulationLevelLimits(t *testing.T) {
	series, nights := 500, []float64{300}
	if testkit.Evidence() {
		series, nights = 10_000, []float64{300, 1000, 4000}
	}
	for _, want := range nights {
		rng, alarms := rand.New(rand.NewPCG(62, uint64(want))), 0
		for range series {
			list := noisy(rng, 0.8, []float64{0}, 200)
			for i := range list {
				list[i] = Reading{Value: math.Sqrt(0.6)*list[i].Value + math.Sqrt(0.4)*rng.NormFloat64(), Spread: 1e-9}
				if rng.IntN(50) == 0 {
					list[i].Value += 6 * float64(2*rng.IntN(2)-1)
				}
			}
			got, _ := Shifts(list, always(want))
			alarms += len(got)
		}
		iv, _ := stat.ClopperPearson(alarms, 189*series, 0.99)
		t.Logf("one alarm in %.0f readings (%.0f–%.0f), promised %.0f", float64(189*series)/float64(alarms), 1/iv.High, 1/iv.Low, want)
		// Alarms of one series are correlated, so the interval is somewhat too narrow.
		require.Greater(t, 1.15/iv.Low, want)
		require.Less(t, 0.85/iv.High, want)
	}
}

// Floor: 29 scores on each of 189 nights.
func BenchmarkShifts(b *testing.B) {
	series := noisy(rand.New(rand.NewPCG(61, 7)), 0.3, []float64{0}, 200)
	b.ReportAllocs()
	for b.Loop() {
		Shifts(series, always(1000))
	}
}
