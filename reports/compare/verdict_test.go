package compare

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
)

func TestVerdicts(t *testing.T) {
	infra := func(every int) func(int, int, *ledger.EpisodeRows) {
		return func(task, trial int, rows *ledger.EpisodeRows) {
			if (task*4+trial)%every == 0 {
				rows.Episode.Status, rows.Episode.InfraError, rows.Episode.Solved = ledger.StatusInfraError, true, false
			}
		}
	}
	strong := plan{candidate: "strong", tasks: 200, trials: 2}
	for name, c := range map[string]struct {
		new      plan
		edit     func(*manifest.Manifest)
		rules    Rules
		want     stat.Verdict
		headline string
	}{
		"nothing changed": {
			new: strong, want: stat.Pass,
			headline: "No regression: strong is not worse than the baseline by more than 5 points of solved episodes, 8 points of contract-valid first outputs (solved: baseline 100%, new 100%, over 200 tasks; a loss of 1.5 points or more is ruled out).",
		},
		"an eighth is lost": {
			new: plan{candidate: "weak", tasks: 200, trials: 2, episode: fails(func(task, _ int) bool { return task%8 == 0 })}, want: stat.Fail,
			headline: "Regression: weak solves 12.5 points fewer than the baseline (baseline 100%, new 87.5%, over 200 tasks; adjusted p below 0.0001).",
		},
		"a little is lost, within the margin": {
			new: plan{candidate: "weak", tasks: 200, trials: 2, episode: fails(func(task, _ int) bool { return task%40 == 0 })}, rules: Rules{MaxDrop: 0.1}, want: stat.Pass,
			headline: "No regression: weak is not worse than the baseline by more than 10 points of solved episodes, 8 points of contract-valid first outputs (solved: baseline 100%, new 97.5%, over 200 tasks; a loss of 5.2 points or more is ruled out).",
		},
		"too few tasks": {
			new: plan{candidate: "strong", tasks: 10, trials: 2}, want: stat.Inconclusive,
			headline: "Inconclusive: strong is neither significantly worse than the baseline nor certain to be within the margin; solved episodes: baseline 100%, new 100%, over 10 tasks, a change of −30.8 points to +30.8 points (95%); the margin is 5 points.",
		},
		"nothing to compare": {
			new: plan{candidate: "strong"}, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot be judged by solved episodes: there is no data.",
		},
		"outputs are worse": {
			new: plan{candidate: "weak", tasks: 200, trials: 2, episode: func(task, _ int, rows *ledger.EpisodeRows) { rows.Turns[0].ContractValid = task%4 != 0 }}, want: stat.Fail,
			headline: "Regression: weak gives 8.3 points fewer contract-valid first outputs than the baseline (baseline 100%, new 91.7%, over 200 tasks; adjusted p below 0.0001).",
		},
		"steps grew, and gate": {
			new: plan{candidate: "slow", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.Steps = 4 }}, rules: Rules{MaxSteps: 0.2}, want: stat.Fail,
			headline: "Regression: slow takes 33.3% more steps than the baseline (baseline 3 steps, new 4 steps, over 200 tasks; adjusted p below 0.0001).",
		},
		"steps grew, and do not gate": {
			new: plan{candidate: "slow", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.Steps = 4 }}, want: stat.Pass,
			headline: "No regression: slow is not worse",
		},
		"a cost that is not known cannot pass": {
			new: plan{candidate: "dear", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = nil }}, rules: Rules{MaxCost: 0.2}, want: stat.Inconclusive,
			headline: "Inconclusive: dear cannot be judged by cost (400 paired episodes without a known cost: unknown, which is never zero).",
		},
		"cost grew, and gates": {
			new: plan{candidate: "dear", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = new(int64(4_500_000)) }}, rules: Rules{MaxCost: 0.2}, want: stat.Fail,
			headline: "Regression: dear costs 50% more than the baseline (baseline $0.003, new $0.0045, over 200 tasks; adjusted p below 0.0001).",
		},
		"turns are slower, and gate": {
			new: plan{candidate: "slow", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Turns[1].DurationUs *= 4 }}, rules: Rules{MaxLatency: 0.2}, want: stat.Fail,
			headline: "Regression: slow takes 100% longer for a turn than the baseline (baseline 400 ms, new 800 ms, over 200 tasks; adjusted p below 0.0001).",
		},
		"still running": {
			new: strong, edit: func(m *manifest.Manifest) { m.Status = "running" }, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot pass: the status of the new run is running.",
		},
		"free on both sides": {
			new: plan{candidate: "free", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = new(int64) }}, rules: Rules{MaxCost: 0.2}, want: stat.Pass,
			headline: "No regression: free is not worse than the baseline by more than 5 points of solved episodes, 8 points of contract-valid first outputs, 20% of cost (",
		},
		"two lost to the provider": {
			new: plan{candidate: "strong", tasks: 200, trials: 2, episode: infra(300)}, want: stat.Pass, headline: "No regression: strong is not worse",
		},
		"a few lost to the provider": {
			new: plan{candidate: "strong", tasks: 200, trials: 2, episode: infra(25)}, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot pass: in the worst case of the 16 pairs without a result (T06 trial 1, T12 trial 2, T31 trial 1, T37 trial 2, T56 trial 1 and 11 more; run them with cupel run --resume run-strong), solved episodes change by −4 points instead of 0 points.",
		},
		"a regression survives what is lost": {
			new: plan{candidate: "weak", tasks: 200, trials: 2, episode: func(task, trial int, rows *ledger.EpisodeRows) {
				infra(10)(task, trial, rows)
				rows.Episode.Solved = rows.Episode.Solved && task%2 == 0
			}}, want: stat.Fail, headline: "Regression: weak solves 50",
		},
		"too many lost to the provider": {
			new: plan{candidate: "strong", tasks: 200, trials: 2, episode: infra(10)}, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot be judged: 40 of 400 pairs lost to infrastructure or harness errors on one side or both, more than the 5% of max_infra.",
		},
		"stopped early": {
			new: strong, edit: func(m *manifest.Manifest) { m.Stopped = "the cap of $5 is reached" }, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot pass: the new run was stopped early: the cap of $5 is reached.",
		},
		"planned and not run": {
			new: strong, edit: func(m *manifest.Manifest) { m.Candidates[0].Planned += 7 }, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot pass: 7 planned episodes of the new run have not been run.",
		},
		"capped": {
			new: plan{candidate: "strong", tasks: 200, trials: 2, episode: func(task, _ int, rows *ledger.EpisodeRows) {
				if task == 3 {
					rows.Episode.Status, rows.Episode.Solved = ledger.StatusBudgetStop, false
				}
			}}, want: stat.Inconclusive, headline: "Inconclusive: strong cannot pass: the new run was interrupted or capped.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.new.manifest()
			if c.edit != nil {
				c.edit(&m)
			}
			require.NoError(t, c.rules.Validate())
			b := NewBuilder([]manifest.Manifest{strong.manifest()}, m, []Names{{"strong", c.new.candidate}}, c.rules)
			strong.each(b.addBaseline)
			c.new.each(b.AddNew)
			got := finished(b)
			require.Equal(t, c.want, got.Verdict, got.Headline)
			require.Equal(t, c.want, got.Pairs[0].Verdict)
			require.True(t, strings.HasPrefix(got.Headline, c.headline), got.Headline)
			_, err := json.Marshal(got)
			require.NoError(t, err, "nothing in it is infinite or not a number")
		})
	}
}

