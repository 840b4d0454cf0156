package harness_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
)

// spendLogs returns the only spend log below a folder of runs.
func spendLogs(t *testing.T, runs string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(runs, "*", "journal", "spend.log"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// TestSpendLogIsOnDiskBeforeTheEpisode checks that the requests of a finished episode are in the
// synced part of the log.
func TestSpendLogIsOnDiskBeforeTheEpisode(t *testing.T) {
	o := liveOptions(t, "strong")
	o.Select.Tasks, o.Concurrency = []string{"G01", "G09", "G16"}, 1
	episodes := 0
	o.Progress = func(harness.Progress) {
		text, err := os.ReadFile(spendLogs(t, o.Runs))
		require.NoError(t, err)
		var version, synced int
		var head string
		_, err = fmt.Sscanf(string(text), "%d %s %s m %d", &version, &head, &head, &synced)
		require.NoError(t, err)
		require.Equal(t, len(text), synced)
		episodes++
	}
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, 3, episodes)
}

// cappedRun returns a live run that a cap has ended, and its spend log.
func cappedRun(t *testing.T) (o harness.Options, log string, content []byte, known admission.Spend) {
	o = liveOptions(t, "strong")
	o.Caps, o.Concurrency = admission.Caps{Requests: 12}, 2
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "partial", res.Manifest.Status)
	o.Resume = res.Manifest.RunID
	for _, turn := range rowsOf(t, res).Turns {
		if turn.Provider == "scripted" || turn.RequestDigest == "" {
			continue
		}
		known = known.Plus(admission.Spend{Tokens: *turn.In + *turn.Out + *turn.CacheRead + *turn.CacheWrite + *turn.Reasoning, CostNanoUSD: *turn.CostNanoUSD, Requests: int64(turn.Attempts)})
	}
	log = spendLogs(t, o.Runs)
	content, err = os.ReadFile(log)
	require.NoError(t, err)
	return o, log, content, known
}

// The spend log of an ended run cannot be removed or truncated without an error.
func TestTruncatedSpendLogIsRejected(t *testing.T) {
	o, log, content, _ := cappedRun(t)
	cuts := []int{0, 1, len(content) - 1}
	for i := range content {
		if content[i] == '\n' && i < len(content)-1 {
			cuts = append(cuts, i+1)
		}
	}
	for _, cut := range cuts {
		require.NoError(t, os.WriteFile(log, content[:cut], 0o666))
		_, err := harness.Run(context.Background(), o)
		require.ErrorIs(t, err, admission.ErrDamaged, "cut at %d", cut)
		require.ErrorContains(t, err, log)
	}
}

// The costs of finished episodes count even if the spend log has lost them.
func TestLostSpendLogIsReplacedByTheJournal(t *testing.T) {
	o, log, content, known := cappedRun(t)
	require.Greater(t, known.Requests, int64(5))
	require.NoError(t, os.Remove(log))
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "partial", res.Manifest.Status)
	require.Contains(t, res.Manifest.Stopped, "requests of the run")
	l, err := admission.OpenSpendLog(log)
	require.NoError(t, err)
	spent := l.Spent()["sim-openai"]
	require.NoError(t, l.Close())
	require.GreaterOrEqual(t, spent.Requests, known.Requests)
	require.GreaterOrEqual(t, spent.Tokens, known.Tokens)
	require.GreaterOrEqual(t, spent.CostNanoUSD, known.CostNanoUSD)
	require.EqualValues(t, 12, spent.Requests, "the cap still holds")

	// A complete log is not changed.
	require.NoError(t, os.WriteFile(log, content, 0o666))
	l, err = admission.OpenSpendLog(log)
	require.NoError(t, err)
	whole := l.Spent()
	require.NoError(t, l.Close())
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	after, err := os.ReadFile(log)
	require.NoError(t, err)
	require.True(t, bytes.Equal(content, after), "%v", whole)
}
