package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
)

// suites returns the number of synthetic suites for each setting. It is 500 with CUPEL_LONG=1, so
// that each claim rests on at least 2,000 over its settings; 100 in CI, 50 in make test, and
// 10,000 with CUPEL_EVIDENCE=1. -v prints the figures. Shares over the suites are
// checked by their exact 99% interval.
func suites() int {
	switch {
	case testkit.Evidence():
		return 10_000
	case testing.Short():
		return 50
	}
	return testkit.Long(testkit.SlowN(50, 100), 500)
}

// promised requires that hits of n are compatible with a share from low to high.
func promised(t *testing.T, what string, hits, n int, low, high float64) {
	t.Helper()
	iv, ok := stat.ClopperPearson(hits, n, 0.99)
	require.True(t, ok)
	t.Logf("%-62s %.4f of %d, 99 %% interval %.4f to %.4f; promised %.3g to %.3g", what, float64(hits)/float64(n), n, iv.Low, iv.High, low, high)
	require.LessOrEqual(t, iv.Low, high, what)
	require.GreaterOrEqual(t, iv.High, low, what)
}

// Without a change, the whole comparison calls a regression at most as often as α, over
// all gating metrics and pairs together. The tasks are flaky, their trials are
// correlated, the tasks drift, and episodes are lost.
func TestSimulationGateFalseAlarms(t *testing.T) {
	t.Parallel()
	n, alarms, settings := suites(), 0, 0
	all := Rules{MaxSteps: 0.01, MaxCost: 0.01, MaxLatency: 0.01, MaxDrop: 0.001, MaxInvalid: 0.001}
	for i, c := range []struct {
		name  string
		world world
		rules Rules
	}{
		{"12 tasks × 8, flaky", world{tasks: 12, trials: 8, pairs: 1, share: still}, Rules{}},
		{"60 tasks × 1, flaky", world{tasks: 60, trials: 1, pairs: 1, share: still}, Rules{}},
		{"30 tasks × 4, a coin each, no margin", world{tasks: 30, trials: 4, pairs: 1, share: always(0.5, 0.5)}, all},
		{"40 tasks × 4, drifting", world{tasks: 40, trials: 4, pairs: 1, share: drifting}, all},
		{"24 tasks × 3, three pairs, turns", world{tasks: 24, trials: 3, pairs: 3, share: still, turns: true}, all},
		{"15 tasks × 4, five metrics gating", world{tasks: 15, trials: 4, pairs: 1, share: still, turns: true, sizes: true, after: 1}, all},
		{"14 tasks × 4, two pairs, five metrics, a tenth lost", world{tasks: 14, trials: 4, pairs: 2, share: still, turns: true, sizes: true, after: 1, lost: 0.1}, all},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng, fails := rand.New(rand.NewPCG(31, uint64(i))), 0
			for range n {
				if worst(c.world.judge(rng, c.rules)) == stat.Fail {
					fails++
				}
			}
			promised(t, c.name+": called a regression", fails, n, 0, 0.05)
			alarms, settings = alarms+fails, settings+1
		})
	}
	promised(t, "all settings: called a regression", alarms, settings*n, 0, 0.05)
}

// A run that is worse by exactly the margin passes at most as often as α, both if every
// task loses a little and if a few tasks break.
func TestSimulationFalsePasses(t *testing.T) {
	t.Parallel()
	n := suites()
	for i, c := range []struct {
		name  string
		world world
		rules Rules
	}{
		{"100 tasks × 4, each loses 10 points", world{tasks: 100, trials: 4, pairs: 1, share: always(0.9, 0.8)}, Rules{MaxDrop: 0.1}},
		{"60 tasks × 1, one in twenty breaks", world{tasks: 60, trials: 1, pairs: 1, share: rarely(0.05)}, Rules{}},
		{"100 tasks × 4, one in twenty breaks", world{tasks: 100, trials: 4, pairs: 1, share: rarely(0.05)}, Rules{}},
		{"60 tasks × 2, one in ten breaks", world{tasks: 60, trials: 2, pairs: 1, share: rarely(0.1)}, Rules{MaxDrop: 0.1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng, passes := rand.New(rand.NewPCG(32, uint64(i))), 0
			for range n {
				if c.world.judge(rng, c.rules)[0].gating[0].Verdict == stat.Pass {
					passes++
				}
			}
			promised(t, c.name+": passed at the margin", passes, n, 0, 0.05)
		})
	}
	t.Run("growth", func(t *testing.T) {
		w := world{tasks: 60, trials: 3, pairs: 1, share: always(1, 1), turns: true, sizes: true, after: 1.2}
		rules, rng, passes := Rules{MaxCost: 0.2, MaxLatency: 0.2}, rand.New(rand.NewPCG(33, 1)), map[string]int{}
		for range n {
			for _, m := range w.judge(rng, rules)[0].gating[2:4] {
				if m.Verdict == stat.Pass {
					passes[m.Name]++
				}
			}
		}
		for _, name := range []string{"cost", "latency"} {
			promised(t, name+" a fifth higher: passed at the margin", passes[name], n, 0, 0.05)
		}
	})
}

