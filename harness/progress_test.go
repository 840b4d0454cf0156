package harness

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder"
)

// endedRows returns the rows of an episode with these attempts per turn.
func endedRows(e ledger.Episode, attempts ...int32) ledger.EpisodeRows {
	rows := ledger.EpisodeRows{Episode: e}
	for _, n := range attempts {
		rows.Turns = append(rows.Turns, ledger.Turn{Attempts: n})
	}
	return rows
}

func TestProgressAddsUp(t *testing.T) {
	limited := ledger.Episode{Key: ledger.Key{TaskID: "b"}, Status: ledger.StatusInfraError, InfraError: true, ErrorKind: "rate_limit"}
	scripted := ledger.Episode{Key: ledger.Key{TaskID: "d", Provider: episode.ScriptedCandidate}, Solved: true, CostNanoUSD: new(int64(0))}
	p := Progress{Total: 9, Done: 2, Resumed: 2}
	p.add(endedRows(ledger.Episode{
		Solved: true, CostNanoUSD: new(int64(7)),
		Tokens: ledger.Tokens{In: new(int64(1)), Out: new(int64(2)), CacheRead: new(int64(3)), CacheWrite: new(int64(4)), Reasoning: new(int64(5))},
	}, 1, 3))
	require.False(t, p.CostUnknown)
	require.Nil(t, p.LastFailure)
	p.add(endedRows(limited, 4, 0))
	p.add(endedRows(scripted, 1, 1))
	require.Equal(t, Progress{
		Total: 9, Done: 5, Resumed: 2, Outcomes: manifest.Outcomes{Solved: 2, InfraErrors: 1},
		CostNanoUSD: 7, CostUnknown: true, Tokens: 15, Requests: 8, Retries: 5,
		Last: scripted, LastFailure: &limited,
	}, p)
}

func testBoard(mode recorder.Mode, watch func(Progress)) *runState {
	r := &runner{id: "R", Options: Options{Recording: Recording{Mode: mode}, Observers: Observers{Watch: watch}}, plan: &plan{}, changes: make(chan admission.Change, maxChanges)}
	return newRunState(r, &store{dir: "runs/R"})
}

// Between episodes a live run reports every second and every change of a limit. It reports the
// remaining changes at its end.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		var limits []int
		b := testBoard(recorder.Live, func(p Progress) {
			require.Equal(t, "R", p.RunID)
			require.Equal(t, "runs/R", p.Dir)
			at = append(at, time.Since(start))
			if p.Change != nil {
				limits = append(limits, p.Change.Limit)
			}
		})
		stop := b.watch()
		require.Equal(t, []time.Duration{0}, at, "the run has begun")
		time.Sleep(1500 * time.Millisecond)
		b.r.onLimitChange(admission.Change{Limit: 4})
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []time.Duration{0, time.Second, 1500 * time.Millisecond, 2 * time.Second}, at)
		b.r.onLimitChange(admission.Change{Limit: 2})
		stop()
		time.Sleep(time.Minute)
		require.Equal(t, []int{4, 2}, limits)
		require.Len(t, at, 5)
	})
}

// Admission does not wait for observers.
func TestWatchersFallBehind(t *testing.T) {
	updates := 0
	b := testBoard(recorder.Record, func(p Progress) {
		if p.Change != nil {
			updates++
		}
	})
	for range 2 * maxChanges {
		b.r.onLimitChange(admission.Change{})
	}
	b.watch()()
	require.Equal(t, maxChanges, updates)
	(&runner{}).onLimitChange(admission.Change{}) // nobody watches
}

// A replay reports only its start, because it has no limits and takes no time.
func TestReplayReportsItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		updates := 0
		stop := testBoard(recorder.Replay, func(Progress) { updates++ }).watch()
		time.Sleep(time.Minute)
		stop()
		require.Equal(t, 1, updates)
		testBoard(recorder.Live, nil).watch()()
	})
}

func TestStateNamesTheCap(t *testing.T) {
	b := testBoard(recorder.Live, nil)
	b.r.control = admission.New(admission.Options{})
	b.r.control.Lane("p", "k")
	require.Empty(t, b.state().Stopping)
	b.capped = errors.New("the cap of 5 USD is reached")
	require.Equal(t, "the cap of 5 USD is reached", b.state().Stopping)
	require.Equal(t, []admission.LaneState{{Lane: 1, Limit: 8}}, b.state().Admission.Providers[0].Lanes)
}

// BenchmarkProgress measures the cost of progress per episode of five turns. The lower bound is
// copying the state twice, once for the run and once for the observer.
func BenchmarkProgress(b *testing.B) {
	rows := endedRows(ledger.Episode{Solved: true, CostNanoUSD: new(int64(7))}, 1, 1, 2, 1, 1)
	for name, mode := range map[string]recorder.Mode{"replay": recorder.Replay, "live": recorder.Live} {
		b.Run(name, func(b *testing.B) {
			board := testBoard(mode, nil)
			if mode == recorder.Live {
				board.r.control = admission.New(admission.Options{})
				board.r.control.Lane("p", "k")
			}
			done := 0
			board.r.Progress = func(p Progress) { done = p.Done }
			b.ReportAllocs()
			for b.Loop() {
				board.progress.add(rows)
				board.r.Progress(board.state())
			}
			require.Positive(b, done)
		})
	}
}
