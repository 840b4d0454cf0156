package compare

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/failure"
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
			headline: "Inconclusive: dear cannot be judged by cost: there is no data.",
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

func TestPairingIsByTaskAndTrial(t *testing.T) {
	base := plan{candidate: "a", tasks: 6, trials: 3}
	trial := plan{candidate: "a", tasks: 5, trials: 4, episode: func(task, trial int, rows *ledger.EpisodeRows) {
		if task == 0 && trial == 2 {
			rows.Episode.Status = ledger.StatusHarnessError
		}
	}}
	p := compared(base, trial, Rules{}).Pairs[0]
	require.Equal(t, 5*3, p.Episodes)
	require.Equal(t, 3, p.BaselineOnly, "task T05")
	require.Equal(t, 5, p.TrialOnly, "the fourth trials")
	require.Equal(t, 1, p.WithoutResult)
	require.Equal(t, 14, metric(p, "solved").N)
	require.Equal(t, []string{"T00", "T01", "T02", "T03", "T04", "T05"}, ids(p), "what the run on trial lacks comes last")
	require.Equal(t, stat.Unknown, p.Tasks[5].Class)
	require.Equal(t, stat.Trials{Passed: 3, N: 3}, p.Tasks[0].Trial, "all scored trials, paired or not")
}

func ids(p Pair) (list []string) {
	for _, t := range p.Tasks {
		list = append(list, t.ID)
	}
	return list
}

func TestRowsInAnyOrderAndTwice(t *testing.T) {
	base, trial := plan{candidate: "a", tasks: 9, trials: 3, episode: flips(1, half)}, plan{candidate: "b", tasks: 9, trials: 3, episode: flips(2, half)}
	want := compared(base, trial, Rules{})
	b := NewBuilder(base.manifest(), trial.manifest(), []Names{{"a", "b"}}, Rules{})
	var rows []ledger.EpisodeRows
	trial.episode = flips(2, half)
	trial.each(func(r ledger.EpisodeRows) { rows = append(rows, r) })
	for i := range rows {
		b.AddTrial(rows[len(rows)-1-i])
	}
	rows[0].Episode.Solved = !rows[0].Episode.Solved
	b.AddTrial(rows[0]) // the first of two counts
	base.episode = flips(1, half)
	base.each(b.AddBaseline)
	got := b.Comparison()
	require.Equal(t, want, got)
}

func half(int) float64 { return 0.5 }

func TestSameRunBothSides(t *testing.T) {
	run := plan{candidate: "a", tasks: 30, trials: 2}
	other := plan{candidate: "b", tasks: 30, trials: 2, episode: fails(func(task, _ int) bool { return task < 10 })}
	m := run.manifest()
	m.Candidates = append(m.Candidates, other.manifest().Candidates...)
	b := NewBuilder(m, m, []Names{{"a", "b"}, {"a", "a"}}, Rules{})
	for _, p := range []plan{run, other} {
		p.each(func(r ledger.EpisodeRows) {
			b.AddBaseline(r)
			b.AddTrial(r)
		})
	}
	c := b.Comparison()
	require.Equal(t, stat.Fail, c.Pairs[0].Verdict)
	require.InDelta(t, -1.0/3, *metric(c.Pairs[0], "solved").Effect, 1e-15)
	require.Equal(t, stat.Inconclusive, c.Pairs[1].Verdict, "thirty tasks without a change rule out little")
	require.Equal(t, stat.Fail, c.Verdict)
	require.Contains(t, c.Headline, "Regression: b solves 33.3 points less")
}

// Where both sides replay the same cassettes, a suite of any size passes as long as
// nothing differs.
func TestSameRecordings(t *testing.T) {
	taped := func(lose bool) plan {
		return plan{candidate: "a", tasks: 5, trials: 1, episode: func(task, trial int, rows *ledger.EpisodeRows) {
			rows.Episode.CassetteDigest = fmt.Sprint("cassette ", task, trial)
			rows.Episode.Solved = !lose || task > 0
		}}
	}
	c := compared(taped(false), taped(false), Rules{MaxSteps: 0.1})
	require.Equal(t, stat.Pass, c.Verdict)
	require.Equal(t, "No regression: a is treated as before: both sides replay the same recordings, and nothing that gates differs.", c.Headline)
	require.Contains(t, c.Pairs[0].Metrics[0].Power, "nothing about new ones")
	c = compared(taped(false), taped(true), Rules{})
	require.Equal(t, stat.Inconclusive, c.Verdict, "one of five: worse or not, it is not shown")
	untaped := taped(false)
	untaped.episode = nil
	require.Equal(t, stat.Inconclusive, compared(untaped, untaped, Rules{}).Verdict)
}

