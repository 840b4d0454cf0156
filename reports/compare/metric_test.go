package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat"
)

// The values of every metric on two tasks are computed by hand.
func TestMetricsByHand(t *testing.T) {
	base := plan{candidate: "a", tasks: 2, trials: 2}
	newer := plan{candidate: "b", tasks: 2, trials: 2, episode: func(task, trial int, rows *ledger.EpisodeRows) {
		e := &rows.Episode
		switch {
		case task == 0 && trial == 1: // not solved, so this pair has no steps and no clarifying questions
			e.Solved, e.Steps = false, 10
		case task == 0 && trial == 2:
			e.Steps, e.Clarifies = 5, 3
			e.CostNanoUSD = new(int64(5_000_000))
			e.Tokens = tokens(1000, 60)
			e.ElapsedUs = new(int64(4_000_000))
			rows.Turns[0].ContractValid = false
			rows.Turns[1].FinishReason = "length" // counts as invalid
			rows.Turns[2].Role = "compress"       // not a turn of the main loop
		case task == 1 && trial == 1:
			e.Status, e.Solved, e.ThrashEvents = "stopped", false, 2
			rows.Turns[0].DurationUs = new(int64(1_000_000))
		case task == 1 && trial == 2:
			e.ExpectedStatus, e.StallEvents = "clarify", 1 // its expected outcome is a clarifying question
			rows.Turns[0].ErrorKind = "overloaded"         // no reply
		}
	}}
	p := compared(base, newer, Rules{}).Pairs[0]
	for _, c := range []struct {
		name             string
		n                int
		baseline, new    float64
		relative, margin float64
	}{
		{"solved", 4, 1, 0.5, -0.5, 0.05},
		{"contract_valid", 4, 1, 8.0 / 10, -0.2, 0.08},
		{"steps", 2, 3, 4, 1.0 / 3, 0},
		{"clarifies", 1, 1, 3, 2, 0},
		{"cost", 4, 3_000_000, 3_500_000, 1.0 / 6, 0},
		{"tokens", 4, 660, 760, 100.0 / 660, 0},
		{"elapsed", 4, 0, 1_000_000, math.NaN(), 0},
		{"latency", 4, 400_000, (10*400_000 + 600_000) / 10.0, 0.15, 0},
		{"thrash", 4, 0, 0.25, math.NaN(), 0},
		{"stall", 4, 0, 0.25, math.NaN(), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := metric(p, c.name)
			require.Equal(t, c.n, m.N)
			require.InDelta(t, c.baseline, *m.Baseline, 1e-9)
			require.InDelta(t, c.new, *m.New, 1e-9)
			require.InDelta(t, c.new-c.baseline, *m.Effect, 1e-9)
			if math.IsNaN(c.relative) {
				require.Nil(t, m.Relative, "of nothing")
			} else {
				require.InDelta(t, c.relative, *m.Relative, 1e-12)
			}
			if c.margin > 0 {
				require.True(t, m.Gates)
				require.Equal(t, c.margin, *m.Margin)
			} else {
				require.False(t, m.Gates)
				require.Nil(t, m.Margin)
				require.Equal(t, stat.NotJudged, m.Verdict)
			}
		})
	}
}

func TestUnknownIsNeverZero(t *testing.T) {
	base := plan{candidate: "a", tasks: 3, trials: 2}
	for name, edit := range map[string]func(e *ledger.Episode){
		"cost": func(e *ledger.Episode) { e.CostNanoUSD = nil }, "tokens": func(e *ledger.Episode) { e.Reasoning = nil },
	} {
		t.Run(name, func(t *testing.T) {
			newer := plan{candidate: "b", tasks: 3, trials: 2, episode: func(task, _ int, rows *ledger.EpisodeRows) {
				if task == 1 {
					edit(&rows.Episode)
				}
			}}
			m := metric(compared(base, newer, Rules{}).Pairs[0], name)
			require.Nil(t, m.Baseline)
			require.Nil(t, m.New)
			require.Nil(t, m.Effect)
			require.Nil(t, m.P)
			require.Nil(t, m.Adjusted)
			require.Zero(t, m.N)
			require.Contains(t, m.Note, "2 paired episodes without")
		})
	}
}

