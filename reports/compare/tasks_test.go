package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat/flake"
)

// passing solves the first trials of each task, as many as given for it.
func passing(passed ...int) func(int, int, *ledger.EpisodeRows) {
	return func(task, trial int, rows *ledger.EpisodeRows) { rows.Episode.Solved = trial <= passed[task] }
}

func TestTaskClasses(t *testing.T) {
	base := plan{candidate: "a", tasks: 7, trials: 8, episode: passing(8, 0, 8, 0, 8, 6, 8)}
	newer := plan{candidate: "b", tasks: 7, trials: 8, episode: passing(8, 0, 0, 8, 5, 5, 4)}
	tasks := compared(base, newer, Rules{}).Pairs[0].Tasks
	for i, want := range []struct {
		class    flake.Stability
		p        float64 // by hand, from the hypergeometric distribution
		evidence string
	}{
		{flake.StablePass, 1, "solved: baseline 8 of 8, new 8 of 8; the true share is at least 79.4% (95%)"},
		{flake.StableFail, 1, "solved: baseline 0 of 8, new 0 of 8; the true share is at most 20.6% (95%)"},
		{flake.NewlyBroken, 1.0 / 12870, "solved: baseline 8 of 8, new 0 of 8; significant (p < 0.0001, adjusted for 7 tasks: 0.00027)"},
		{flake.NewlyFixed, 1.0 / 12870, "solved: baseline 0 of 8, new 8 of 8; significant (p < 0.0001, adjusted for 7 tasks: 0.00027)"},
		{flake.Flaky, 0.1, "solved: baseline 8 of 8, new 5 of 8; both outcomes on one side, no significant change (p = 0.1, adjusted for 7 tasks: 0.18)"},
		{flake.Flaky, 0.5, "solved: baseline 6 of 8, new 5 of 8; both outcomes on one side, no significant change (p = 0.5, adjusted for 7 tasks: 0.7)"},
		{flake.Flaky, 70.0 / 1820, "solved: baseline 8 of 8, new 4 of 8; both outcomes on one side; significant alone, but not after adjustment (p = 0.038, adjusted for 7 tasks: 0.09)"},
	} {
		require.Equal(t, want.class, tasks[i].Class, "%s: %s", tasks[i].ID, tasks[i].Evidence)
		require.InDelta(t, want.p, tasks[i].P, 1e-12)
		require.Equal(t, want.evidence, tasks[i].Evidence)
		require.Equal(t, "title of "+tasks[i].ID, tasks[i].Title)
	}
}

func TestOneTrialEachCannotTellAChange(t *testing.T) {
	base := plan{candidate: "a", tasks: 2, trials: 1, episode: passing(1, 0)}
	newer := plan{candidate: "b", tasks: 2, trials: 1, episode: passing(0, 1)}
	for _, task := range compared(base, newer, Rules{}).Pairs[0].Tasks {
		require.Equal(t, flake.Unclear, task.Class)
		require.True(t, strings.HasSuffix(task.Evidence, "one trial per side cannot distinguish a change from flakiness"), task.Evidence)
	}
}

func TestFewTrialsSayLittle(t *testing.T) {
	base := plan{candidate: "a", tasks: 1, trials: 2, episode: passing(2)}
	newer := plan{candidate: "b", tasks: 1, trials: 2, episode: passing(0)}
	task := compared(base, newer, Rules{}).Pairs[0].Tasks[0]
	require.Equal(t, flake.Unclear, task.Class)
	require.Equal(t, "solved: baseline 2 of 2, new 0 of 2; too few trials to distinguish a change from flakiness (p = 0.17)", task.Evidence)
}