func TestSeveralPairsShareTheLevel(t *testing.T) {
	// One task in seven breaks: p is 2^-7 one-sided, which two metrics of one pair
	// bear and those of four pairs do not.
	base := plan{candidate: "a", tasks: 49, trials: 1}
	worse := plan{candidate: "b", tasks: 49, trials: 1, episode: fails(func(task, _ int) bool { return task%7 == 0 })}
	p := metric(compared(base, worse, Rules{}).Pairs[0], "solved")
	require.InDelta(t, 1.0/128, *p.P, 1e-15)
	require.InDelta(t, 2.0/128, *p.Adjusted, 1e-15)
	require.Equal(t, stat.Fail, p.Verdict)
	pairs := []Names{{"a", "b"}, {"a", "a"}, {"a", "a"}, {"a", "a"}}
	b := NewBuilder(base.manifest(), worse.manifest(), pairs, Rules{})
	base.each(b.AddBaseline)
	base.each(b.AddTrial)
	worse.each(b.AddTrial)
	c := b.Comparison()
	p = metric(c.Pairs[0], "solved")
	require.InDelta(t, 8.0/128, *p.Adjusted, 1e-15)
	require.Equal(t, stat.Inconclusive, p.Verdict)
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.Contains(t, c.Headline, "; and 3 more of 4 candidates.")
}

func TestKnownFlakyTasks(t *testing.T) {
	base := plan{candidate: "a", tasks: 100, trials: 5}
	broken := plan{candidate: "b", tasks: 100, trials: 5, episode: fails(func(task, _ int) bool { return task >= 90 })}
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	list := func(expires string) (flaky []KnownFlaky) {
		for i := 90; i < 100; i++ {
			flaky = append(flaky, KnownFlaky{Task: taskID(i), Candidate: "b", Owner: "kim", Expires: expires})
		}
		return flaky
	}
	t.Run("without the list", func(t *testing.T) {
		require.Equal(t, stat.Fail, compared(base, broken, Rules{}).Verdict)
	})
	t.Run("on its last day", func(t *testing.T) {
		rules := Rules{MaxInvalid: 0.05, Flaky: list("2026-11-21"), Today: day}
		require.NoError(t, rules.Validate())
		c := compared(base, broken, rules)
		p := c.Pairs[0]
		require.Equal(t, stat.Pass, c.Verdict)
		require.Equal(t, 50, p.Known)
		solved := metric(p, "solved")
		require.Equal(t, 90, solved.Clusters)
		require.Zero(t, *solved.Effect)
		require.Contains(t, solved.Note, "50 episodes of known-flaky tasks left out")
		require.Equal(t, 100, metric(p, "thrash").Clusters, "what does not gate counts all")
		require.Equal(t, stat.NewlyBroken, p.Tasks[95].Class)
		require.Equal(t, "kim", p.Tasks[95].Known.Owner)
		require.False(t, p.Tasks[95].Known.Expired)
		require.Nil(t, p.Tasks[0].Known)
		require.Equal(t, []string{"b: 50 paired episodes of known-flaky tasks reported, but left out of what gates."}, c.Notes)
	})
	t.Run("the day after", func(t *testing.T) {
		c := compared(base, broken, Rules{Flaky: list("2026-11-20"), Today: day})
		require.Equal(t, stat.Fail, c.Verdict)
		require.Zero(t, c.Pairs[0].Known)
		require.True(t, c.Pairs[0].Tasks[95].Known.Expired)
		require.True(t, c.Rules.Flaky[0].Expired)
		require.Contains(t, c.Notes[0], "entry of T90 expired on 2026-11-20, and the task gates again: kim, mend it")
	})
	t.Run("matches nothing", func(t *testing.T) {
		c := compared(base, base, Rules{Today: day, Flaky: []KnownFlaky{
			{Task: "T999", Owner: "kim", Expires: "2027-01-01"}, {Task: "T00", Candidate: "another", Owner: "lee", Expires: "2027-01-01"},
		}})
		require.Len(t, c.Notes, 2)
		require.Contains(t, c.Notes[0], "T999 (owner kim) matches no task")
		require.Contains(t, c.Notes[1], "T00 (owner lee) matches no task")
	})
}

