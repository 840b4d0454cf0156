package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
)

func TestPairingIsByTaskAndTrial(t *testing.T) {
	base := plan{candidate: "a", tasks: 6, trials: 3}
	newer := plan{candidate: "a", tasks: 5, trials: 4, episode: func(task, trial int, rows *ledger.EpisodeRows) {
		if task == 0 && trial == 2 {
			rows.Episode.Status = ledger.StatusHarnessError
		}
	}}
	p := compared(base, newer, Rules{}).Pairs[0]
	require.Equal(t, 5*3, p.Episodes)
	require.Equal(t, 3, p.BaselineOnly, "task T05")
	require.Equal(t, 5, p.NewOnly, "the fourth trials")
	require.Equal(t, 1, p.WithoutResult)
	require.Equal(t, 14, metric(p, "solved").N)
	require.Equal(t, []string{"T00", "T01", "T02", "T03", "T04", "T05"}, ids(p), "what the new run lacks comes last")
	require.Equal(t, flake.Unknown, p.Tasks[5].Class)
	require.Equal(t, stat.Trials{Passed: 3, N: 3}, p.Tasks[0].New, "all scored trials, paired or not")
}

func ids(p Pair) (list []string) {
	for _, t := range p.Tasks {
		list = append(list, t.ID)
	}
	return list
}

func TestRowsInAnyOrderAndTwice(t *testing.T) {
	base, newer := plan{candidate: "a", tasks: 9, trials: 3, episode: flips(1, half)}, plan{candidate: "b", tasks: 9, trials: 3, episode: flips(2, half)}
	want := compared(base, newer, Rules{})
	b := NewBuilder([]manifest.Manifest{base.manifest()}, newer.manifest(), []Names{{"a", "b"}}, Rules{})
	var rows []ledger.EpisodeRows
	newer.episode = flips(2, half)
	newer.each(func(r ledger.EpisodeRows) { rows = append(rows, r) })
	for i := range rows {
		b.AddNew(rows[len(rows)-1-i])
	}
	rows[0].Episode.Solved = !rows[0].Episode.Solved
	b.AddNew(rows[0]) // the first of two equal rows counts
	base.episode = flips(1, half)
	base.each(b.addBaseline)
	got := finished(b)
	require.Equal(t, want, got)
}

func half(int) float64 { return 0.5 }

func TestSameRunBothSides(t *testing.T) {
	run := plan{candidate: "a", tasks: 30, trials: 2}
	other := plan{candidate: "b", tasks: 30, trials: 2, episode: fails(func(task, _ int) bool { return task < 10 })}
	m := run.manifest()
	m.Candidates = append(m.Candidates, other.manifest().Candidates...)
	b := NewBuilder([]manifest.Manifest{m}, m, []Names{{"a", "b"}, {"a", "a"}}, Rules{})
	for _, p := range []plan{run, other} {
		p.each(func(r ledger.EpisodeRows) {
			b.AddBaseline(0, r)
			b.AddNew(r)
		})
	}
	c := finished(b)
	require.Equal(t, stat.Fail, c.Pairs[0].Verdict)
	require.InDelta(t, -1.0/3, *metric(c.Pairs[0], "solved").Effect, 1e-15)
	require.Equal(t, stat.Inconclusive, c.Pairs[1].Verdict, "thirty tasks without a change rule out little")
	require.Equal(t, stat.Fail, c.Verdict)
	require.Contains(t, c.Headline, "Regression: 33.3 points fewer tasks solved (b)")
	require.Equal(t, []Names{{"a", "b"}, {"baseline", "new"}}, []Names{c.Pairs[0].Labels, c.Pairs[1].Labels})
	require.False(t, c.OneRun, "a run is also compared with itself")
}

func TestNoPairs(t *testing.T) {
	c := finished(NewBuilder([]manifest.Manifest{{}}, manifest.Manifest{}, nil, Rules{}))
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.Equal(t, "Inconclusive: no candidates to compare", c.Headline)
	data, err := json.Marshal(c)
	require.NoError(t, err)
	require.Contains(t, string(data), `"differences":[]`, "empty lists, no nulls")
	require.Contains(t, string(data), `"pairs":[],"notes":[]`)
}