// If both sides count the same pairs, the linearised difference is the plain mean of
// the paired differences with its cluster-robust error.
func TestDifferenceIsClusterMeanOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	var obs []stat.Observation
	var names []string
	var list []sides
	for g := range 12 {
		names, list = append(names, fmt.Sprint(g)), append(list, sides{})
		for range 1 + rng.IntN(6) {
			a, b := rng.NormFloat64(), rng.NormFloat64()
			obs = append(obs, stat.Observation{Cluster: names[g], Value: b - a})
			list[g].pair(0, sums{baseline: stat.Cluster{Num: a, Den: 1}, new: stat.Cluster{Num: b, Den: 1}})
		}
	}
	want, _ := stat.ClusterMean(obs)
	got, ok := difference(names, list, 1)
	require.True(t, ok)
	require.InDelta(t, want.Value, got.mean.Value, 1e-14)
	require.InDelta(t, want.SE, got.mean.SE, 1e-14)
	require.Equal(t, want.Clusters, got.mean.Clusters)
	mean := 0.0
	for _, v := range got.influence {
		mean += v / 12
	}
	require.InDelta(t, want.Value, mean, 1e-14)
	permuted, _ := stat.PairedPermutation(obs)
	p, _ := swapped(names, scores(list))
	require.InDelta(t, permuted.P, p.two, 1e-12)
}

// The error of a difference of ratios is compared with the jackknife over tasks, which
// does not linearise.
func TestDifferenceOfRatiosAgainstJackknife(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const tasks = 400
	names, list := make([]string, tasks), make([]sides, tasks)
	for g := range list {
		names[g] = fmt.Sprint(g)
		hard := 0.7 + 0.3*rng.Float64()
		for range 3 {
			turns, more := float64(2+rng.IntN(5)), float64(2+rng.IntN(5))
			list[g].pair(0, sums{baseline: stat.Cluster{Num: math.Round(turns * hard), Den: turns}, new: stat.Cluster{Num: math.Round(more * hard * 0.9), Den: more}})
		}
	}
	for _, factor := range []float64{1, 1.2} {
		got, ok := difference(names, list, factor)
		require.True(t, ok)
		without := func(i int) float64 {
			b, a := totals(append(append([]sides{}, list[:i]...), list[i+1:]...))
			return a.Num/a.Den - factor*b.Num/b.Den
		}
		squares := 0.0
		for i := range list {
			squares += math.Pow(without(i)-got.mean.Value, 2)
		}
		require.InEpsilon(t, math.Sqrt(squares*(tasks-1)/tasks), got.mean.SE, 0.01)
	}
}

// The permutation of ratios is compared with all 2^10 swaps of whole tasks.
func TestSwapsAreTheExactTestOfRatios(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	names, list := make([]string, 10), make([]sides, 10)
	for g := range list {
		names[g] = fmt.Sprint(g)
		list[g].pair(0, sums{baseline: stat.Cluster{Num: float64(rng.IntN(9)), Den: float64(9 + rng.IntN(9))}, new: stat.Cluster{Num: float64(3 + rng.IntN(9)), Den: float64(12 + rng.IntN(9))}})
	}
	score := func(l []sides) float64 { // proportional to the difference of ratios
		b, a := totals(l)
		return math.Abs((a.Num/a.Den - b.Num/b.Den) * a.Den * b.Den)
	}
	far, seen := 0, score(list)
	for mask := range 1 << 10 {
		other := append([]sides{}, list...)
		for g := range other {
			if mask>>g&1 == 1 {
				other[g].baseline, other[g].new = other[g].new, other[g].baseline
			}
		}
		if score(other) >= seen*(1-1e-12) {
			far++
		}
	}
	got, exact := swapped(names, scores(list))
	require.True(t, exact)
	require.InDelta(t, float64(far)/1024, got.two, 1e-15)
}

