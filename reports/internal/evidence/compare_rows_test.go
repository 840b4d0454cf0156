package evidence_test

import (
	"math"
	"math/rand/v2"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
)

func simulations() (list []simulation) {
	list = append(list, shares()...)
	list = append(list, unchanged()...)
	list = append(list, worse()...)
	list = append(list, evenSplits())
	list = append(list, powers()...)
	list = append(list, rounds()...)
	list = append(list, changes()...)
	list = append(list, acceptances()...)
	list = append(list, contests()...)
	return append(list, trends()...)
}

const (
	falseFail = "a comparison fails an unchanged agent"
	familyOf4 = "a comparison fails one of four unchanged candidates"
	exitZero  = "a comparison of an unchanged agent ends with 0"
	falseGate = "a comparison passes a loss of the margin"
	validGate = "a comparison passes valid turns that lose the margin"
	lossGreen = "a comparison with an agent that solves 10 points less ends with 0"
	lostGate  = "a comparison passes a loss whose failures were lost as infrastructure errors"
)

// shared draws tasks whose trials and turns have an intra-task correlation.
func shared(solved, invalid, icc float64) func(*rand.Rand) evidence.Task {
	return func(rng *rand.Rand) evidence.Task {
		return evidence.Task{Solved: evidence.Beta(rng, solved, icc), Invalid: evidence.Beta(rng, invalid, icc), Size: evidence.LogNormal(0.5)(rng)}
	}
}

// fifth draws tasks of which a fifth is solved half the time, and the others always.
func fifth(rng *rand.Rand) evidence.Task {
	if rng.Float64() < 0.2 {
		return evidence.Task{Solved: 0.5}
	}
	return evidence.Task{Solved: 1}
}

func constant(solved float64) func(*rand.Rand) evidence.Task {
	return func(*rand.Rand) evidence.Task { return evidence.Task{Solved: solved} }
}

// unchanged are simulations that compare two runs of one agent.
func unchanged() (list []simulation) {
	growth := compare.Rules{MaxCost: 0.2, MaxLatency: 0.5, MaxSteps: 0.2}
	for _, c := range []struct {
		setting string
		change
		suites int
		breaks string
	}{
		{"100 × 3, tasks of mixed difficulty", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed}}, 2000, ""},
		{"5 × 20, ICC 0.3", change{Suite: evidence.Suite{Tasks: 5, Trials: 20, Turns: 3, Task: shared(0.8, 0.03, 0.3)}}, 2000, ""},
		{"20 × 10, ICC 0.6", change{Suite: evidence.Suite{Tasks: 20, Trials: 10, Turns: 3, Task: shared(0.8, 0.03, 0.6)}}, 2000, ""},
		{"50 × 5, all trials of a task in a run equal", change{Suite: evidence.Suite{Tasks: 50, Trials: 5, Turns: 3, Task: mixed, Night: 1}}, 2000, ""},
		{"50 × 3, three runs of the baseline, all trials of a task in a run equal", change{Suite: evidence.Suite{Tasks: 50, Trials: 3, Turns: 3, Task: mixed, Night: 1}, baselines: 3}, 2000, ""},
		{"60 × 3, unequal numbers of trials", change{Suite: evidence.Suite{Tasks: 60, Trials: 3, Turns: 3, Task: mixed, Night: 0.3, Unequal: true}}, 2000, ""},
		{"60 × 3, one task with 100 times the turns and cost", change{Suite: evidence.Suite{Tasks: 60, Trials: 3, Turns: 3, Task: mixed, Night: 0.3, Dominant: true, Noise: evidence.LogNormal(0.3)}, rules: growth}, 1000, ""},
		{"60 × 3, costs log-normal with sigma 2, five metrics", change{Suite: evidence.Suite{Tasks: 60, Trials: 3, Turns: 3, Task: mixed, Noise: evidence.LogNormal(2)}, rules: growth}, 1000, ""},
		{"60 × 3, costs Pareto with shape 1.5, five metrics", change{Suite: evidence.Suite{Tasks: 60, Trials: 3, Turns: 3, Task: mixed, Noise: evidence.Pareto(1.5)}, rules: growth}, 1000, ""},
		{"100 × 3, a third of the failures lost, at most 5% of all", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed}, lose: lostFailures(0.33)}, 2000, ""},
		{"100 × 3, all solved", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: constant(1)}}, 2000, ""},
		{"50,000 × 1, half of the tasks solved half the time", change{Suite: evidence.Suite{Tasks: 50_000, Trials: 1, Task: constant(0.5)}}, 200, ""},
		{"20 tasks, each 5 times under other names, one draw of each a night", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: shared(0.8, 0.03, 0.3), Night: 1, Copies: 5}}, 2000,
			"copies of a task count as independent tasks"},
	} {
		list = append(list, simulation{setting: c.setting, suites: c.suites, claims: []claim{{name: falseFail, atMost: 0.05, breaks: c.breaks}}, cases: c.says(stat.Fail)})
	}
	four := change{Suite: evidence.Suite{Tasks: 60, Trials: 3, Turns: 3, Task: mixed, Night: 0.3}, candidates: 4}
	list = append(list, simulation{
		setting: "60 × 3, four candidates", suites: 2000, claims: []claim{{name: familyOf4, atMost: 0.05}},
		cases: one(func(rng *rand.Rand) []outcome {
			now, _ := four.compared(rng)
			return []outcome{{new: is(now.Verdict == stat.Fail)}}
		}),
	})
	for _, c := range []struct {
		setting string
		change
		breaks string
	}{
		{"100 × 3, mixed difficulty", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed}}, ""},
		{"100 × 3, ICC 0.3", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: shared(0.9, 0.02, 0.3)}}, ""},
		{"100 × 3, ICC 0.6", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: shared(0.9, 0.02, 0.6)}}, ""},
		{"100 × 3, ICC 0.3, three runs of the baseline", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: shared(0.9, 0.02, 0.3)}, baselines: 3}, ""},
		{"100 × 3, all trials of a task in a run equal, a fifth of the tasks differ between runs half the time", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: fifth, Night: 1}}, "three equal trials are one"},
		{"100 × 3, mixed difficulty, all trials of a task in a run equal", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed, Night: 1}}, "three equal trials are one"},
		{"100 × 3, mixed difficulty, all trials of a task in a run equal, three runs of the baseline", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed, Night: 1}, baselines: 3}, ""},
	} {
		list = append(list, simulation{setting: c.setting, claims: []claim{{name: exitZero, atLeast: 0.9, breaks: c.breaks}}, suites: 2000, cases: c.says(green...)})
	}
	return list
}

