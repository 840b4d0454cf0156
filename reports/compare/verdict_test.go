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
		new   plan
		edit  func(*manifest.Manifest)
		rules Rules
		want  stat.Verdict
		says  string
	}{
		"nothing changed": {
			new: strong, want: stat.Pass,
			says: "No regression. The new run solves 100.0% of its episodes in 200 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). Ruled out: a loss of 1.5 points or more of solved episodes; a loss of 1.5 points or more of contract-valid first outputs.",
		},
		"an eighth is lost": {
			new: plan{candidate: "weak", tasks: 200, trials: 2, episode: fails(func(task, _ int) bool { return task%8 == 0 })}, want: stat.Fail,
			says: "Regression: 12.5 points fewer tasks solved. The new run solves 87.5% of its episodes in 200 tasks, the baseline 100.0%: −12.5 points (95% CI −17.1 to −7.9). The loss is significant (adjusted p < 0.0001).",
		},
		"a little is lost, within the margin": {
			new: plan{candidate: "weak", tasks: 200, trials: 2, episode: fails(func(task, _ int) bool { return task%40 == 0 })}, rules: Rules{MaxDrop: 0.1}, want: stat.Pass,
			says: "No regression. The new run solves 97.5% of its episodes in 200 tasks, the baseline 100.0%: −2.5 points (95% CI −4.7 to −0.3). Ruled out: a loss of 5.2 points or more of solved episodes; a loss of 1.5 points or more of contract-valid first outputs.",
		},
		"too few tasks": {
			new: plan{candidate: "strong", tasks: 10, trials: 2}, want: stat.Inconclusive,
			says: "Inconclusive: more trials needed. The new run solves 100.0% of its episodes in 10 tasks, the baseline 100.0%: 0.0 points (95% CI −30.8 to +30.8). No loss of solved episodes is significant, and a loss of the margin (5 points) is not ruled out.",
		},
		"nothing to compare": {
			new: plan{candidate: "strong"}, want: stat.Inconclusive,
			says: "Inconclusive: no data for solved episodes. No data for solved episodes.",
		},
		"outputs are worse": {
			new: plan{candidate: "weak", tasks: 200, trials: 2, episode: func(task, _ int, rows *ledger.EpisodeRows) { rows.Turns[0].ContractValid = task%4 != 0 }}, want: stat.Fail,
			says: "Regression: 8.3 points fewer contract-valid first outputs. The new run gives 91.7% contract-valid first outputs in 200 tasks, the baseline 100.0%: −8.3 points (95% CI −10.4 to −6.3). The loss is significant (adjusted p < 0.0001).",
		},
		"steps grew, and gate": {
			new: plan{candidate: "slow", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.Steps = 4 }}, rules: Rules{MaxSteps: 0.2}, want: stat.Fail,
			says: "Regression: 33.3% more steps. The new run takes 4 steps for an episode in 200 tasks, the baseline 3 steps: +33.3%. The loss is significant (adjusted p < 0.0001).",
		},
		"steps grew, and do not gate": {
			new: plan{candidate: "slow", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.Steps = 4 }}, want: stat.Pass,
			says: "No regression. The new run solves 100.0% of its episodes in 200 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). Ruled out: a loss of 1.5 points or more of solved episodes; a loss of 1.5 points or more of contract-valid first outputs.",
		},
		"a cost that is not known cannot pass": {
			new: plan{candidate: "dear", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = nil }}, rules: Rules{MaxCost: 0.2}, want: stat.Inconclusive,
			says: "Inconclusive: no data for cost. No data for cost. 400 paired episodes without a known cost: unknown, which is never zero.",
		},
		"cost grew, and gates": {
			new: plan{candidate: "dear", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = new(int64(4_500_000)) }}, rules: Rules{MaxCost: 0.2}, want: stat.Fail,
			says: "Regression: 50% higher cost. The new run costs $0.00450 for an episode in 200 tasks, the baseline $0.00300: +50.0%. The loss is significant (adjusted p < 0.0001).",
		},
		"turns are slower, and gate": {
			new: plan{candidate: "slow", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { *rows.Turns[1].DurationUs *= 4 }}, rules: Rules{MaxLatency: 0.2}, want: stat.Fail,
			says: "Regression: 100% longer turns. The new run takes 800 ms for a turn in 200 tasks, the baseline 400 ms: +100.0%. The loss is significant (adjusted p < 0.0001).",
		},
		"still running": {
			new: strong, edit: func(m *manifest.Manifest) { m.Status = "running" }, want: stat.Inconclusive,
			says: "Inconclusive: the status of the new run is running. The new run solves 100.0% of its episodes in 200 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). A pass is not possible: the status of the new run is running.",
		},
		"free on both sides": {
			new: plan{candidate: "free", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = new(int64) }}, rules: Rules{MaxCost: 0.2}, want: stat.Pass,
			says: "No regression. The new run solves 100.0% of its episodes in 200 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). Ruled out: a loss of 1.5 points or more of solved episodes; a loss of 1.5 points or more of contract-valid first outputs; a growth of 20% or more of cost.",
		},
		"two lost to the provider": {
			new: plan{candidate: "strong", tasks: 200, trials: 2, episode: infra(300)}, want: stat.Pass, says: "No regression. The new run solves 100.0% of its episodes in 200 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). Ruled out: a loss of 1.5 points or more of solved episodes; a loss of 1.5 points or more of contract-valid first outputs.",
		},
		"a few lost to the provider": {
			new: plan{candidate: "strong", tasks: 200, trials: 2, episode: infra(25)}, want: stat.Inconclusive,
			says: "Inconclusive: 16 pairs without a result. The new run solves 100.0% of its episodes in 200 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). A pass is not possible: in the worst case of the 16 pairs without a result (T06 trial 1, T12 trial 2, T31 trial 1, T37 trial 2, T56 trial 1 and 11 more), solved episodes change by −4.0 points. To run them: cupel run --resume run-strong.",
		},
		"a regression survives what is lost": {
			new: plan{candidate: "weak", tasks: 200, trials: 2, episode: func(task, trial int, rows *ledger.EpisodeRows) {
				infra(10)(task, trial, rows)
				rows.Episode.Solved = rows.Episode.Solved && task%2 == 0
			}}, want: stat.Fail, says: "Regression: 50 points fewer tasks solved. The new run solves 50.0% of its episodes in 200 tasks, the baseline 100.0%: −50.0 points (95% CI −57.2 to −42.8). The loss is significant (adjusted p < 0.0001).",
		},
		"too many lost to the provider": {
			new: plan{candidate: "strong", tasks: 200, trials: 2, episode: infra(10)}, want: stat.Inconclusive,
			says: "Inconclusive: 40 of 400 pairs without a result, more than the 5% of max_infra. The new run solves 100.0% of its episodes in 200 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). No verdict is possible: 40 of 400 pairs without a result, more than the 5% of max_infra.",
		},
		"stopped early": {
			new: strong, edit: func(m *manifest.Manifest) { m.Stopped = "the cap of $5 is reached" }, want: stat.Inconclusive,
			says: "Inconclusive: the new run was stopped early: the cap of $5 is reached. The new run solves 100.0% of its episodes in 200 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). A pass is not possible: the new run was stopped early: the cap of $5 is reached.",
		},
		"planned and not run": {
			new: strong, edit: func(m *manifest.Manifest) { m.Candidates[0].Planned += 7 }, want: stat.Inconclusive,
			says: "Inconclusive: 7 planned episodes of the new run have not been run. The new run solves 100.0% of its episodes in 200 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). A pass is not possible: 7 planned episodes of the new run have not been run.",
		},
		"capped": {
			new: plan{candidate: "strong", tasks: 200, trials: 2, episode: func(task, _ int, rows *ledger.EpisodeRows) {
				if task == 3 {
					rows.Episode.Status, rows.Episode.Solved = ledger.StatusBudgetStop, false
				}
			}}, want: stat.Inconclusive, says: "Inconclusive: the new run was interrupted or capped. The new run solves 100.0% of its episodes in 199 tasks, the baseline 100.0%: 0.0 points (95% CI −1.8 to +1.8). A pass is not possible: the new run was interrupted or capped.",
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
			require.Equal(t, c.says, got.Headline+". "+got.Pairs[0].Sentence)
			_, err := json.Marshal(got)
			require.NoError(t, err, "nothing in it is infinite or not a number")
		})
	}
}

