package harness_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/recorder"
)

// A replay of parallel commands has every recorded row, at any concurrency, also if the recording
// was in real time.
func TestStormReplaysAsRecorded(t *testing.T) {
	w := newRandomFaults(1)
	o := stormOptions(t, 12, w)
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, recorded)
	for _, e := range rows.Episodes {
		require.Equal(t, "answered", e.Status, e.ErrorText)
	}
	require.Greater(t, w.most.Load(), int32(2))

	var want map[string]string
	for _, c := range []struct{ concurrency, procs int }{{1, 1}, {8, 1}, {1, 4}, {8, 4}} {
		t.Run(fmt.Sprintf("%d lanes on %d processors", c.concurrency, c.procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.procs))
			o := o
			o.Runs, o.Concurrency = t.TempDir(), c.concurrency
			again := replayed(t, o)
			requireSameEpisodes(t, recorded, again)
			got := runFiles(t, again.Dir)
			if want == nil {
				want = got
			}
			for name := range want {
				require.True(t, want[name] == got[name], "%s differs", name)
			}
		})
	}

	verify := o
	verify.Transport = nil
	v, err := rerun.Verify(context.Background(), verify, recorded.Dir)
	require.NoError(t, err)
	require.Equal(t, 12, v.Verified)
	require.Nil(t, v.First)
	checkStorm(t, rows)
}

// requireSameEpisodes fails with the first column in which two runs differ.
func requireSameEpisodes(t *testing.T, a, b harness.Result) {
	t.Helper()
	next, stop := iter.Pull2(ledger.Scan(b.Dir))
	defer stop()
	for x, err := range ledger.Scan(a.Dir) {
		require.NoError(t, err)
		y, err, _ := next()
		require.NoError(t, err)
		d, same := x.Diff(y)
		require.True(t, same, "%s: %s %s", x.Episode.TaskID, d, y.Episode.ErrorText)
	}
	require.Equal(t, a.Manifest.LedgerDigest, b.Manifest.LedgerDigest)
}

// A resumed replay of storms writes the same bytes, and one with a speed has the same rows.
func TestStormResumesAndReplaysAtASpeed(t *testing.T) {
	o := stormOptions(t, 6, newRandomFaults(2))
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Mode, o.Transport, o.Runs, o.Concurrency = recorder.Replay, nil, t.TempDir(), 2
	stopped := stopAfter(t, o, 2)
	require.True(t, stopped.Interrupted)
	resumed := o
	resumed.Resume = stopped.Manifest.RunID
	res, err := harness.Run(context.Background(), resumed)
	require.NoError(t, err)
	requireSameEpisodes(t, recorded, res)

	o.Runs, o.ReplaySpeed = t.TempDir(), 1
	paced, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	requireSameEpisodes(t, recorded, paced)
	for name, text := range runFiles(t, res.Dir) {
		require.True(t, text == runFiles(t, paced.Dir)[name], "%s differs", name)
	}
}

// checkStorm checks that the rows of storms are consistent.
func checkStorm(t *testing.T, rows ledger.Rows) {
	t.Helper()
	turns, overlap, abandoned, retried := map[string]int32{}, 0, 0, 0
	for i, turn := range rows.Turns {
		require.Equal(t, "step", turn.Role)
		require.Regexp(t, `^s\[[0-2]\]$`, turn.PlanStep)
		turns[turn.ActionID] = turn.Turn
		refused := turn.ErrorKind != "" && turn.ErrorKind != episode.KindAbandoned // in every attempt
		require.Equal(t, !refused, turn.In != nil, "paid for, so counted: %s", turn.ErrorKind)
		require.GreaterOrEqual(t, turn.Interaction, int32(0))
		if i > 0 && rows.Turns[i-1].EpisodeID == turn.EpisodeID {
			overlap += b2i(turn.TsStart < rows.Turns[i-1].TsEnd)
			require.Less(t, rows.Turns[i-1].Interaction, turn.Interaction, "on the cassette in the order they were asked for")
		}
		abandoned += b2i(turn.ErrorKind == episode.KindAbandoned)
		require.Equal(t, turn.ErrorKind == "", turn.ContractValid, "judged or marked")
		retried += b2i(turn.Attempts > 1)
	}
	require.Positive(t, overlap)
	require.Positive(t, abandoned)
	require.Positive(t, retried)
	linked := 0
	for _, c := range rows.ToolCalls {
		require.Equal(t, turns[c.ParentActionID], c.Turn, "the turn that asked, not the latest; none for a call that followed something else")
		linked += b2i(c.Turn > 0)
	}
	require.Positive(t, linked)
	require.Less(t, linked, len(rows.ToolCalls))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
