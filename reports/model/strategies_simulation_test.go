package model

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// runs returns the number of synthetic runs for each setting.
func runs() int {
	switch {
	case testkit.Evidence():
		return 4000
	case testing.Short():
		return 20
	}
	return testkit.Long(testkit.SlowN(40, 100), 200)
}

// If strategies differ in their names only, a metric calls a winner at most as often as
// alpha, over all pairs, groups and the pooled comparison together.
func TestSimulationFalseWins(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]reporttest.Arena{
		"2 strategies, 1 model, 12 tasks":                      {Models: []string{"m"}, Habits: reporttest.SameHabits("contract", "tools"), Tasks: 12, Trials: 1},
		"3 strategies, 2 models, 15 tasks, 2 trials, 5 % lost": {Models: []string{"m", "n"}, Habits: reporttest.SameHabits("contract", "tools", "plan"), Tasks: 15, Trials: 2, Lost: 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			n, wins := runs(), map[string]int{}
			for i := range n {
				a.Seed = uint64(i)
				s := build(a.Run()).Strategies
				seen := map[string]bool{}
				for _, c := range s.All() {
					for _, k := range c.Pairs {
						if k.Winner != "" && !seen[k.Metric] {
							seen[k.Metric] = true
							wins[k.Metric]++
						}
					}
				}
			}
			for _, metric := range []string{"solved", "steps", "cost", "elapsed", "tokens", "tool_calls", "contract_valid"} {
				iv, _ := stat.ClopperPearson(wins[metric], n, 0.99)
				t.Logf("%-10s false wins %.4f of %d, 99 %% interval %.4f to %.4f", metric, float64(wins[metric])/float64(n), n, iv.Low, iv.High)
				require.LessOrEqual(t, iv.Low, strategyAlpha, metric)
			}
		})
	}
}

// If one strategy is better by a third in cost and time, it is called the winner.
// Without this check, a rule that never calls a winner would pass.
func TestSimulationTrueWins(t *testing.T) {
	t.Parallel()
	n, wins, wrong := max(20, runs()/4), 0, 0
	for i := range n {
		s := build(reporttest.Arena{Models: []string{"m", "n"}, Tasks: 20, Trials: 1, Seed: uint64(i), Habits: []reporttest.Habit{{Agent: "contract", Solve: 0, Steps: 1.5, Cost: 1.5, Time: 1.5, Calls: 1}, {Agent: "tools", Solve: 0, Steps: 1, Cost: 1, Time: 1, Calls: 1}}}.Run()).Strategies
		for _, k := range s.Pooled.Pairs {
			if k.Metric == "cost" && k.Winner == "tools" {
				wins++
			}
			if k.Winner == "contract" && slices.Contains([]string{"steps", "cost", "elapsed"}, k.Metric) {
				wrong++
			}
		}
	}
	t.Logf("shown %d of %d, the wrong way %d", wins, n, wrong)
	require.Greater(t, wins, 9*n/10)
	require.LessOrEqual(t, wrong, n/20)
}

// paired is a simpler way to pair: it compares every row with every other one.
func paired(m manifest.Manifest, rows ledger.Rows, provider, first, second string) (n int, tasks map[string]bool, elapsed [2]float64, bothSolved int) {
	tasks = map[string]bool{}
	ok := func(e *ledger.Episode) bool {
		return !e.InfraError && e.Status != "infra_error" && e.Status != "harness_error" && e.Status != "budget_stop" && e.Status != "cancelled"
	}
	for i := range rows.Episodes {
		for k := range rows.Episodes {
			a, b := &rows.Episodes[i], &rows.Episodes[k]
			if a.Agent != first || b.Agent != second || a.Provider != b.Provider || a.Model != b.Model || a.TaskID != b.TaskID || a.Trial != b.Trial || !ok(a) || !ok(b) {
				continue
			}
			if provider != "" && a.Provider != provider {
				continue
			}
			n++
			tasks[a.TaskID] = true
			elapsed[0] += float64(*a.ElapsedUs)
			elapsed[1] += float64(*b.ElapsedUs)
			if a.Solved && b.Solved && a.Status != "stopped" && b.Status != "stopped" {
				bothSolved++
			}
		}
	}
	return n, tasks, elapsed, bothSolved
}

func TestPairingAgainstAPlainerOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := reporttest.Arena{
			Models: []string{"m", "n"}[:rapid.IntRange(1, 2).Draw(t, "models")], Habits: reporttest.SameHabits("contract", "tools", "plan")[:rapid.IntRange(2, 3).Draw(t, "agents")],
			Tasks: rapid.IntRange(1, 4).Draw(t, "tasks"), Trials: rapid.IntRange(1, 3).Draw(t, "trials"), Seed: rapid.Uint64().Draw(t, "seed"),
			Edit: func(e *ledger.Episode) {
				e.Status = rapid.SampledFrom([]string{"answered", "answered", "answered", "stopped", "infra_error", "harness_error", "budget_stop", "cancelled"}).Draw(t, "status")
			},
		}
		m, rows := a.Run()
		gone := rapid.SliceOfDistinct(rapid.IntRange(0, len(rows.Episodes)-1), func(i int) int { return i }).Draw(t, "gone")
		slices.SortFunc(gone, func(a, b int) int { return cmp.Compare(b, a) })
		for _, i := range gone {
			rows.Episodes = slices.Delete(rows.Episodes, i, i+1)
		}
		for i, c := range build(m, rows).Strategies.All() {
			provider := c.Provider
			if i > 0 || len(a.Models) == 1 {
				require.NotEmpty(t, provider)
			}
			for x, first := range a.Habits {
				for _, second := range a.Habits[x+1:] {
					n, tasks, elapsed, both := paired(m, rows, provider, first.Agent, second.Agent)
					claims := 0
					for _, k := range c.Pairs {
						if k.First != first.Agent || k.Second != second.Agent {
							continue
						}
						claims++
						switch k.Metric {
						case "solved", "elapsed", "tool_calls":
							require.Equal(t, []int{n, len(tasks)}, []int{k.N, k.Tasks}, k.Metric)
						case "steps":
							require.Equal(t, both, k.N)
						}
						if k.Metric == "elapsed" {
							require.InDelta(t, elapsed[0]/float64(n), *k.FirstValue, 1e-6*elapsed[0])
							require.InDelta(t, (elapsed[1]-elapsed[0])/float64(n), *k.Effect, 1e-6*math.Max(elapsed[0], elapsed[1]))
						}
					}
					require.Equal(t, n > 0, claims == 7)
				}
			}
		}
	})
}
