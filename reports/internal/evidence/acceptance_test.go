package evidence_test

import (
	"math/rand/v2"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
)

const (
	lostPass     = "acceptance passes a share below its threshold whose failures were lost as infrastructure errors"
	copiesPass   = "acceptance passes a share that equals its threshold, tasks present several times"
	meanCoverage = "a 95% interval of a mean number of steps contains the true mean"
	meanPass     = "acceptance passes a mean number of steps that equals its threshold"
)

// judged draws a run and judges it. old is Wilson's interval of the solved share, over
// all episodes that have a result, and oldSteps is the t interval of the steps of
// solved ones.
func judged(rng *rand.Rand, s evidence.Suite, a manifest.Acceptance) (c model.Candidate, old, oldSteps stat.Interval) {
	m := s.Manifest("a", "a")
	m.Acceptance = a
	b := model.NewBuilder(m, nil)
	k, n := 0, 0
	var steps []stat.Observation
	s.Run(rng, s.Sample(rng), m, "a", func(rows ledger.EpisodeRows) {
		b.Add(rows)
		if rows.Episode.Excluded() == "" {
			n++
		}
		if rows.Episode.Solved {
			k++
			steps = append(steps, stat.Observation{Cluster: rows.Episode.TaskID, Value: float64(rows.Episode.Steps)})
		}
	})
	mean, _ := stat.ClusterMean(steps)
	oldSteps, _ = mean.Interval(0.95)
	return b.Report().Candidates[0], wilson(k, n), oldSteps
}

// criterion returns a built-in criterion by name.
func criterion(c model.Candidate, name string) model.Criterion {
	for _, k := range c.Criteria {
		if k.Name == name {
			return k
		}
	}
	panic("no criterion " + name)
}

// acceptances are simulations that judge whole runs.
func acceptances() (list []simulation) {
	// The steps are few, so that only the solved share decides.
	small := func(mean, icc float64) func(*rand.Rand) evidence.Task {
		return func(rng *rand.Rand) evidence.Task {
			return evidence.Task{Solved: evidence.Beta(rng, mean, icc), Size: 0.3}
		}
	}
	pass := func(s evidence.Suite, a manifest.Acceptance) []func(*rand.Rand) []outcome {
		return one(func(rng *rand.Rand) []outcome {
			c, old, _ := judged(rng, s, a)
			return []outcome{{is(old.Low >= float64(a.MinSolved)), is(c.Verdict == stat.Pass)}}
		})
	}
	for _, c := range []struct {
		setting string
		mean    float64
	}{
		{"300 × 3, ICC 0.3, at the threshold", 0.8},
		{"300 × 3, ICC 0.3, 2 points below it", 0.78},
	} {
		s := evidence.Suite{Tasks: 300, Trials: 3, Turns: 2, Task: small(c.mean, 0.3), LostFailed: 1, MaxLost: 0.05}
		list = append(list, simulation{setting: c.setting, suites: 2000, claims: []claim{{name: lostPass, atMost: 0.035}}, cases: pass(s, manifest.Acceptance{MinSolved: 0.8})})
	}
	for _, copies := range []int{5} {
		s := evidence.Suite{Tasks: 100, Trials: 3, Turns: 2, Task: small(0.8, 0.3), Copies: copies}
		list = append(list, simulation{
			setting: "100 × 3, ICC 0.3, each task " + string(rune('0'+copies)) + " times under other names", suites: 2000,
			claims: []claim{{name: copiesPass, atMost: 0.035, breaks: "copies of a task count as independent tasks"}}, cases: pass(s, manifest.Acceptance{MinSolved: 0.8}),
		})
	}
	for _, c := range []struct {
		setting string
		tasks   int
		sigma   float64
	}{
		{"20 × 3, sizes of tasks log-normal with sigma 0.5", 20, 0.5},
		{"100 × 3, sizes of tasks log-normal with sigma 0.5", 100, 0.5},
		{"100 × 3, sizes of tasks log-normal with sigma 1", 100, 1},
	} {
		s := evidence.Suite{Tasks: c.tasks, Trials: 3, Turns: 2, Task: func(rng *rand.Rand) evidence.Task {
			return evidence.Task{Solved: 1, Size: evidence.LogNormal(c.sigma)(rng)}
		}}
		list = append(list, simulation{
			setting: c.setting, suites: 2000, claims: []claim{{name: meanCoverage, atLeast: 0.94}, {name: meanPass, atMost: 0.035}},
			cases: one(func(rng *rand.Rand) []outcome {
				const truth = 4
				c, _, old := judged(rng, s, manifest.Acceptance{MaxSteps: truth})
				k := criterion(c, "steps_per_solved")
				return []outcome{{is(old.Low <= truth && truth <= old.High), is(k.Interval != nil && k.Interval.Low <= truth && truth <= k.Interval.High)}, {is(old.High <= truth), is(k.Verdict == stat.Pass)}}
			}),
		})
	}
	return list
}
