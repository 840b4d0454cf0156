package evidence_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/evidence"
)

// drawn has the episodes of a run, with the number of turns of each.
func drawn(s evidence.Suite, seed uint64) (list []ledger.Episode, turns []int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	s.Run(rng, s.Sample(rng), s.Manifest("r", "a"), "a", func(rows ledger.EpisodeRows) {
		list = append(list, rows.Episode)
		turns = append(turns, len(rows.Turns))
	})
	return list, turns
}

// With m trials each, the variance between tasks of the number of solved trials is
// determined by the intra-task correlation: m·p·(1−p)·(1 + (m−1)·ICC). The mean of
// every mechanism is p.
func TestMechanisms(t *testing.T) {
	testkit.Slow(t)
	const tasks, m, p = 40_000, 5, 0.8
	icc := map[string]float64{"ICC 0": 0, "ICC 0.1": 0.1, "ICC 0.3": 0.3, "ICC 0.6": 0.6}
	for i, mechanism := range evidence.Mechanisms() {
		s := evidence.Suite{Tasks: tasks, Trials: m, Task: func(rng *rand.Rand) evidence.Task { return evidence.Task{Solved: mechanism.Draw(rng, p)} }}
		list, _ := drawn(s, uint64(i))
		names := s.Manifest("r").Tasks
		counts, mean, variance := map[string]float64{}, 0.0, 0.0
		for _, e := range list {
			if e.Solved {
				counts[e.TaskID]++
				mean += 1.0 / (tasks * m)
			}
		}
		for k := range tasks {
			d := counts[names[k].ID] - m*p
			variance += d * d / tasks
		}
		require.InDelta(t, p, mean, 0.01, mechanism.Name)
		if want, ok := icc[mechanism.Name]; ok {
			require.InDelta(t, m*p*(1-p)*(1+(m-1)*want), variance, 0.05, mechanism.Name)
		}
	}
}

func TestRun(t *testing.T) {
	half := func(*rand.Rand) evidence.Task { return evidence.Task{Solved: 0.5} }
	s := evidence.Suite{Tasks: 100, Trials: 4, Turns: 3, Task: half, Night: 1, Copies: 2}
	list, turns := drawn(s, 1)
	require.Len(t, list, 400)
	sum := 0
	for _, n := range turns {
		sum += n
	}
	require.InDelta(t, 1200, sum, 150)
	require.Equal(t, []int{1, 5}, []int{slices.Min(turns), slices.Max(turns)})
	for i, e := range list {
		require.Equal(t, list[i/8*8].Solved, e.Solved, "all trials of a task and its copy are equal")
	}
	again, _ := drawn(s, 1)
	require.Equal(t, list, again, "equal seeds give equal rows")

	s = evidence.Suite{Tasks: 200, Trials: 3, Task: half, LostFailed: 1, MaxLost: 0.05}
	list, _ = drawn(s, 2)
	lost, solved := 0, 0
	for _, e := range list {
		if e.Excluded() != "" {
			lost++
		}
		if e.Solved {
			solved++
		}
	}
	require.Equal(t, 30, lost, "5 % of all episodes, and no more")
	require.InDelta(t, 300, solved, 45, "no solved episode is lost")

	s = evidence.Suite{Tasks: 50, Trials: 3, Turns: 3, Task: half, Unequal: true, Dominant: true, Noise: evidence.Pareto(3)}
	list, turns = drawn(s, 3)
	per := map[string]int{}
	for _, e := range list {
		per[e.TaskID]++
	}
	sizes := map[int]bool{}
	for _, n := range per {
		sizes[n] = true
	}
	require.Len(t, sizes, 5, "1 to 5 trials")
	for i, n := range turns {
		require.Equal(t, list[i].TaskID == "t0", n >= 100, "only the first task dominates")
	}
}

func TestSourcesOfNoise(t *testing.T) {
	const n = 400_000
	rng := rand.New(rand.NewPCG(5, 5))
	for name, draw := range map[string]func(*rand.Rand) float64{"log-normal": evidence.LogNormal(1), "Pareto": evidence.Pareto(3)} {
		mean := 0.0
		for range n {
			mean += draw(rng) / n
		}
		require.InDelta(t, 1, mean, 0.02, name)
	}
	list, square, next := evidence.AR1(rng, n, 0.8, 2), 0.0, 0.0
	for i, v := range list[:n-1] {
		square, next = square+v*v, next+v*list[i+1]
	}
	require.InDelta(t, 2, math.Sqrt(square/n), 0.05)
	require.InDelta(t, 0.8, next/square, 0.01)
}