func TestTrialsMissingInTheMiddle(t *testing.T) {
	run := plan{candidate: "a", tasks: 1, trials: 5}
	b := NewBuilder([]manifest.Manifest{run.manifest()}, run.manifest(), []Names{{"a", "a"}}, Rules{})
	without := func(trial int32, add func(ledger.EpisodeRows)) func(ledger.EpisodeRows) {
		return func(rows ledger.EpisodeRows) {
			if rows.Episode.Trial != trial {
				add(rows)
			}
		}
	}
	run.each(without(2, b.addBaseline))
	run.each(without(4, b.AddNew))
	p := finished(b).Pairs[0]
	require.Equal(t, []int{3, 1, 1}, []int{p.Episodes, p.BaselineOnly, p.NewOnly})
}

// If both sides replay the same cassettes and nothing differs, suites of any size pass.
func TestSameRecordings(t *testing.T) {
	taped := func(lose bool) plan {
		return plan{candidate: "a", tasks: 5, trials: 1, episode: func(task, trial int, rows *ledger.EpisodeRows) {
			rows.Episode.CassetteDigest = fmt.Sprint("cassette ", task, trial)
			rows.Episode.Solved = !lose || task > 0
		}}
	}
	c := compared(taped(false), taped(false), Rules{MaxSteps: 0.1})
	require.Equal(t, stat.Pass, c.Verdict)
	require.Equal(t, "No regression: both replay the same recordings", c.Headline)
	require.Equal(t, "The new run is unchanged: both sides replay the same recordings and no gating metric differs.", c.Pairs[0].Sentence)
	require.Contains(t, c.Pairs[0].Metrics[0].Power, "nothing about new recordings")
	c = compared(taped(false), taped(true), Rules{})
	require.Equal(t, stat.Inconclusive, c.Verdict, "one of five: worse or not, it is not shown")
	untaped := taped(false)
	untaped.episode = nil
	require.Equal(t, stat.Inconclusive, compared(untaped, untaped, Rules{}).Verdict)
}

