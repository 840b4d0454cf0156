package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// lossyWorld has 60 solved tasks of two trials. The first tasks, as many as given, lose
// their second trial. Their episodes have two turns, one of them four.
func lossyWorld(lost int, own ...manifest.Criterion) *reporttest.World {
	w := reporttest.NewWorld("a")
	w.M.Acceptance = manifest.Acceptance{MinValid: 0.5, MinWithin: 0.5, Criteria: own}
	for i := range 60 {
		task := fmt.Sprintf("G%02d", i)
		steps := 2
		if i == 59 {
			steps = 4
		}
		w.Add(1, task, true, steps, func(e *ledger.Episode, _ []ledger.Turn) { e.Clarifies, e.CostNanoUSD = int32(i%2), new(int64(100)) })
		w.Add(1, task, true, steps, func(e *ledger.Episode, _ []ledger.Turn) {
			e.Trial, e.CostNanoUSD = 2, new(int64(100))
			if i < lost {
				e.Status, e.InfraError, e.Solved = ledger.StatusInfraError, true, false
			}
		})
	}
	return w
}

// Each criterion is judged twice: with its lost episodes at their worst and at their
// best, in the tasks that they belong to.
func TestBoundsOfEachCriterion(t *testing.T) {
	const lost = 3
	r := build(lossyWorld(lost).M, lossyWorld(lost).Rows)
	// clusters returns the 60 tasks. In the first ones, an episode is replaced by the
	// assumed result.
	clusters := func(num, den func(i int) float64, with stat.Cluster) (list []stat.Cluster) {
		for i := range 60 {
			c := stat.Cluster{Num: num(i), Den: den(i)}
			if i < lost {
				c = stat.Cluster{Num: c.Num + with.Num, Den: c.Den + with.Den}
			}
			list = append(list, c)
		}
		return list
	}
	episodes := func(i int) float64 { return 2 - float64(one(i < lost)) }
	turns := func(i int) float64 { return 2 * episodes(i) * (1 + float64(one(i == 59))) }
	asked := func(i int) float64 { return float64(i % 2) }
	share := func(list []stat.Cluster) (stat.Interval, bool) { return stat.ShareInterval(list, 0.95) }
	upTo := func(most float64) func([]stat.Cluster) (stat.Interval, bool) {
		return func(list []stat.Cluster) (stat.Interval, bool) {
			return stat.MeanInterval(list, stat.Interval{High: most}, 0.95)
		}
	}
	for i, c := range []struct {
		name        string
		num, den    func(int) float64
		worst, best stat.Cluster
		interval    func([]stat.Cluster) (stat.Interval, bool)
	}{
		{"solved", episodes, episodes, stat.Cluster{Den: 1}, stat.Cluster{Num: 1, Den: 1}, share},
		{"valid_json", turns, turns, stat.Cluster{Den: 4}, stat.Cluster{Num: 4, Den: 4}, share},
		{"clarifies_per_success", asked, episodes, stat.Cluster{Num: 3, Den: 1}, stat.Cluster{Den: 1}, upTo(3)},
		{"steps_per_solved", turns, episodes, stat.Cluster{Num: 15, Den: 1}, stat.Cluster{Den: 1}, upTo(15)},
		{"within_steps", episodes, episodes, stat.Cluster{Den: 1}, stat.Cluster{Num: 1, Den: 1}, share},
	} {
		got := r.Candidates[0].Criteria[i]
		require.Equal(t, c.name, got.Name)
		seen, ok := c.interval(clusters(c.num, c.den, stat.Cluster{}))
		require.True(t, ok)
		require.Equal(t, seen, *got.Interval, c.name)
		for _, b := range []struct {
			bound *Bound
			with  stat.Cluster
		}{{got.WorstCase, c.worst}, {got.BestCase, c.best}} {
			list := clusters(c.num, c.den, b.with)
			want, ok := c.interval(list)
			require.True(t, ok)
			require.Equal(t, want, *b.bound.Interval, c.name)
			m, _ := stat.ClusterRatio(list)
			require.Equal(t, m.Value, *b.bound.Value, c.name)
			require.Equal(t, stat.Pass, b.bound.Verdict, c.name)
		}
	}
	require.Equal(t, "meets all 5 criteria, even if the 3 lost episodes (3 infrastructure errors) of 120 planned had gone as badly as possible.", r.Candidates[0].Sentence)

	whole := build(lossyWorld(0).M, lossyWorld(0).Rows)
	for _, c := range whole.Candidates[0].Criteria {
		require.Nil(t, c.WorstCase)
		require.Nil(t, c.BestCase)
	}
}

