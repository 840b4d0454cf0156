package night_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
)

// decide returns the trials of each model at the end of each of its rounds: cupel's own
// acceptance and comparison stop a model.
func (n night) decide(t *testing.T) (trials [][]int) {
	steps := (&harness.Decide{MaxTrials: n.Trials}).Rounds()
	for _, a := range n.Agents {
		for range a.Models {
			rounds := n.rounds(t, uint64(len(trials)), a.Change, steps)
			trials = append(trials, steps[:rounds])
		}
	}
	return trials
}

// rounds is the number of rounds of a model until it is decided.
func (n night) rounds(t *testing.T, seed uint64, change float64, steps []int) int {
	rng := rand.New(rand.NewPCG(seed, 2))
	suite := evidence.Suite{Tasks: n.Tasks, Trials: n.Baseline.Trials, Turns: 1, Task: func(rng *rand.Rand) evidence.Task {
		return evidence.Task{Solved: evidence.Beta(rng, n.Solved, n.ICC)}
	}}
	tasks := suite.Sample(rng)
	changed := make([]evidence.Task, len(tasks))
	for i, task := range tasks {
		task.Solved = min(1, task.Solved*(1+change/n.Solved))
		changed[i] = task
	}
	var baselines []manifest.Manifest
	for i := range n.Baseline.Runs {
		baselines = append(baselines, suite.Manifest(string(rune('a'+i)), "m"))
	}
	newer := suite
	newer.Trials = n.Trials
	m := newer.Manifest("new", "m")
	m.Decide = &manifest.Decide{Rounds: steps}
	m.Acceptance = manifest.Acceptance{}.Resolved()
	for m.Decide.Finished < len(steps) {
		m.Decide.Finished++
		m.Trials = steps[m.Decide.Finished-1]
		accepted := reports.NewBuilder(m)
		compared := compare.NewBuilder(baselines, m, []compare.Names{{Baseline: "m", New: "m"}}, compare.Rules{})
		for i := range baselines {
			suite.Run(rand.New(rand.NewPCG(seed, uint64(10+i))), tasks, baselines[i], "m", func(rows ledger.EpisodeRows) { compared.AddBaseline(i, rows) })
		}
		newer.Run(rand.New(rand.NewPCG(seed, 3)), changed, m, "m", func(rows ledger.EpisodeRows) {
			if int(rows.Episode.Trial) <= m.Trials {
				accepted.Add(rows)
				compared.AddNew(rows)
			}
		})
		c, err := compared.Comparison()
		require.NoError(t, err)
		if stat.Worst([]stat.Verdict{accepted.Report().Candidates[0].Verdict, c.Verdict}) != stat.Inconclusive {
			break
		}
	}
	return m.Decide.Finished
}