// green are the verdicts that end with exit code 0.
var green = []stat.Verdict{stat.Pass, stat.NoRegression}

// lostFailures loses a share of the new run's failures, within the allowance of 5%.
func lostFailures(chance float64) func(*evidence.Suite) {
	return func(s *evidence.Suite) { s.LostFailed, s.MaxLost = chance, 0.05 }
}

// each changes each task independently.
func each(change func(rng *rand.Rand, t *evidence.Task)) func(*rand.Rand, []evidence.Task) {
	return func(rng *rand.Rand, tasks []evidence.Task) {
		for i := range tasks {
			change(rng, &tasks[i])
		}
	}
}

// breaks breaks tasks so that the given share of trials is lost on average over all
// possible tasks, whose mean solved share is given.
func breaks(loss, mean float64) func(*rand.Rand, []evidence.Task) {
	return each(func(rng *rand.Rand, t *evidence.Task) {
		if rng.Float64() < loss/mean {
			t.Solved = 0
		}
	})
}

// breaksOf breaks as many of these tasks as lose the given share of trials. The last
// one breaks in part.
func breaksOf(loss float64) func(*rand.Rand, []evidence.Task) {
	return func(rng *rand.Rand, tasks []evidence.Task) {
		left := loss * float64(len(tasks))
		for _, i := range rng.Perm(len(tasks)) {
			lost := min(left, tasks[i].Solved)
			tasks[i].Solved, left = tasks[i].Solved-lost, left-lost
		}
	}
}

// wanes lets every task lose the same number of points.
func wanes(loss float64) func(*rand.Rand, []evidence.Task) {
	return each(func(_ *rand.Rand, t *evidence.Task) { t.Solved -= loss })
}

// fades lets every task lose the same share of its passes; their mean is given.
func fades(loss, mean float64) func(*rand.Rand, []evidence.Task) {
	return each(func(_ *rand.Rand, t *evidence.Task) { t.Solved *= 1 - loss/mean })
}

// fadesOf lets these tasks lose the given share of trials, each the same share of its
// passes.
func fadesOf(loss float64) func(*rand.Rand, []evidence.Task) {
	return func(rng *rand.Rand, tasks []evidence.Task) {
		mean := 0.0
		for _, t := range tasks {
			mean += t.Solved / float64(len(tasks))
		}
		fades(loss, mean)(rng, tasks)
	}
}

// grows multiplies the cost of every task.
func grows(factor float64) func(*rand.Rand, []evidence.Task) {
	return each(func(_ *rand.Rand, t *evidence.Task) { t.Size *= factor })
}