func TestChangedTasksAreSkipped(t *testing.T) {
	base := plan{candidate: "a", tasks: 4, trials: 1}
	m := base.manifest()
	m.Tasks[1].Digest, m.Tasks[3].Digest = "e", "e"
	run := func(rules Rules) Comparison {
		b := NewBuilder(base.manifest(), m, []Names{{"a", "a"}}, rules)
		base.each(b.AddBaseline)
		base.each(b.AddTrial)
		return b.Comparison()
	}
	c := run(Rules{Changed: Skip})
	require.Equal(t, []string{"T00", "T02"}, ids(c.Pairs[0]))
	require.Equal(t, []string{"2 tasks left out, which changed between the runs: T01, T03."}, c.Notes)
	c = run(Rules{Changed: Keep})
	require.Len(t, c.Pairs[0].Tasks, 4)
	require.Empty(t, c.Notes)
}

func TestDrift(t *testing.T) {
	kind := func(k failure.Kind) func(int, int, *ledger.EpisodeRows) {
		return func(task, _ int, rows *ledger.EpisodeRows) {
			if e := &rows.Episode; task < 15 {
				e.Solved = false
				switch k {
				case failure.Budget:
					e.Status = "stopped"
				case failure.Trajectory:
					e.Status = "clarify"
				case failure.Infrastructure:
					e.Status = ledger.StatusInfraError
				}
			}
		}
	}
	base := plan{candidate: "a", tasks: 60, trials: 2, episode: kind(failure.Answer)}
	by := func(c Comparison) map[failure.Kind]Drift {
		out := map[failure.Kind]Drift{}
		for i, d := range c.Pairs[0].Drift {
			require.Equal(t, failure.Kinds()[i], d.Kind)
			out[d.Kind] = d
		}
		return out
	}
	got := by(compared(base, plan{candidate: "b", tasks: 60, trials: 2, episode: kind(failure.Budget)}, Rules{}))
	require.Equal(t, 30, got[failure.Answer].Baseline)
	require.Zero(t, got[failure.Answer].Trial)
	require.Equal(t, 120, got[failure.Answer].BaselineOf)
	require.True(t, got[failure.Answer].Moved)
	require.True(t, got[failure.Budget].Moved)
	require.Less(t, *got[failure.Budget].Adjusted, 0.001)
	require.False(t, got[failure.Trajectory].Moved)
	require.Equal(t, 1.0, *got[failure.Trajectory].P)

	got = by(compared(base, plan{candidate: "b", tasks: 60, trials: 2, episode: kind(failure.Infrastructure)}, Rules{}))
	require.Equal(t, 30, got[failure.Infrastructure].Trial)
	require.Equal(t, 120, got[failure.Infrastructure].TrialOf, "of all pairs")
	require.Equal(t, 90, got[failure.Answer].TrialOf, "of pairs with a result")
	require.Zero(t, got[failure.Answer].Baseline, "its pairs have no result on the other side")

	got = by(compared(plan{candidate: "a"}, plan{candidate: "b"}, Rules{}))
	require.Nil(t, got[failure.Answer].P)
}

func TestManyWordsAndLongOnesAreBounded(t *testing.T) {
	w := newWords()
	for i := range 2 * maxWords {
		w.number(fmt.Sprint(i))
	}
	require.LessOrEqual(t, len(w.list), maxWords+1)
	require.Equal(t, w.number("never seen"), w.number("nor this"))
	w = newWords()
	long := w.number(strings.Repeat("é", 1000))
	require.LessOrEqual(t, len(w.list[long]), maxWord+len("…"))
	require.True(t, utf8.ValidString(w.list[long]))
}