// A clear improvement is called one if it is significant after the adjustment and with
// the lost pairs. The verdict does not change.
func TestImproved(t *testing.T) {
	strong, lost := plan{candidate: "a", tasks: 100, trials: 1}, plan{candidate: "a", tasks: 100, trials: 1, episode: func(task, _ int, rows *ledger.EpisodeRows) {
		if task%20 == 0 {
			rows.Episode.Status, rows.Episode.InfraError, rows.Episode.Solved = ledger.StatusInfraError, true, false
		}
	}}
	for name, c := range map[string]struct {
		broken   int // tasks that the baseline does not solve
		new      plan
		rules    Rules
		headline string
	}{
		"clear":               {30, strong, Rules{}, "Improved: 30 points more tasks solved"},
		"by chance":           {4, strong, Rules{}, "No regression"},
		"just enough":         {7, strong, Rules{}, "Improved: 7 points more tasks solved"},
		"not after adjusting": {7, strong, Rules{Alpha: 0.01}, "No regression"},
		"hidden by losses":    {8, lost, Rules{}, "Inconclusive: 5 pairs without a result"},
	} {
		t.Run(name, func(t *testing.T) {
			base := plan{candidate: "a", tasks: 100, trials: 1, episode: fails(func(task, _ int) bool { return task < c.broken })}
			got := compared(base, c.new, c.rules)
			require.Equal(t, c.headline, got.Headline, got.Pairs[0].Sentence)
			m := metric(got.Pairs[0], "solved")
			require.Equal(t, strings.HasPrefix(c.headline, "Improved"), m.Improved)
			require.Greater(t, *m.Adjusted, 0.9, "its test is for the worse")
			if m.Improved {
				require.LessOrEqual(t, *m.ImprovedP, 0.05)
			}
		})
	}
	all := compared(plan{candidate: "a", tasks: 100, trials: 1, episode: fails(func(task, _ int) bool { return task < 50 })}, strong, Rules{})
	require.Equal(t, "The new run solves 100.0% of 100 tasks, the baseline 50.0%: +50.0 points (95% CI +40.0 to +60.0). Ruled out: any loss of solved episodes; a loss of 3 points or more of contract-valid first outputs.", all.Pairs[0].Sentence)
}