// worse are simulations that compare with a worse agent.
func worse() (list []simulation) {
	rules := compare.Rules{MaxDrop: 0.1}
	for _, c := range []struct {
		setting string
		change
		suites int
		breaks string
	}{
		{"60 × 1, one task in twenty breaks", change{Suite: evidence.Suite{Tasks: 60, Trials: 1, Turns: 3, Task: constant(1)}, worse: breaks(0.05, 1)}, 2000, ""},
		{"100 × 3, one task in twenty breaks", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: constant(1)}, worse: breaks(0.05, 1)}, 2000, ""},
		{"300 × 3, every task loses 5 points", change{Suite: evidence.Suite{Tasks: 300, Trials: 3, Turns: 3, Task: constant(0.9)}, worse: wanes(0.05)}, 2000, ""},
		{"300 × 3, one task in twenty breaks, unequal numbers of trials", change{Suite: evidence.Suite{Tasks: 300, Trials: 3, Turns: 3, Task: constant(0.99), Unequal: true}, worse: breaks(0.05, 0.99)}, 2000, ""},
		{"100 × 3, every task loses 10 points, margin 10, all trials of a task in a run equal", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: constant(0.95), Night: 1}, worse: wanes(0.1), rules: rules}, 2000, ""},
		{"60 tasks, each 5 times under other names, one in twenty breaks", change{Suite: evidence.Suite{Tasks: 300, Trials: 1, Turns: 3, Task: constant(1), Copies: 5}, worse: breaks(0.05, 1)}, 2000, "copies of a task count as independent tasks"},
	} {
		list = append(list, simulation{setting: c.setting, suites: c.suites, claims: []claim{{name: falseGate, atMost: 0.05, breaks: c.breaks}}, cases: c.passes()})
	}
	for _, loss := range []float64{0.05, 0.08} {
		c := change{
			Suite: evidence.Suite{Tasks: 300, Trials: 3, Turns: 3, Task: func(rng *rand.Rand) evidence.Task { return evidence.Task{Solved: evidence.Beta(rng, 0.95, 0.3)} }},
			worse: breaks(loss, 0.95), lose: lostFailures(1),
		}
		list = append(list, simulation{
			setting: "300 × 3, a true loss of " + points(loss) + ", failures lost until 5% of all are", suites: 2000,
			claims: []claim{{name: lostGate, atMost: 0.05}}, cases: c.passes(),
		})
	}
	return append(list, losses()...)
}

// losses are simulations with a loss of 10 points. A comparison that ends with 0 must
// detect it in 8 of 10 cases.
func losses() (list []simulation) {
	const loss = 0.1
	for _, c := range []struct {
		setting string
		change
	}{
		{"100 × 3, ICC 0.3, some tasks break", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: shared(0.9, 0.02, 0.3)}, worse: breaks(loss, 0.9)}},
		{"100 × 3, ICC 0.3, all lose in proportion", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: shared(0.9, 0.02, 0.3)}, worse: fades(loss, 0.9)}},
		{"100 × 3, mixed difficulty, some tasks break", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: mixed}, worse: breaks(loss, mixedMean)}},
		{"50 × 3, all solved, some tasks break", change{Suite: evidence.Suite{Tasks: 50, Trials: 3, Turns: 3, Task: constant(1)}, worse: breaks(loss, 1)}},
		{"50 × 3, three runs of the baseline, all trials of a task in a run equal, some tasks break", change{Suite: evidence.Suite{Tasks: 50, Trials: 3, Turns: 3, Task: mixed, Night: 1}, worse: breaks(loss, mixedMean), baselines: 3}},
		{"100 × 3, ICC 0.3, some tasks break, failures lost until 5% of all are", change{Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: shared(0.9, 0.02, 0.3)}, worse: breaks(loss, 0.9), lose: lostFailures(1)}},
	} {
		list = append(list, simulation{setting: c.setting, suites: 2000, claims: []claim{{name: lossGreen, atMost: 0.2}}, cases: c.says(green...)})
	}
	invalid := change{
		Suite: evidence.Suite{Tasks: 100, Trials: 3, Turns: 3, Task: shared(0.9, 0.02, 0.3)}, rules: compare.Rules{MaxInvalid: 0.08},
		worse: each(func(rng *rand.Rand, t *evidence.Task) {
			t.Invalid += (1 - t.Invalid) * evidence.Beta(rng, 0.08/0.98, 0.3)
		}),
	}
	return append(list, simulation{
		setting: "100 × 3, margin of 8 points, ICC 0.3", suites: 2000, claims: []claim{{name: validGate, atMost: 0.05}},
		cases: one(func(rng *rand.Rand) []outcome {
			now, _ := invalid.compared(rng)
			return []outcome{{new: is(metric(now, "contract_valid").Verdict == stat.Pass)}}
		}),
	})
}

func points(share float64) string {
	return string(rune('0'+int(math.Round(100*share)))) + " points"
}

// passes counts passes by the solved share alone, because no other metric is worse.
func (c change) passes() []func(*rand.Rand) []outcome { return c.says(stat.Pass) }