// A custom criterion, too, passes only with its lost episodes at their worst, if its
// form has a worst value.
func TestBoundsOfCustomCriteria(t *testing.T) {
	for _, c := range []struct {
		expr        string
		few         stat.Verdict // the candidate's, with one episode lost
		many        stat.Verdict // with 60 lost
		worst, best *float64
	}{
		{`share(solved) >= 80%`, stat.Pass, stat.Inconclusive, new(119.0 / 120), new(1.0)},
		{`share(not solved) <= 20%`, stat.Pass, stat.Inconclusive, new(1.0 / 120), new(0.0)},
		{`share(contract_valid) >= 80% where role == "main"`, stat.Pass, stat.Inconclusive, new(242.0 / 246), new(1.0)},
		{`mean(steps) <= 5`, stat.Pass, stat.Inconclusive, new((242.0 + 15) / 120), new(242.0 / 120)},
		{`mean(steps) >= 1`, stat.Pass, stat.Inconclusive, new(242.0 / 120), new((242.0 + 4) / 120)},
		{`rate(clarifies) <= 2`, stat.Pass, stat.Inconclusive, new(36.0 / 119), new(30.0 / 120)},
		{`sum(episodes.cost_nanousd) / count(solved) <= $0.0000005`, stat.Pass, stat.Inconclusive, new((11900.0 + 1500) / 119), new(11900.0 / 120)},
		{`p50(steps) <= 3`, stat.Pass, stat.Inconclusive, new(2.0), new(2.0)},
		{`p50(steps) >= 1`, stat.Pass, stat.Inconclusive, new(2.0), new(2.0)},
		{`max(steps) <= 9`, stat.Inconclusive, stat.Inconclusive, nil, nil},
	} {
		for lost, want := range map[int]stat.Verdict{0: stat.Pass, 1: c.few, 60: c.many} {
			w := lossyWorld(lost, manifest.Criterion{Name: "mine", Expr: c.expr})
			w.M.Acceptance.MinValid, w.M.Acceptance.MinSolved, w.M.Acceptance.MinWithin = 0.01, 0.01, 0
			w.M.Acceptance.MaxClarifies, w.M.Acceptance.MaxSteps = 1000, 1000
			r := build(w.M, w.Rows)
			mine := named(t, r.Candidates[0].Criteria, "mine")
			require.Equal(t, stat.Pass, mine.Verdict, "%s: %s", c.expr, mine.Note)
			if lost == 1 {
				require.Equal(t, c.worst, mine.WorstCase.Value, c.expr)
				require.Equal(t, c.best, mine.BestCase.Value, c.expr)
			}
			v := stat.Pass
			if lost > 0 {
				v = mine.WorstCase.Verdict
			}
			if v == stat.Fail {
				v = stat.Inconclusive // the candidate's: the lost episodes need not have been that bad
			}
			require.Equal(t, want, v, "%s with %d lost: %+v", c.expr, lost, mine.WorstCase)
			require.Equal(t, want, r.Candidates[0].Verdict, "%s with %d lost: %s", c.expr, lost, r.Candidates[0].Sentence)
		}
	}
	never := named(t, build(lossyWorld(0, manifest.Criterion{Name: "n", Expr: `rate(episodes.thrash_events) <= 0`}).M, lossyWorld(0).Rows).Candidates[0].Criteria, "n")
	require.Equal(t, stat.Inconclusive, never.Verdict, "no mean of few tasks is known to be 0")
	require.Contains(t, never.Note, "use count() <= 0")
}

// The text names the first lost episodes, with their candidate if there are several,
// and the command that runs them.
func TestLostEpisodesAreNamed(t *testing.T) {
	w := lossyWorld(40)
	c := build(w.M, w.Rows).Candidates[0]
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.Equal(t, "meets all 5 criteria on the episodes with a result, but 40 of 120 planned episodes (33.3%) were lost (40 infrastructure errors: G00 trial 2, G01 trial 2, G02 trial 2 and 37 more): "+
		"had these gone as badly as possible, it would not pass tasks solved, contract-valid first outputs, clarifying questions per success and steps per solved task. To run them: cupel run --resume r", c.Sentence)
	w.M.RescoredFrom = "r0"
	require.Contains(t, build(w.M, w.Rows).Candidates[0].Sentence, "To run them: cupel run --resume r0")
	w.M.MergedFrom = []string{"r1", "r2"}
	require.Contains(t, build(w.M, w.Rows).Candidates[0].Sentence, "To run them: cupel run --resume of the shards, then cupel merge")

	two := lossyWorld(40)
	two.M.Candidates = append(two.M.Candidates, two.M.Candidates[0])
	two.M.Candidates[1].Name = "b"
	two.M.Candidates[0], two.M.Candidates[1] = two.M.Candidates[1], two.M.Candidates[0]
	two.Add(1, "G00", false, 1, reporttest.Ended(ledger.StatusHarnessError, "tool", "none"))
	g := build(two.M, two.Rows).Groups[0]
	require.Contains(t, g.Sentence, "G00 trial 1 of b, G00 trial 2 of a, G01 trial 2 of a and 38 more")
}
