package evidence_test

import (
	"math/rand/v2"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
)

const (
	evenSplit   = "a comparison of unchanged runs ends with an error, or has a p-value above 1"
	statedPower = "a loss that an unchanged comparison says it would have detected with 80% power fails"
	effects     = "a 95% interval of a change contains the true change"
	growthGate  = "a comparison passes a growth of cost by the margin"
)

// metric returns a metric of a comparison of one pair.
func metric(c compare.Comparison, name string) compare.Metric {
	for _, m := range c.Pairs[0].Metrics {
		if m.Name == name {
			return m
		}
	}
	panic("no metric " + name)
}

// evenSplits compares 300 to 1,500 tasks, of which a few or half have different
// outcomes: about the same number breaks and is fixed.
func evenSplits() simulation {
	return simulation{
		setting: "300 to 1,500 × 1, tasks solved half the time", suites: 2000, claims: []claim{{name: evenSplit, never: true}},
		cases: one(func(rng *rand.Rand) []outcome {
			c := change{Suite: evidence.Suite{Tasks: 300 + rng.IntN(1201), Trials: 1, Task: constant(0.5)}}
			now, old := c.compared(rng) // an error panics
			broken, fixed := 0, 0
			list, _, _ := old.tasks(solved)
			for _, t := range list {
				switch {
				case t.bNum < t.aNum:
					broken++
				case t.bNum > t.aNum:
					fixed++
				}
			}
			above := false
			for _, m := range now.Pairs[0].Metrics {
				above = above || m.P != nil && (!(*m.P <= 1) || m.Adjusted == nil || !(*m.Adjusted <= 1))
			}
			return []outcome{{is(oldFlips(broken, fixed) > 1), is(above)}}
		}),
	}
}

// powers asks an unchanged comparison which loss these tasks would have detected, and
// then makes them lose that much.
func powers() (list []simulation) {
	for _, c := range []struct {
		setting string
		evidence.Suite
		lose   func(loss float64) func(*rand.Rand, []evidence.Task)
		breaks string
	}{
		{"100 × 1, every task loses as much", evidence.Suite{Tasks: 100, Trials: 1, Turns: 3, Task: constant(0.9)}, fadesOf, ""},
		{"100 × 1, some tasks break", evidence.Suite{Tasks: 100, Trials: 1, Turns: 3, Task: constant(0.95)}, breaksOf, ""},
		{"100 × 1, mixed difficulty, all lose in proportion", evidence.Suite{Tasks: 100, Trials: 1, Turns: 3, Task: mixed}, fadesOf, ""},
		{"100 × 3, mixed difficulty, some tasks break", evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed}, breaksOf, ""},
		{"100 × 3, mixed difficulty, all lose in proportion", evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed}, fadesOf, ""},
		{"50 × 3, all trials of a task in a run equal, some tasks break", evidence.Suite{Tasks: 50, Trials: 3, Turns: 3, Task: mixed, Night: 1}, breaksOf, ""},
		{"100 × 3, all solved, some tasks break", evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: constant(1)}, breaksOf, ""},
		{"100 × 3, mixed difficulty, each task breaks by chance", evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed}, func(loss float64) func(*rand.Rand, []evidence.Task) {
			return breaks(loss, mixedMean)
		}, "it is said of a loss in these tasks; of how many break by chance, it is the mean"},
	} {
		list = append(list, simulation{setting: c.setting, suites: 2000, claims: []claim{{name: statedPower, atLeast: 0.8, breaks: c.breaks}}, cases: one(func(rng *rand.Rand) []outcome {
			tasks := c.Sample(rng)
			now, old := change{Suite: c.Suite}.comparedOf(rng, tasks)
			var o outcome
			sums, _, _ := old.tasks(solved)
			if loss, ok := oldMeasure(sums, 0.05, 0.05).detectable(0.05 / 2); ok {
				_, worse := change{Suite: c.Suite, worse: c.lose(loss)}.comparedOf(rng, tasks)
				o.old = is(worse.verdict(0.05) == stat.Fail)
			}
			if loss := metric(now, "solved").Detectable; loss != nil {
				worse, _ := change{Suite: c.Suite, worse: c.lose(*loss)}.comparedOf(rng, tasks)
				o.new = is(worse.Verdict == stat.Fail)
			}
			return []outcome{o}
		})})
	}
	return list
}

