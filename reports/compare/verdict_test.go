package compare

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
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
		trial    plan
		edit     func(*ledger.Manifest)
		rules    Rules
		want     stat.Verdict
		headline string
	}{
		"nothing changed": {
			trial: strong, want: stat.Pass,
			headline: "No regression: strong is not worse by more than 5 points of solved episodes, 2 points of valid outputs (solved 100% before, 100% now, over 200 tasks; a loss of 1.5 points or more is ruled out).",
		},
		"an eighth is lost": {
			trial: plan{candidate: "weak", tasks: 200, trials: 2, episode: fails(func(task, _ int) bool { return task%8 == 0 })}, want: stat.Fail,
			headline: "Regression: weak solves 12.5 points less (100% before, 87.5% now, over 200 tasks; adjusted p below 0.0001).",
		},
		"a little is lost, within the margin": {
			trial: plan{candidate: "weak", tasks: 200, trials: 2, episode: fails(func(task, _ int) bool { return task%40 == 0 })}, rules: Rules{MaxDrop: 0.1}, want: stat.Pass,
			headline: "No regression: weak is not worse by more than 10 points of solved episodes, 2 points of valid outputs (solved 100% before, 97.5% now, over 200 tasks; a loss of 5.2 points or more is ruled out).",
		},
		"too few tasks": {
			trial: plan{candidate: "strong", tasks: 10, trials: 2}, want: stat.Inconclusive,
			headline: "Inconclusive: strong is neither shown to be worse nor not worse: solved episodes 100% before, 100% now, over 10 tasks, a change of −30.8 points to +30.8 points (95%); the margin is 5 points.",
		},
		"nothing to compare": {
			trial: plan{candidate: "strong"}, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot be judged by solved episodes: there is no data.",
		},
		"outputs are worse": {
			trial: plan{candidate: "weak", tasks: 200, trials: 2, episode: func(task, _ int, rows *ledger.EpisodeRows) { rows.Turns[0].ContractValid = task%4 != 0 }}, want: stat.Fail,
			headline: "Regression: weak gives 8.3 points fewer valid outputs (100% before, 91.7% now, over 200 tasks; adjusted p below 0.0001).",
		},
		"steps grew, and gate": {
			trial: plan{candidate: "slow", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.Steps = 4 }}, rules: Rules{MaxSteps: 0.2}, want: stat.Fail,
			headline: "Regression: slow takes 33.3% more steps (3 steps before, 4 steps now, over 200 tasks; adjusted p below 0.0001).",
		},
		"steps grew, and do not gate": {
			trial: plan{candidate: "slow", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.Steps = 4 }}, want: stat.Pass,
			headline: "No regression: slow is not worse",
		},
		"a cost that is not known cannot pass": {
			trial: plan{candidate: "dear", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = nil }}, rules: Rules{MaxCost: 0.2}, want: stat.Inconclusive,
			headline: "Inconclusive: dear cannot be judged by cost (400 paired episodes without a price: unknown, which is never zero).",
		},
		"cost grew, and gates": {
			trial: plan{candidate: "dear", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = new(int64(4_500_000)) }}, rules: Rules{MaxCost: 0.2}, want: stat.Fail,
			headline: "Regression: dear costs 50% more ($0.003 before, $0.0045 now, over 200 tasks; adjusted p 0.00015).",
		},
		"turns are slower, and gate": {
			trial: plan{candidate: "slow", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Turns[1].DurationUs *= 4 }}, rules: Rules{MaxLatency: 0.2}, want: stat.Fail,
			headline: "Regression: slow takes 100% longer for a turn (400 ms before, 800 ms now, over 200 tasks; adjusted p 0.00015).",
		},
		"still running": {
			trial: strong, edit: func(m *ledger.Manifest) { m.Status = "running" }, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot pass: the status of the run on trial is running.",
		},
		"free on both sides": {
			trial: plan{candidate: "free", tasks: 200, trials: 2, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = new(int64) }}, rules: Rules{MaxCost: 0.2}, want: stat.Pass,
			headline: "No regression: free is not worse by more than 5 points of solved episodes, 2 points of valid outputs, 20% of cost (",
		},
		"a few lost to the provider": {
			trial: plan{candidate: "strong", tasks: 200, trials: 2, episode: infra(25)}, want: stat.Pass, headline: "No regression: strong is not worse",
		},
		"too many lost to the provider": {
			trial: plan{candidate: "strong", tasks: 200, trials: 2, episode: infra(10)}, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot be judged: 40 of 400 pairs lost to infrastructure or harness errors on one side or both, more than the 5% of max_infra.",
		},
		"stopped early": {
			trial: strong, edit: func(m *ledger.Manifest) { m.Stopped = "the cap of $5 is reached" }, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot pass: the run on trial was stopped early: the cap of $5 is reached.",
		},
		"planned and not run": {
			trial: strong, edit: func(m *ledger.Manifest) { m.Candidates[0].Planned += 7 }, want: stat.Inconclusive,
			headline: "Inconclusive: strong cannot pass: 7 planned episodes of the run on trial have not been run.",
		},
		"capped": {
			trial: plan{candidate: "strong", tasks: 200, trials: 2, episode: func(task, _ int, rows *ledger.EpisodeRows) {
				if task == 3 {
					rows.Episode.Status, rows.Episode.Solved = ledger.StatusBudgetStop, false
				}
			}}, want: stat.Inconclusive, headline: "Inconclusive: strong cannot pass: the run on trial was interrupted or capped.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.trial.manifest()
			if c.edit != nil {
				c.edit(&m)
			}
			require.NoError(t, c.rules.Validate())
			b := NewBuilder(strong.manifest(), m, []Names{{"strong", c.trial.candidate}}, c.rules)
			strong.each(b.AddBaseline)
			c.trial.each(b.AddTrial)
			got := b.Comparison()
			require.Equal(t, c.want, got.Verdict, got.Headline)
			require.Equal(t, c.want, got.Pairs[0].Verdict)
			require.True(t, strings.HasPrefix(got.Headline, c.headline), got.Headline)
			_, err := json.Marshal(got)
			require.NoError(t, err, "nothing in it is infinite or not a number")
		})
	}
}
