package harness_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/recorder"
)

// runFiles are the files of a run folder with its result.
func runFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"run.json", "episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		out[name] = string(text)
	}
	return out
}

// stopAfter runs o until n episodes have ended.
func stopAfter(t *testing.T, o harness.Options, n int) harness.Result {
	t.Helper()
	drain := make(chan struct{})
	o.Drain = drain
	ended := 0
	o.Progress = func(harness.Progress) {
		if ended++; ended == n {
			close(drain)
		}
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	return res
}

func TestResumedReplayEqualsAnUninterruptedOne(t *testing.T) {
	o := countsOptions(t)
	o.Runs, o.Settings = t.TempDir(), []byte(`{"any":"thing"}`)
	whole, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	want := runFiles(t, whole.Dir)
	require.NoDirExists(t, filepath.Join(whole.Dir, "journal"), "a complete run needs none")
	require.NotZero(t, whole.Manifest.Recorded, "the resumed run has the days of all its cassettes, too")

	o.Runs, o.Concurrency = t.TempDir(), 3
	stopped := stopAfter(t, o, 20)
	require.True(t, stopped.Interrupted)
	require.Equal(t, whole.Manifest.RunID, stopped.Manifest.RunID)
	settings, err := harness.ReadSettings(stopped.Dir)
	require.NoError(t, err)
	require.Equal(t, string(o.Settings), string(settings))

	// The run is resumed twice, because a resumed run can also be interrupted. It uses its stored
	// selection.
	o.Resume, o.Settings = stopped.Manifest.RunID, []byte(`{"other":"thing"}`)
	again := stopAfter(t, o, 30)
	settings, err = harness.ReadSettings(stopped.Dir)
	require.NoError(t, err)
	require.Equal(t, string(o.Settings), string(settings), "what was given last counts")
	o.Settings = nil
	require.True(t, again.Interrupted)
	require.Greater(t, again.Manifest.Episodes, stopped.Manifest.Episodes)

	first := 0
	o.Progress = func(p harness.Progress) {
		if first == 0 {
			first = p.Done
		}
		require.Equal(t, again.Manifest.Episodes, p.Resumed)
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, again.Manifest.Episodes+1, first, "what has a result is not run again")
	for name, got := range runFiles(t, res.Dir) {
		require.True(t, want[name] == got, "%s differs from the uninterrupted run's", name)
	}

	_, err = harness.Run(context.Background(), o)
	require.ErrorIs(t, err, harness.ErrComplete)
	killed := filepath.Join(res.Dir, ".turns.parquet.ABCDEFGHIJ.tmp") // of a repeated replay
	require.NoError(t, os.WriteFile(killed, nil, 0o600))
	_, err = harness.ReadSettings(res.Dir)
	require.ErrorIs(t, err, harness.ErrComplete)
	require.NoFileExists(t, killed)
}

// A run cannot continue with another suite, other candidates or another program, because its
// episodes would not be comparable.
func TestResumeRefuses(t *testing.T) {
	o := countsOptions(t)
	o.Runs, o.Concurrency = t.TempDir(), 1
	stopped := stopAfter(t, o, 5)
	o.Resume = stopped.Manifest.RunID
	for name, c := range map[string]struct {
		change func(*harness.Options)
		want   string
	}{
		"suite":      {func(o *harness.Options) { s := *o.Suite; s.Digest = "other"; o.Suite = &s }, "the suite changed"},
		"candidates": {func(o *harness.Options) { o.Candidates = o.Suite.Candidates[:3] }, "no candidate matches"},
		"seed":       {func(o *harness.Options) { o.Seed = 2 }, "the candidates, the policy or the seed changed"},
		"code":       {func(o *harness.Options) { o.CodeVersion = "2" }, "cupel itself changed"},
		"trials":     {func(o *harness.Options) { o.Resume = "../" + o.Resume }, "must be the id of a run"},
		"no run":     {func(o *harness.Options) { o.Resume = "nothing" }, "no such file"},
		"mode":       {func(o *harness.Options) { o.Mode, o.CassetteDir = recorder.Record, t.TempDir() }, "the mode changed"},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			c.change(&o)
			_, err := harness.Run(context.Background(), o)
			require.ErrorContains(t, err, c.want)
		})
	}
	t.Run("plan", func(t *testing.T) {
		path := filepath.Join(stopped.Dir, "journal", "plan")
		text, err := sealed.Read(path, 1<<20)
		require.NoError(t, err)
		for plan, want := range map[string]string{
			"no/plan\n": "line 1", strings.Replace(string(text), "G01/", "G99/", 1): "the plan cannot be rebuilt from the current suite and configuration",
		} {
			require.NoError(t, sealed.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, plan); return err }))
			_, err = harness.Run(context.Background(), o)
			require.ErrorContains(t, err, want)
		}
	})
}

// breaking is a network that fails after n requests.
type breaking struct {
	next http.RoundTripper
	left atomic.Int32
}

func (b *breaking) RoundTrip(req *http.Request) (*http.Response, error) {
	if b.left.Add(-1) < 0 {
		return nil, errors.New("connection reset")
	}
	return b.next.RoundTrip(req)
}

// A resumed run repeats only the episodes that failed because of the provider.
func TestResumeRetriesInfrastructureErrors(t *testing.T) {
	o := recordOptions(t, "G01", "G02", "G39", "G41")
	o.Select.Candidates = []string{"strong", "weak"}
	server := o.Transport
	broken := &breaking{next: server("")}
	broken.left.Store(6)
	o.Transport = func(string) http.RoundTripper { return broken }
	o.Concurrency, o.Retry.Attempts = 1, 1
	first, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "partial", first.Manifest.Status)
	lost := first.Manifest.Outcomes.InfraErrors
	require.Positive(t, lost)
	require.Equal(t, lost, first.Excluded.ByKind["transport"])
	require.Less(t, lost, 8, "some have a result")

	o.Transport, o.Resume = server, first.Manifest.RunID
	ran := 0
	o.Progress = func(harness.Progress) { ran++ }
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, lost, ran)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Equal(t, first.Manifest.RunID, res.Manifest.RunID)
	require.Equal(t, 8, res.Manifest.Episodes)
	require.Zero(t, res.Manifest.Outcomes.WithoutResult())

	o.Resume, o.Mode, o.Cassettes = "", recorder.Replay, os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, replayed.Manifest.LedgerDigest, res.Manifest.LedgerDigest)
}

func TestTwoProcessesOnOneRun(t *testing.T) {
	o := countsOptions(t)
	o.Runs = t.TempDir()
	stopped := stopAfter(t, o, 1)
	unlock, err := ledger.Lock(stopped.Dir)
	require.NoError(t, err)
	_, err = harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "in use by another cupel process")
	o.Resume = stopped.Manifest.RunID
	_, err = harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "in use by another cupel process")
	unlock()
	_, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
}

func TestNothingSelected(t *testing.T) {
	o := countsOptions(t)
	o.Select.Episode = func(string, string, int) bool { return false }
	_, err := harness.Run(context.Background(), o)
	require.ErrorIs(t, err, harness.ErrNothingSelected)
}