// rarely breaks each solid task with the given probability.
func rarely(chance float64) func(*rand.Rand) (float64, float64) {
	return func(rng *rand.Rand) (float64, float64) {
		if rng.Float64() < chance {
			return 1, 0
		}
		return 1, 1
	}
}

// A comparison states a loss that it would have detected four times out of five. It
// does detect such a loss that often: the statement comes from a comparison without a
// change, and is checked in one with that loss.
func TestSimulationStatedPower(t *testing.T) {
	t.Parallel()
	n := suites()
	for i, c := range []struct {
		name  string
		world world
		// lose lowers a task's share; loss is the mean over tasks.
		lose func(task, tasks int, share, loss float64) float64
		high float64
	}{
		{"60 tasks × 4, each loses as much", world{tasks: 60, trials: 4, pairs: 1, share: always(0.7, 0.7)}, evenly, 1},
		{"150 tasks × 1, each loses as much", world{tasks: 150, trials: 1, pairs: 1, share: always(0.8, 0.8)}, evenly, 1},
		{"60 tasks × 4, some break", world{tasks: 60, trials: 4, pairs: 1, share: always(1, 1)}, breaking, 1},
		{"30 tasks × 8, some break", world{tasks: 30, trials: 8, pairs: 1, share: always(0.9, 0.9)}, breaking, 1},
		{"200 tasks × 2, some break, three pairs", world{tasks: 200, trials: 2, pairs: 3, share: always(0.95, 0.95)}, breaking, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng, w := rand.New(rand.NewPCG(34, uint64(i))), c.world
			stated := 0.0
			const asked = 15
			for range asked {
				stated += *w.compare(rng, Rules{}).Pairs[0].Metrics[0].Detectable / asked
			}
			next := 0
			w.share = func(rng *rand.Rand) (float64, float64) {
				before, _ := c.world.share(rng)
				next++
				return before, c.lose(next%w.tasks, w.tasks, before, stated)
			}
			shown := 0
			for range n {
				if w.judge(rng, Rules{})[0].gating[0].Verdict == stat.Fail {
					shown++
				}
			}
			promised(t, fmt.Sprintf("%s: a loss of %.3f shown", c.name, stated), shown, n, 0.79, c.high)
		})
	}
}

func evenly(_, _ int, share, loss float64) float64 { return share - loss }

// breaking makes tasks lose all of their passes, as many tasks as the loss takes,
// rounded up.
func breaking(task, tasks int, share, loss float64) float64 {
	if float64(task) < loss/share*float64(tasks)-1e-9 {
		return 0
	}
	return share
}

// The number of tasks that is said to rule out the margin does so four times out of
// five.
func TestSimulationStatedSize(t *testing.T) {
	t.Parallel()
	n := suites()
	rng := rand.New(rand.NewPCG(35, 1))
	w := world{tasks: 40, trials: 2, pairs: 1, share: func(rng *rand.Rand) (float64, float64) {
		p := 0.8 + 0.2*float64(rng.IntN(2))
		return p, p
	}}
	stated := 0.0
	asked := 0
	for asked < 30 {
		p := w.compare(rng, Rules{}).Pairs[0].Metrics[0].Power
		for from := range p {
			var tasks int
			if _, err := fmt.Sscanf(p[from:], "Ruling it out with 80%% power, if nothing changed, takes about %d tasks.", &tasks); err == nil {
				stated += float64(tasks)
				asked++
			}
		}
	}
	w.tasks = int(math.Round(stated / float64(asked)))
	passed := 0
	for range n {
		if w.judge(rng, Rules{})[0].gating[0].Verdict == stat.Pass {
			passed++
		}
	}
	promised(t, fmt.Sprintf("%d tasks × 2: a loss of the margin ruled out", w.tasks), passed, n, 0.75, 0.9)
}