// With more lost than max_infra, a regression must be one whatever the lost pairs were.
func TestLostPairsCouldUndoARegression(t *testing.T) {
	worse := plan{candidate: "weak", tasks: 200, trials: 2, episode: fails(func(task, _ int) bool { return task < 6 })}
	strong := func(lost int) plan {
		return plan{candidate: "strong", tasks: 200, trials: 2, episode: func(task, _ int, rows *ledger.EpisodeRows) {
			if task >= 200-lost {
				rows.Episode.Status, rows.Episode.InfraError, rows.Episode.Solved = ledger.StatusInfraError, true, false
			}
		}}
	}
	require.Equal(t, stat.Fail, compared(strong(0), worse, Rules{}).Verdict)
	require.Equal(t, stat.Fail, compared(strong(10), worse, Rules{}).Verdict, "5% are within the allowance")
	c := compared(strong(20), worse, Rules{})
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.Equal(t, "Inconclusive: weak cannot be judged: 40 of 400 pairs lost to infrastructure or harness errors on one side or both, more than the 5% of max_infra.", c.Headline)
}

// noisy is a run of tasks that differ in a trial here and there from another of them.
func noisy(candidate string, broken int, seed uint64) plan {
	p := plan{candidate: candidate, tasks: 100, trials: 3}
	chance := flips(seed, func(task int) float64 {
		switch {
		case task < broken:
			return 0
		case task%5 == 0:
			return 0.6
		}
		return 1
	})
	p.episode = func(task, trial int, rows *ledger.EpisodeRows) { chance((task*37)%100, trial, rows) }
	return p
}

// Where a margin cannot be ruled out, nothing is significantly worse, and ten points
// would have been detected, that is a verdict of its own.
func TestNoSignificantRegression(t *testing.T) {
	c := compared(noisy("a", 0, 1), noisy("a", 2, 2), Rules{})
	require.Equal(t, stat.NoRegression, c.Verdict, c.Headline)
	require.Regexp(t, `^No significant regression: a is not significantly worse than the baseline, and a loss of 10 points of solved episodes would have been detected with 80% power; solved episodes: baseline 9\d(\.\d)?%, new `, c.Headline)
	m := metric(c.Pairs[0], "solved")
	require.Equal(t, stat.NoRegression, m.Verdict)
	require.LessOrEqual(t, *m.Detectable, 0.1)

	c = compared(noisy("a", 0, 1), noisy("a", 2, 2), Rules{Detectable: 0.05})
	require.Equal(t, stat.Inconclusive, c.Verdict, "a loss of five points would not have been detected")
	c = compared(noisy("a", 0, 1), noisy("a", 14, 2), Rules{})
	require.Equal(t, stat.Fail, c.Verdict)
}

// The lost pairs may hide what is significantly worse, or take the power away.
func TestLostPairsHideARegression(t *testing.T) {
	newer := noisy("a", 2, 2)
	chance := newer.episode
	lose := func(tasks int) plan {
		newer.episode = func(task, trial int, rows *ledger.EpisodeRows) {
			if chance(task, trial, rows); task >= 100-tasks {
				rows.Episode.Status, rows.Episode.InfraError, rows.Episode.Solved = ledger.StatusInfraError, true, false
			}
		}
		return newer
	}
	require.Equal(t, stat.NoRegression, compared(noisy("a", 0, 1), lose(0), Rules{}).Verdict)
	c := compared(noisy("a", 0, 1), lose(5), Rules{})
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.Contains(t, c.Headline, "in the worst case of the 15 pairs without a result (T95 trial 1, ")
	require.Contains(t, c.Headline, "cupel run --resume run-a")
}
