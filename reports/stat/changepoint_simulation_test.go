package stat_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cupel-eval/cupel/reports/stat"
)

// histories is the number of synthetic series: 2,000, and 10,000 with
// CUPEL_EVIDENCE=1.
func histories() int {
	if os.Getenv("CUPEL_EVIDENCE") != "" {
		return 10_000
	}
	return 2000
}

// nights draws the shares solved of a series of runs: size(i) episodes each, of
// which share(i) are solved, but for a drift of the given spread from night to night.
func nights(rng *rand.Rand, n int, size func(i int) int, share func(i int) float64, drift float64) []stat.Sample {
	series := make([]stat.Sample, n)
	for i := range series {
		p := min(1, max(0, share(i)+drift*rng.NormFloat64()))
		k := 0.0
		for range size(i) {
			k += coin(rng, p)
		}
		series[i] = stat.Sample{Value: k / float64(size(i)), Weight: float64(size(i))}
	}
	return series
}

// Where nothing changes, no more than alpha of all series show a change: with few
// and many runs, with drift from night to night, and with runs of unequal size; up
// to 8 in 100 where the size changed for good.
func TestSimulationChangePointsFalseAlarms(t *testing.T) {
	const alpha = 0.05
	same := func(n int) func(int) int { return func(int) int { return n } }
	for name, c := range map[string]struct {
		runs  int
		size  func(i int) int
		drift float64
		limit float64
	}{
		"8 runs of 60":                      {8, same(60), 0, alpha},
		"20 runs of 60":                     {20, same(60), 0, alpha},
		"60 runs of 60":                     {60, same(60), 0, alpha},
		"30 runs of 200, drift of 3 points": {30, same(200), 0.03, alpha},
		"30 runs, some cut short":           {30, func(i int) int { return 40 + 160*(i*7%3) }, 0.01, alpha},
		"30 runs, grown to four times":      {30, func(i int) int { return 50 + 150*(i/15) }, 0, 0.08},
	} {
		rng := rand.New(rand.NewPCG(41, uint64(len(name))))
		alarms := 0
		for range histories() {
			if found, _ := stat.ChangePoints(nights(rng, c.runs, c.size, func(int) float64 { return 0.9 }, c.drift), alpha, 2); len(found) > 0 {
				alarms++
			}
		}
		atMost(t, name, alarms, histories(), c.limit)
	}
}

// A true change stands, and no more than alpha of all series show another one.
func TestSimulationChangePointsBesideATrueOne(t *testing.T) {
	rng, more := rand.New(rand.NewPCG(42, 1)), 0
	for range histories() / 4 { // a quarter: each draws all its orders
		series := nights(rng, 40, func(int) int { return 120 }, func(i int) float64 { return 0.95 - 0.25*float64(i/20) }, 0)
		if found, _ := stat.ChangePoints(series, 0.05, 2); len(found) > 1 {
			more++
		}
	}
	atMost(t, "a change of 25 points: another one beside it", more, histories()/4, 0.05)
}

// A drop of the share solved from 0.97 to 0.88 in runs of 60 tasks × 2 trials is
// found in at least four of five series once it has lasted 4 of 30 runs, and within
// one run of where it was.
func TestSimulationChangePointsPower(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 1))
	all := histories() / 4
	for _, c := range []struct {
		lasted int
		want   float64
	}{{2, 0}, {3, 0}, {4, 0.8}, {8, 0.9}, {15, 0.9}} {
		found, near := 0, 0
		for range all {
			series := nights(rng, 30, func(int) int { return 120 }, func(i int) float64 {
				if i >= 30-c.lasted {
					return 0.88
				}
				return 0.97
			}, 0.005)
			changes, _ := stat.ChangePoints(series, 0.05, 2)
			if len(changes) == 0 {
				continue
			}
			found++
			if d := changes[0].At - (30 - c.lasted); d >= -1 && d <= 1 {
				near++
			}
		}
		atLeast(t, fmt.Sprintf("0.97 to 0.88 for %d of 30 runs", c.lasted), found, all, c.want)
		atLeast(t, "  within one run of where it was", near, found, 0.9*min(1, c.want*10))
	}
}

// atLeast asks that hits of n do not show a share below limit.
func atLeast(t *testing.T, what string, hits, n int, limit float64) {
	t.Helper()
	iv, _ := stat.ClopperPearson(hits, n, 0.99)
	t.Logf("%-46s %.4f of %d, 99 %% interval %.4f to %.4f, at least %.3f", what, float64(hits)/float64(n), n, iv.Low, iv.High, limit)
	if iv.High < limit {
		t.Errorf("%s: %d of %d, not %.2f", what, hits, n, limit)
	}
}

func benchmarkChangePoints(b *testing.B, level func(i int) float64) {
	rng := rand.New(rand.NewPCG(44, 1))
	series := nights(rng, 60, func(int) int { return 480 }, level, 0.005)
	b.ReportAllocs()
	for b.Loop() {
		stat.ChangePoints(series, 0.0025, 2)
	}
}

// Floor: 10,000 orders of 60 points, each some 1,700 cuts to rule out: 17 million
// comparisons. Without a change a few hundred orders tell.
func BenchmarkChangePoints(b *testing.B) {
	b.Run("change", func(b *testing.B) {
		benchmarkChangePoints(b, func(i int) float64 { return 0.97 - 0.09*float64(i/40) })
	})
	b.Run("none", func(b *testing.B) { benchmarkChangePoints(b, func(int) float64 { return 0.97 }) })
}
