package harness_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// fan is a strategy with parallel conversations of several turns, which accepts any result of a
// call. No two prompts are equal.
type fan struct {
	agent.Tally
	wide, deep int
	timeout    time.Duration
	chain      map[int]int // command → conversation
	turn       map[int]int // conversation → turns asked for
	first      bool        // ends with the first reply
	panics     bool
}

func (f fan) strategy(p agent.Params) (agent.Machine, error) {
	f.Tally = agent.Tally{Budgets: p.Budgets}
	f.chain, f.turn = map[int]int{}, map[int]int{}
	return &f, nil
}

// Step implements agent.Machine.
func (f *fan) Step(ev agent.Event) (r agent.Ready) {
	f.Take(ev)
	defer func() { r.Used = f.Used() }()
	switch ev := ev.(type) {
	case agent.Started:
		for i := range f.wide {
			r.Commands = append(r.Commands, f.ask(i, 0))
		}
		return r
	case agent.ModelReplied:
		r.Judgement = &agent.Judgement{ValidJSON: true, Actionable: true, ContractValid: true}
		if f.panics {
			panic("broken on purpose")
		}
		if !f.first {
			r.Commands = f.next(ev.ID)
		}
	case agent.ModelFailed:
		r.Commands = f.next(ev.ID)
	case agent.Deadline:
		r.Commands = append(r.Commands, f.Finish(agent.Finish{Status: agent.Stopped, StopReason: agent.MaxSeconds}))
		return r
	}
	if f.Open() == 0 || f.first {
		r.Commands = append(r.Commands, f.Finish(agent.Finish{Status: agent.Answered}))
	}
	return r
}

func (f *fan) next(id int) []agent.Command {
	if i := f.chain[id]; f.turn[i] < f.deep {
		return []agent.Command{f.ask(i, id)}
	}
	return nil
}

func (f *fan) ask(i, parent int) agent.CallModel {
	f.turn[i]++
	c := f.Model(agent.CallModel{
		Parent: parent, Role: turn.RoleMain, Kind: turn.KindAct,
		Call: providers.Call{Messages: []providers.Message{{Role: providers.RoleUser, Text: fmt.Sprint(i, " of ", f.turn[i])}}, MaxTokens: 10},
	})
	f.chain[c.ID] = i
	if f.timeout > 0 {
		c.Timeout = f.timeout
	}
	return c
}

// fanOptions returns a recording of one episode of a fan.
func fanOptions(t testing.TB, f fan, w http.RoundTripper) harness.Options {
	t.Helper()
	o := stormOptions(t, 1, w)
	o.Strategies = map[string]agent.Strategy{"storm": {New: f.strategy}}
	return o
}

// Conversations of one episode continue in real time while others wait for their replies. A
// replay does not wait, or takes the recorded time.
func TestCallsOfOneEpisodeOverlap(t *testing.T) {
	w := newRandomFaults(1)
	w.fails, w.slow = false, 40*time.Millisecond
	o := fanOptions(t, fan{wide: 6, deep: 4}, w)
	start := time.Now()
	recorded, err := harness.Run(context.Background(), o)
	took := time.Since(start)
	require.NoError(t, err)
	rows := rowsOf(t, recorded)
	require.Len(t, rows.Turns, 24)
	require.GreaterOrEqual(t, w.most.Load(), int32(4), "at once")
	elapsed := time.Duration(*rows.Episodes[0].ElapsedUs) * time.Microsecond
	require.GreaterOrEqual(t, elapsed, 4*w.slow)
	require.Less(t, elapsed, took)
	byAction := map[string]int64{}
	for i, turn := range rows.Turns {
		require.Equal(t, i < 6, turn.ParentActionID == "")
		if i >= 6 {
			require.Equal(t, byAction[turn.ParentActionID], turn.TsStart, "begins when what led to it ended")
		}
		byAction[turn.ActionID] = turn.TsEnd
	}
	requireSameEpisodes(t, recorded, replayed(t, o))

	o.Mode, o.Transport, o.Runs, o.ReplaySpeed = recorder.Replay, nil, t.TempDir(), 1
	start = time.Now()
	paced, err := harness.Run(context.Background(), o)
	took = time.Since(start)
	require.NoError(t, err)
	requireSameEpisodes(t, recorded, paced)
	require.GreaterOrEqual(t, took, elapsed-time.Millisecond)
}

// A lane with one permit makes the calls of an episode one after another.
func TestParallelCallsShareOnePermit(t *testing.T) {
	w := newRandomFaults(1)
	o := fanOptions(t, fan{wide: 5, deep: 2}, w)
	o.Limits = map[string]admission.Limits{"openai-compatible": {Concurrency: 1}}
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", recorded.Manifest.Status)
	require.Equal(t, int32(1), w.most.Load())
	require.Len(t, rowsOf(t, recorded).Turns, 10)
	requireSameEpisodes(t, recorded, replayed(t, o))
}