// With one trial of each task, the permutation is McNemar's exact test.
func TestSingleTrialsAreMcNemar(t *testing.T) {
	base := plan{candidate: "a", tasks: 40, trials: 1, episode: fails(func(task, _ int) bool { return task < 2 })}
	newer := plan{candidate: "b", tasks: 40, trials: 1, episode: fails(func(task, _ int) bool { return task >= 2 && task < 11 })}
	m := metric(compared(base, newer, Rules{}).Pairs[0], "solved")
	two, _ := stat.McNemar(9, 2)
	require.InDelta(t, two/2, *m.P, 1e-15)
	require.Contains(t, m.Note, "McNemar: 9 broken, 2 fixed, p = 0.065.")
	m = metric(compared(newer, base, Rules{}).Pairs[0], "solved")
	require.InDelta(t, 1-two/2, *m.P, 1e-15, "the better side")
	m = metric(compared(plan{candidate: "a", tasks: 40, trials: 2}, plan{candidate: "b", tasks: 40, trials: 2}, Rules{}).Pairs[0], "solved")
	require.NotContains(t, m.Note, "McNemar", "several trials of a task are not independent")
}

func TestManyTasksGoByT(t *testing.T) {
	base := plan{candidate: "a", tasks: 3000, trials: 1, episode: flips(1, half)}
	newer := plan{candidate: "b", tasks: 3000, trials: 1, episode: flips(2, func(int) float64 { return 0.46 })}
	m := metric(compared(base, newer, Rules{}).Pairs[0], "solved")
	require.Contains(t, m.Test, "t test of the change")
	broken, fixed := 0, 0
	_, err := fmt.Sscanf(m.Note, "McNemar: %d broken, %d fixed", &broken, &fixed)
	require.NoError(t, err)
	exact, _ := stat.McNemar(broken, fixed)
	require.InEpsilon(t, exact/2, *m.P, 0.1)
}

// A growth is compared with the baseline's own mean, including its spread; the mean is
// not taken as exact.
func TestGrowthMargins(t *testing.T) {
	base := plan{candidate: "a", tasks: 80, trials: 2, episode: func(task, trial int, rows *ledger.EpisodeRows) { rows.Episode.Steps = int32(2 + task%3 + trial%2) }}
	grown := func(by int) plan {
		return plan{candidate: "b", tasks: 80, trials: 2, episode: func(task, trial int, rows *ledger.EpisodeRows) {
			rows.Episode.Steps = int32(2 + task%3 + trial%2 + by)
		}}
	}
	for _, c := range []struct {
		by     int
		margin float64
		want   stat.Verdict
	}{{0, 0.1, stat.Pass}, {0, 0.02, stat.Inconclusive}, {1, 0.5, stat.Pass}, {1, 0.2, stat.Fail}, {-1, 0.02, stat.Pass}} {
		m := metric(compared(base, grown(c.by), Rules{MaxSteps: c.margin}).Pairs[0], "steps")
		require.Equal(t, c.want, m.Verdict, "%d more steps, margin %v: %s", c.by, c.margin, m.Power)
		require.InDelta(t, c.margin**m.Baseline, *m.Margin, 1e-12)
		require.Equal(t, c.want == stat.Pass && c.by > 0, m.Note != "", m.Note)
	}
}