func TestEpisodesWorthALook(t *testing.T) {
	base := plan{candidate: "a", tasks: 1, trials: 8}
	newer := plan{candidate: "b", tasks: 1, trials: 8, episode: func(_, trial int, rows *ledger.EpisodeRows) {
		e := &rows.Episode
		switch trial {
		case 2: // solved in another way, with another argument
			rows.ToolCalls[1].ArgsHash = "cc"
		case 3: // fails with another tool
			e.Solved = false
			rows.Turns[1].NextActionName = "today_range"
			rows.ToolCalls[1].ToolName = "today_range"
		case 4: // fails with the same decisions
			e.Solved = false
		case 5: // fails with more turns
			e.Solved, e.Status, e.StopReason = false, "stopped", "max_steps"
			rows.Turns = append(rows.Turns, turn(e.Key, 4, "clarify", ""))
		case 6: // without a result
			e.Status, e.InfraError = ledger.StatusInfraError, true
			rows.Turns = rows.Turns[:1]
			rows.Turns[0].ErrorKind = "overloaded"
		}
	}}
	task := compared(base, newer, Rules{}).Pairs[0].Tasks[0]
	require.Equal(t, []EpisodePair{
		{3, "a-T00-3", "b-T00-3", "solved: answered", "failed: answered", 2, "baseline calls get_counts, new calls today_range"},
		{4, "a-T00-4", "b-T00-4", "solved: answered", "failed: answered", 0, "the same decisions, a different outcome"},
		{5, "a-T00-5", "b-T00-5", "solved: answered", "failed: stopped: max_steps", 4, "baseline has ended, new asks a question"},
		{6, "a-T00-6", "b-T00-6", "solved: answered", "no result: infrastructure error", 1, "baseline calls get_counts, new gets no reply: overloaded"},
	}, task.Episodes)

	newer.episode = func(_, trial int, rows *ledger.EpisodeRows) {
		if trial == 2 {
			rows.ToolCalls[1].ArgsHash = "cc"
		}
	}
	task = compared(base, newer, Rules{}).Pairs[0].Tasks[0]
	require.Equal(t, []EpisodePair{{2, "a-T00-2", "b-T00-2", "solved: answered", "solved: answered", 2, "baseline calls get_counts, new with other arguments"}}, task.Episodes,
		"pairs without a difference are not worth a look")
}

func TestDivergence(t *testing.T) {
	key := ledger.Key{}
	episode := func(calls []ledger.ToolCall, turns ...ledger.Turn) (list []decision, w *stringTable) {
		made, next := newStringTable(), 0
		for i := range turns {
			var d decision
			d, next = decided(&made, &turns[i], calls, next)
			list = append(list, d)
		}
		return list, &made
	}
	get, respond, nothing := turn(key, 1, "tool", "get_counts"), turn(key, 2, "respond", ""), turn(key, 2, "", "")
	call := func(turn int32, args string) ledger.ToolCall {
		return ledger.ToolCall{Turn: turn, ToolName: "get_counts", ArgsHash: args}
	}
	for name, c := range map[string]struct {
		base, new             []ledger.Turn
		baseCalls, trialCalls []ledger.ToolCall
		turn                  int
		what                  string
	}{
		"equal":           {base: []ledger.Turn{get, respond}, new: []ledger.Turn{get, respond}},
		"both empty":      {},
		"another action":  {base: []ledger.Turn{get, respond}, new: []ledger.Turn{get, nothing}, turn: 2, what: "baseline answers, new gives no usable action"},
		"baseline longer": {base: []ledger.Turn{get, respond}, new: []ledger.Turn{get}, turn: 2, what: "baseline answers, new has ended"},
		"trial has none":  {base: []ledger.Turn{get}, turn: 1, what: "baseline calls get_counts, new has ended"},
		"other arguments": {
			base: []ledger.Turn{get, respond}, new: []ledger.Turn{get, respond}, turn: 1, what: "baseline calls get_counts, new with other arguments",
			baseCalls: []ledger.ToolCall{call(1, "a")}, trialCalls: []ledger.ToolCall{call(1, "b")},
		},
		"one call more": {
			base: []ledger.Turn{get, respond}, new: []ledger.Turn{get, respond}, turn: 1, what: "baseline calls get_counts, new with other arguments",
			baseCalls: []ledger.ToolCall{call(1, "a")}, trialCalls: []ledger.ToolCall{call(1, "a"), call(1, "a")},
		},
		"a call of another turn": {
			base: []ledger.Turn{get, respond}, new: []ledger.Turn{get, respond}, turn: 1, what: "baseline calls get_counts, new with other arguments",
			baseCalls: []ledger.ToolCall{call(1, "a")}, trialCalls: []ledger.ToolCall{call(2, "a")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			base, before := episode(c.baseCalls, c.base...)
			newer, after := episode(c.trialCalls, c.new...)
			turn, what := divergence(Names{"baseline", "new"}, base, before, newer, after)
			require.Equal(t, c.turn, turn)
			require.Equal(t, c.what, what)
		})
	}
}

// The test uses 100,000 arguments in the same place. With a hash of 32 bits, one of
// 43,000 such sets has an argument with the hash of the first one; this set has none.
func TestArgumentsAreToldApart(t *testing.T) {
	w, get := newStringTable(), turn(ledger.Key{}, 1, "tool", "get_counts")
	base, _ := decided(&w, &get, []ledger.ToolCall{{Turn: 1, ToolName: "get_counts", ArgsHash: "none"}}, 0)
	for i := range 100_000 {
		d, _ := decided(&w, &get, []ledger.ToolCall{{Turn: 1, ToolName: "get_counts", ArgsHash: fmt.Sprint(i)}}, 0)
		require.NotEqual(t, base, d)
	}
}