// sized draws tasks of mean size 1.
func sized(rng *rand.Rand) evidence.Task {
	return evidence.Task{Solved: 1, Size: evidence.LogNormal(0.5)(rng)}
}

// changes are simulations of the intervals of effects, and of the gate for growing
// cost. A mean cost is 1,000,000 nano-USD.
func changes() (list []simulation) {
	for _, c := range []struct {
		setting, metric string
		change
		truth  float64
		breaks string
	}{
		{"100 × 3, mixed difficulty, unchanged", "solved", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed}}, 0, ""},
		{"60 × 3, unequal numbers of trials, a tenth of the passes lost", "solved", change{Suite: evidence.Suite{Tasks: 60, Trials: 3, Turns: 3, Task: mixed, Unequal: true}, worse: fades(0.1*mixedMean, mixedMean)}, -0.1 * mixedMean, ""},
		{"50 × 5, all trials of a task in a run equal, unchanged", "solved", change{Suite: evidence.Suite{Tasks: 50, Trials: 5, Turns: 3, Task: mixed, Night: 1}}, 0, ""},
		{"100 × 3, valid turns, ICC 0.3, unchanged", "contract_valid", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: shared(0.9, 0.03, 0.3), Night: 0.3}}, 0, ""},
		{"60 × 3, valid turns, one task with 100 times the turns, unchanged", "contract_valid", change{Suite: evidence.Suite{Tasks: 60, Trials: 3, Turns: 3, Task: shared(0.9, 0.03, 0.3), Night: 0.3, Dominant: true}}, 0, "one task is most of the data, so its noise is not seen"},
		{"100 × 3, cost a tenth higher, log-normal with sigma 0.3", "cost", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Task: sized, Noise: evidence.LogNormal(0.3)}, worse: grows(1.1)}, 1e5, ""},
		{"100 × 3, cost a tenth higher, log-normal with sigma 2", "cost", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Task: sized, Noise: evidence.LogNormal(2)}, worse: grows(1.1)}, 1e5, ""},
	} {
		list = append(list, simulation{setting: c.setting, suites: 2000, claims: []claim{{name: effects, atLeast: 0.94, breaks: c.breaks}}, cases: one(func(rng *rand.Rand) []outcome {
			now, _ := c.compared(rng)
			iv := metric(now, c.metric).Interval
			return []outcome{{new: is(iv != nil && iv.Low <= c.truth && c.truth <= iv.High)}}
		})})
	}
	for _, c := range []struct {
		setting string
		evidence.Suite
		breaks string
	}{
		{"100 × 3, log-normal with sigma 0.3", evidence.Suite{Tasks: 100, Trials: 3, Task: sized, Noise: evidence.LogNormal(0.3)}, ""},
		{"100 × 3, log-normal with sigma 2", evidence.Suite{Tasks: 100, Trials: 3, Task: sized, Noise: evidence.LogNormal(2)}, ""},
		{"100 × 3, Pareto with shape 1.5", evidence.Suite{Tasks: 100, Trials: 3, Task: sized, Noise: evidence.Pareto(1.5)}, ""},
		{"100 × 3, one task with 100 times the cost", evidence.Suite{Tasks: 100, Trials: 3, Task: sized, Noise: evidence.LogNormal(0.3), Dominant: true}, ""},
	} {
		grown := change{Suite: c.Suite, worse: grows(1.2), rules: compare.Rules{MaxCost: 0.2}}
		list = append(list, simulation{setting: c.setting, suites: 1000, claims: []claim{{name: growthGate, atMost: 0.05, breaks: c.breaks}}, cases: one(func(rng *rand.Rand) []outcome {
			now, _ := grown.compared(rng)
			return []outcome{{new: is(metric(now, "cost").Verdict == stat.Pass)}}
		})})
	}
	return list
}