func TestSeveralPairsShareTheLevel(t *testing.T) {
	// One task in seven breaks. The one-sided p-value is 2^-7, which is significant
	// with the two metrics of one pair, but not with those of ten pairs.
	base := plan{candidate: "a", tasks: 49, trials: 1}
	worse := plan{candidate: "b", tasks: 49, trials: 1, episode: fails(func(task, _ int) bool { return task%7 == 0 })}
	p := metric(compared(base, worse, Rules{}).Pairs[0], "solved")
	require.InDelta(t, 1.0/128, *p.P, 1e-15)
	require.InDelta(t, 10.0/9/128, *p.Adjusted, 1e-15)
	require.Equal(t, stat.Fail, p.Verdict)
	pairs := append([]Names{{"a", "b"}}, slices.Repeat([]Names{{"a", "a"}}, 9)...)
	b := NewBuilder([]manifest.Manifest{base.manifest()}, worse.manifest(), pairs, Rules{})
	base.each(b.addBaseline)
	base.each(b.AddNew)
	worse.each(b.AddNew)
	c := finished(b)
	p = metric(c.Pairs[0], "solved")
	require.InDelta(t, 10*10.0/9/128, *p.Adjusted, 1e-15)
	require.Equal(t, stat.Inconclusive, p.Verdict)
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.Contains(t, c.Headline, "(b and 9 more of 10 candidates)")
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
		require.Equal(t, flake.NewlyBroken, p.Tasks[95].Class)
		require.Equal(t, "kim", p.Tasks[95].Known.Owner)
		require.False(t, p.Tasks[95].Known.Expired)
		require.Nil(t, p.Tasks[0].Known)
		require.Equal(t, []string{"b: 50 paired episodes of known-flaky tasks reported, but left out of gating metrics."}, c.Notes)
	})
	t.Run("the day after", func(t *testing.T) {
		c := compared(base, broken, Rules{Flaky: list("2026-11-20"), Today: day})
		require.Equal(t, stat.Fail, c.Verdict)
		require.Zero(t, c.Pairs[0].Known)
		require.True(t, c.Pairs[0].Tasks[95].Known.Expired)
		require.True(t, c.Rules.Flaky[0].Expired)
		require.Contains(t, c.Notes[0], "entry of T90 expired on 2026-11-20, and the task gates again: kim, fix it")
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
	m.SuiteDigest, m.Tasks[1].Digest, m.Tasks[3].Digest = "other", "e", "e"
	run := func(rules Rules) Comparison {
		b := NewBuilder([]manifest.Manifest{base.manifest()}, m, []Names{{"a", "a"}}, rules)
		base.each(b.addBaseline)
		base.each(b.AddNew)
		return finished(b)
	}
	c := run(Rules{Changed: Skip})
	require.Equal(t, []string{"T00", "T02"}, ids(c.Pairs[0]))
	require.Equal(t, []string{"2 tasks left out, because they changed between the runs: T01, T03."}, c.Notes)
	c = run(Rules{Changed: Keep})
	require.Len(t, c.Pairs[0].Tasks, 4)
	require.Empty(t, c.Notes)
}

func TestFailureChanges(t *testing.T) {
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
	by := func(base, newer plan) map[failure.Kind]FailureChange {
		b := NewBuilder([]manifest.Manifest{base.manifest()}, newer.manifest(), []Names{{"a", "b"}}, Rules{})
		b.kindOf = byStatus
		base.each(b.addBaseline)
		newer.each(b.AddNew)
		c := finished(b)
		out := map[failure.Kind]FailureChange{}
		for i, d := range c.Pairs[0].FailureChanges {
			require.Equal(t, failure.Kinds()[i], d.Kind)
			out[d.Kind] = d
		}
		return out
	}
	got := by(base, plan{candidate: "b", tasks: 60, trials: 2, episode: kind(failure.Budget)})
	require.Equal(t, 30, got[failure.Answer].Baseline)
	require.Zero(t, got[failure.Answer].New)
	require.Equal(t, 120, got[failure.Answer].BaselineOf)
	require.True(t, got[failure.Answer].Changed)
	require.True(t, got[failure.Budget].Changed)
	require.Less(t, *got[failure.Budget].Adjusted, 0.001)
	require.False(t, got[failure.Trajectory].Changed)
	require.Equal(t, 1.0, *got[failure.Trajectory].P)

	got = by(base, plan{candidate: "b", tasks: 60, trials: 2, episode: kind(failure.Infrastructure)})
	require.Equal(t, 30, got[failure.Infrastructure].New)
	require.Equal(t, 120, got[failure.Infrastructure].NewOf, "of all pairs")
	require.Equal(t, 90, got[failure.Answer].NewOf, "of pairs with a result")
	require.Zero(t, got[failure.Answer].Baseline, "its pairs have no result on the other side")

	got = by(plan{candidate: "a"}, plan{candidate: "b"})
	require.Nil(t, got[failure.Answer].P)
}

// byStatus derives a failure kind from the status alone.
func byStatus(rows ledger.EpisodeRows) (failure.Kind, bool) {
	kinds := map[string]failure.Kind{"answered": failure.Answer, "stopped": failure.Budget, "clarify": failure.Trajectory, ledger.StatusInfraError: failure.Infrastructure}
	kind, ok := kinds[rows.Episode.Status]
	return kind, ok
}

func TestManyWordsAndLongOnesAreBounded(t *testing.T) {
	w := newStringTable()
	for i := range 2 * maxWords {
		w.number(fmt.Sprint(i), "")
	}
	require.LessOrEqual(t, len(w.list), maxWords+1)
	require.Equal(t, w.number("never", "seen"), w.number("nor this", ""))
	w = newStringTable()
	long := w.number(strings.Repeat("é", 1000), strings.Repeat("x", 1000))
	require.LessOrEqual(t, len(w.list[long]), 2*maxWord+1)
	require.True(t, utf8.ValidString(w.list[long]))
}

// Impossible numbers have no other effect than a wrong result: nothing panics, and
// nothing in the result is infinite.
func TestHostileNumbers(t *testing.T) {
	for name, n := range map[string]int64{"largest": math.MaxInt64, "smallest": math.MinInt64, "minus one": -1} {
		t.Run(name, func(t *testing.T) {
			hostile := plan{candidate: "b", tasks: 5, trials: 2, episode: func(task, trial int, rows *ledger.EpisodeRows) {
				e := &rows.Episode
				e.Steps, e.Clarifies, e.ThrashEvents, e.Trial = int32(n), int32(n), int32(n), int32(n)+int32(trial)
				e.CostNanoUSD, e.Tokens = new(n), tokens(n, n)
				rows.Turns[0].DurationUs, rows.Turns[1].Turn, rows.ToolCalls[0].Turn = new(n), int32(n), int32(n)
				if task == 0 {
					rows.Turns, rows.ToolCalls = nil, nil
				}
			}}
			rules := Rules{MaxSteps: 0.1, MaxCost: 0.1, MaxLatency: 0.1}
			for _, base := range []plan{hostile, {candidate: "b", tasks: 5, trials: 2}} {
				c := compared(base, hostile, rules)
				_, err := json.Marshal(c)
				require.NoError(t, err)
				require.NotEqual(t, stat.Pass, c.Verdict)
			}
		})
	}
}