// With more lost pairs than max_infra, a regression is called only if no result of the
// lost pairs could undo it.
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
	require.Equal(t, "Inconclusive: 40 of 400 pairs without a result, more than the 5% of max_infra", c.Headline)
}

// noisy returns a run in which a trial of some tasks differs, as it would from another
// run of the same agent.
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

// If a margin cannot be ruled out, nothing is significantly worse, and a loss of ten
// points would have been detected, the verdict is "no significant regression".
func TestNoSignificantRegression(t *testing.T) {
	c := compared(noisy("a", 0, 1), noisy("a", 2, 2), Rules{})
	require.Equal(t, stat.NoRegression, c.Verdict, c.Headline)
	require.Equal(t, "No significant regression", c.Headline)
	require.Regexp(t, `^The new run solves \d.*: [−+]?\d\.\d points \(95% CI −.*\)\. The test would have detected a loss of 10 points with 80% power, and found none; a loss of the margin \(5 points\) is not ruled out\.$`, c.Pairs[0].Sentence)
	m := metric(c.Pairs[0], "solved")
	require.Equal(t, stat.NoRegression, m.Verdict)
	require.LessOrEqual(t, *m.Detectable, 0.1)

	c = compared(noisy("a", 0, 1), noisy("a", 2, 2), Rules{Detectable: 0.05})
	require.Equal(t, stat.Inconclusive, c.Verdict, "a loss of five points would not have been detected")
	c = compared(noisy("a", 0, 1), noisy("a", 14, 2), Rules{})
	require.Equal(t, stat.Fail, c.Verdict)
}

// The lost pairs can hide a significant loss, or reduce the power.
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
	require.Equal(t, "Inconclusive: 15 pairs without a result", c.Headline)
	require.Contains(t, c.Pairs[0].Sentence, "in the worst case of the 15 pairs without a result (T95 trial 1, ")
	require.Contains(t, c.Pairs[0].Sentence, "To run them: cupel run --resume run-a.")
}