func TestPower(t *testing.T) {
	base := plan{candidate: "a", tasks: 30, trials: 4, episode: flips(1, func(int) float64 { return 0.8 })}
	newer := plan{candidate: "b", tasks: 30, trials: 4, episode: flips(6, func(int) float64 { return 0.8 })}
	pair := compared(base, newer, Rules{}).Pairs[0]
	m := metric(pair, "solved")
	require.Equal(t, stat.Inconclusive, m.Verdict)
	squares, fourth := 0.0, 0.0 // of the tasks' differences
	for _, task := range pair.Tasks {
		d := float64(task.New.Passed-task.Baseline.Passed)/4 - *m.Effect
		squares += d * d / 29
		fourth += d * d * d * d
	}
	doubt := math.Sqrt(fourth-2*29*squares*squares+30*squares*squares) / 30
	power := func(loss float64, tasks int) float64 {
		g, mean := float64(tasks), 0.0
		for _, node := range [][2]float64{{-math.Sqrt(3), 1}, {0, 4}, {math.Sqrt(3), 1}} {
			noise := squares + 1.0/30/16 + node[0]*doubt                             // with one additional task that differs in one of four trials
			critical := stat.TQuantile(1-0.05*9/10, g-1) * math.Sqrt((noise+loss)/g) // solved gets nine tenths of α
			shift := loss - 1.0/4/g - critical                                       // half a step, as a step is two trials
			mean += node[1] / 6 * distuv.StudentsT{Sigma: 1, Nu: g - 1}.CDF(shift/math.Sqrt(noise/g))
		}
		return mean
	}
	require.InDelta(t, 0.8, power(*m.Detectable, 30), 1e-6)
	tasks := 2
	for power(0.05, tasks) < 0.8 {
		tasks++
	}
	require.Contains(t, m.Power, "With 30 tasks the test detects a loss of "+points(*m.Detectable)+" with 80% power.")
	said := 0
	_, err := fmt.Sscanf(m.Power[strings.Index(m.Power, "takes ")+6:], "%d such tasks", &said)
	require.NoError(t, err)
	require.InEpsilon(t, tasks, said, 0.01)
	require.Contains(t, m.Power, "such tasks. Ruling it out with 80% power, if nothing changed, takes about ", "thirty tasks cannot, in any number of trials")
}

// A significant loss was also detectable: what it adds to the spread does not count
// against it twice.
func TestPowerWhereALossIsShown(t *testing.T) {
	base := plan{candidate: "a", tasks: 69, trials: 1}
	m := metric(compared(base, plan{candidate: "b", tasks: 69, trials: 1, episode: fails(func(task, _ int) bool { return task < 13 })}, Rules{}).Pairs[0], "solved")
	require.Equal(t, stat.Fail, m.Verdict)
	require.InDelta(t, 6.0/69, *m.Detectable, 1.0/69, "five tasks that break are shown at 1/32 of 0.045, and one more may come back")
}

// If both sides count the same pairs, scores of passes are whole numbers, and the test
// is exact.
func TestScoresOfPassesAreWhole(t *testing.T) {
	base := plan{candidate: "a", tasks: 97, trials: 3, episode: flips(1, func(int) float64 { return 0.9 })}
	newer := plan{candidate: "b", tasks: 97, trials: 3, episode: flips(2, func(int) float64 { return 0.8 })}
	require.Contains(t, metric(compared(base, newer, Rules{}).Pairs[0], "solved").Test, "exact")
}

// Harm is a metric if the worlds of both sides can change. Otherwise it is omitted.
func TestMetricHarm(t *testing.T) {
	run := func(harmful int) plan {
		return plan{candidate: "a", tasks: 4, trials: 1, episode: func(task, _ int, rows *ledger.EpisodeRows) {
			if task < 3 {
				rows.Episode.Harm = new(task < harmful)
			}
		}}
	}
	m := metric(compared(run(0), run(2), Rules{}).Pairs[0], "harm")
	require.Equal(t, 3, m.N)
	require.Zero(t, *m.Baseline)
	require.InDelta(t, 2.0/3, *m.New, 1e-9)
	require.False(t, m.Gates, "any harm fails the run itself")
	for _, m := range compared(plan{candidate: "a", tasks: 4, trials: 1}, run(1), Rules{}).Pairs[0].Metrics {
		require.NotEqual(t, "harm", m.Name)
	}
}