// Intervals contain the true value, the mean over all possible tasks, as often as
// promised, within a point. If only a dozen tasks vary at all, they are conservative by
// up to two points.
func TestSimulationIntervalCoverage(t *testing.T) {
	t.Parallel()
	n := suites()
	for i, c := range []struct {
		name  string
		world world
		truth map[string]float64
		high  float64
	}{
		{"60 tasks × 4, nothing changed", world{tasks: 60, trials: 4, pairs: 1, share: still}, map[string]float64{"solved": 0}, 0.96},
		{"30 tasks × 4, ten points lost", world{tasks: 30, trials: 4, pairs: 1, share: func(rng *rand.Rand) (float64, float64) {
			p := 0.4 + 0.6*rng.Float64()
			return p, p - 0.2*rng.Float64()
		}}, map[string]float64{"solved": -0.1}, 0.96},
		{"40 tasks × 3, turns", world{tasks: 40, trials: 3, pairs: 1, share: always(1, 1), turns: true}, map[string]float64{"contract_valid": 0}, 0.97},
		{"100 tasks × 3, turns", world{tasks: 100, trials: 3, pairs: 1, share: always(1, 1), turns: true}, map[string]float64{"contract_valid": 0}, 0.96},
		{"100 tasks × 2, cost and latency up by a tenth", world{tasks: 100, trials: 2, pairs: 1, share: always(1, 1), turns: true, sizes: true, after: 1.1}, map[string]float64{
			"cost": 0.1 * 1e6 * math.Exp(0.25), "latency": 0.1 * 3e5 * math.Exp(0.25), // a tenth of the log-normal means, e^(½·(0.25+0.25))
		}, 0.96},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng, held := rand.New(rand.NewPCG(36, uint64(i))), map[string]int{}
			for range n {
				for _, m := range c.world.judge(rng, Rules{MaxCost: 1, MaxLatency: 1})[0].gating {
					if truth, ok := c.truth[m.Name]; ok && m.Interval != nil && m.Interval.Low <= truth && truth <= m.Interval.High {
						held[m.Name]++
					}
				}
			}
			for _, name := range []string{"solved", "contract_valid", "cost", "latency"} {
				if _, ok := c.truth[name]; ok {
					promised(t, c.name+": "+name+" held", held[name], n, 0.94, c.high)
				}
			}
		})
	}
}

// The suites have tasks that do not change, with every share of passes, one task in ten
// that breaks and one in ten that is fixed. At most α of the tasks that are called
// changed are not, and tasks are put into their true class.
func TestSimulationFlakeClasses(t *testing.T) {
	t.Parallel()
	n := 4 * suites()
	type kind struct{ before, after float64 }
	kinds := []kind{{0, 0}, {0.1, 0.1}, {0.5, 0.5}, {0.9, 0.9}, {1, 1}, {1, 0}, {0, 1}}
	classes := []flake.Stability{flake.StablePass, flake.StableFail, flake.Flaky, flake.NewlyBroken, flake.NewlyFixed, flake.Unclear}
	rng, next := rand.New(rand.NewPCG(37, 1)), 0
	w := world{tasks: 40, trials: 8, pairs: 1, share: func(*rand.Rand) (float64, float64) {
		i := next % 40
		next++
		switch {
		case i < 4:
			return 1, 0
		case i < 8:
			return 0, 1
		}
		k := kinds[i%5]
		return k.before, k.after
	}}
	matrix, falsely := map[kind]map[flake.Stability]int{}, 0.0
	for range n {
		wrong, called := 0, 0
		b := w.draw(rng, Rules{})
		all, err := b.judge(nil)
		require.NoError(t, err)
		require.NoError(t, b.classify(all))
		for i, task := range all[0].Tasks {
			k := kinds[i%5]
			if i < 4 {
				k = kind{1, 0}
			} else if i < 8 {
				k = kind{0, 1}
			}
			if matrix[k] == nil {
				matrix[k] = map[flake.Stability]int{}
			}
			matrix[k][task.Class]++
			if task.Class == flake.NewlyBroken || task.Class == flake.NewlyFixed {
				called++
				if k.before == k.after {
					wrong++
				}
			}
		}
		falsely += float64(wrong) / float64(max(1, called)) / float64(n)
	}
	for _, k := range kinds {
		row, all := "", 0
		for _, class := range classes {
			all += matrix[k][class]
		}
		for _, class := range classes {
			row += fmt.Sprintf("  %s %.4f", class, float64(matrix[k][class])/float64(all))
		}
		t.Logf("p %.1f to %.1f:%s", k.before, k.after, row)
	}
	t.Logf("of those called changed, not changed: %.4f, at most 0.05", falsely)
	require.LessOrEqual(t, falsely, 0.05)
	share := func(k kind, class flake.Stability) float64 {
		all := 0
		for _, c := range classes {
			all += matrix[k][c]
		}
		return float64(matrix[k][class]) / float64(all)
	}
	require.Equal(t, 1.0, share(kind{1, 1}, flake.StablePass))
	require.Equal(t, 1.0, share(kind{0, 0}, flake.StableFail))
	require.Equal(t, 1.0, share(kind{1, 0}, flake.NewlyBroken))
	require.Equal(t, 1.0, share(kind{0, 1}, flake.NewlyFixed))
	require.InDelta(t, math.Pow(0.9, 16), share(kind{0.9, 0.9}, flake.StablePass), 0.03)
	require.InDelta(t, math.Pow(0.9, 16), share(kind{0.1, 0.1}, flake.StableFail), 0.03)
	require.Greater(t, share(kind{0.5, 0.5}, flake.Flaky), 0.97)
}