// If one of several parallel calls reaches a cap, the episode ends without a result, even if its
// strategy would accept a failed call. The costs of the other calls are counted.
func TestParallelCallsReachACap(t *testing.T) {
	w := newRandomFaults(1)
	w.fails = false
	o := fanOptions(t, fan{wide: 6, deep: 3}, w)
	o.Caps.Requests = 4
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "partial", res.Manifest.Status)
	rows := rowsOf(t, res)
	e := rows.Episodes[0]
	require.Equal(t, "budget_stop", e.Status)
	require.Equal(t, episode.KindRunBudget, e.ErrorKind)
	require.Len(t, rows.Turns, 6, "nothing more is asked")
	paid := 0
	for _, turn := range rows.Turns {
		require.True(t, (turn.In != nil) != (turn.ErrorKind == episode.KindRunBudget), "%+v", turn)
		paid += b2i(turn.In != nil)
	}
	require.Equal(t, 4, paid)

	o.Resume, o.Caps = res.Manifest.RunID, admission.Caps{}
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	o.Resume = ""
	requireSameEpisodes(t, res, replayed(t, o))
}

// The time budget ends all calls in flight; Ctrl-C ends the whole run.
func TestParallelCallsAreCancelled(t *testing.T) {
	t.Run("by their deadline", func(t *testing.T) {
		w := newRandomFaults(1)
		w.fails, w.slow = false, time.Minute
		o := fanOptions(t, fan{wide: 5, deep: 2, timeout: 30 * time.Millisecond}, w)
		o.Mode = recorder.Live
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		rows := rowsOf(t, res)
		require.Equal(t, "stopped max_seconds", rows.Episodes[0].Status+" "+rows.Episodes[0].StopReason)
		require.Len(t, rows.Turns, 5)
		for _, turn := range rows.Turns {
			require.NotEmpty(t, turn.ErrorKind)
		}

		o.Mode = recorder.Record
		res, err = harness.Run(context.Background(), o)
		require.NoError(t, err)
		e := rowsOf(t, res).Episodes[0]
		require.Equal(t, "harness_error", e.Status, "no cassette can hold it")
		require.Contains(t, e.ErrorText, "raise the budget, or use live mode")
	})
	t.Run("by Ctrl-C", func(t *testing.T) {
		w := newRandomFaults(1)
		w.fails, w.slow = false, time.Minute
		o := fanOptions(t, fan{wide: 5, deep: 1e6}, w)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(30*time.Millisecond, cancel)
		res, err := harness.Run(ctx, o)
		require.NoError(t, err)
		require.True(t, res.Interrupted)
		require.Empty(t, rowsOf(t, res).Episodes)
	})
}

// Calls in flight at the end of an episode are paid for, but are not turns of it.
func TestAbandonedCallsAreCountedNotJudged(t *testing.T) {
	w := newRandomFaults(1)
	w.fails = false
	o := fanOptions(t, fan{wide: 5, deep: 1, first: true}, w)
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, recorded)
	e, kinds, tokens := rows.Episodes[0], map[string]int{}, int64(0)
	for _, turn := range rows.Turns {
		kinds[turn.ErrorKind]++
		tokens += *turn.In
		require.Equal(t, turn.ErrorKind == "", turn.TsEnd <= e.TsStart+*e.ElapsedUs)
	}
	require.Equal(t, map[string]int{"": 1, episode.KindAbandoned: 4}, kinds)
	require.Equal(t, tokens, *e.In)
	require.Equal(t, int32(1), e.Steps)
	require.Zero(t, e.Violations)
	require.True(t, e.Solved)
	requireSameEpisodes(t, recorded, replayed(t, o))
}

// A panic of a strategy ends only its own episode.
func TestStrategyThatPanics(t *testing.T) {
	o := fanOptions(t, fan{wide: 3, deep: 1, panics: true}, newRandomFaults(1))
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Equal(t, "harness_error", rows.Episodes[0].Status)
	require.Equal(t, "strategy storm panicked at agent.ModelReplied: broken on purpose", rows.Episodes[0].ErrorText)
	require.Len(t, rows.Turns, 3)
}

// A fork can only continue from a turn without other calls in flight.
func TestForkOfParallelTurnsIsRefused(t *testing.T) {
	w := newRandomFaults(1)
	w.fails = false
	o := fanOptions(t, fan{wide: 3, deep: 2}, w)
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	for turn := 1; turn <= 5; turn++ {
		o.Select, o.Fork = harness.Selection{}, &harness.Fork{Task: "S00", Candidate: "blow", Turn: turn}
		_, err = harness.Run(context.Background(), o)
		var config *harness.ConfigError
		require.ErrorAs(t, err, &config)
		require.ErrorContains(t, err, fmt.Sprintf("fork S00/blow/1@%d: its turns 1 to 3 overlap", turn))
	}
}
