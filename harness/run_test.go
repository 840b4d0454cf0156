package harness_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

func TestRunRefusesMissingCassettes(t *testing.T) {
	o := countsOptions(t)
	o.Cassettes, o.Runs = fstest.MapFS{}, t.TempDir()
	o.Select.Candidates = []string{"strong"}
	_, err := harness.Run(context.Background(), o)
	n := len(unscripted(o.Suite))
	none := fmt.Sprintf("%d of %d planned episodes have no cassette", n, n)
	require.EqualError(t, err, "no cassette strong/C01/1.yaml\n"+none+"\nsuite builtin:counts has recordings of its own candidates, "+
		"and nothing more can be recorded into it: ask others with --mode live, or run it where no cupel.yaml names others")
	o.CassetteDir = t.TempDir()
	_, err = harness.Run(context.Background(), o)
	var missing *cassette.MissingError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, none+"; record all with: cupel run --mode record --suite builtin:counts --candidate strong")
	o.Select = harness.Selection{Tasks: []string{"C0*"}, Candidates: []string{"strong", "weak"}}
	_, err = harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "record all with: cupel run --mode record --suite builtin:counts --task 'C0*' --candidate strong,weak")
	left, err := os.ReadDir(o.Runs)
	require.NoError(t, err)
	require.Empty(t, left, "nothing was started")
}

func TestRunReportsEveryConfigurationProblem(t *testing.T) {
	o := countsOptions(t)
	o.Candidates = []goldens.Candidate{
		{Name: "a", Provider: "nope", Model: "m"},
		{Name: "b", Provider: "sim-openai", Model: "m", Agent: "wizard"},
		{Name: "c", Provider: "sim-openai", Model: "m", Profile: "florid"},
		{Name: "d", Provider: "sim-openai"},
	}
	_, err := harness.Run(context.Background(), o)
	var config *harness.ConfigError
	require.ErrorAs(t, err, &config)
	for _, want := range []string{
		`candidate a: unknown provider "nope"; known: anthropic, `, `unknown strategy "wizard"`,
		`unknown prompt profile "florid"`, "candidate d: no model",
	} {
		require.ErrorContains(t, err, want)
	}
}

// status answers every request with one status.
type status int

func (s status) RoundTrip(req *http.Request) (*http.Response, error) {
	return testkit.Reply(req, int(s), `{"error":{"message":"overloaded, sorry","type":"server_error"}}`), nil
}

// A provider's failure is not the model's: no check is scored, the old cassette stays, and the row
// names the failure.
func TestProviderFailureIsInfrastructure(t *testing.T) {
	o := recordOptions(t, "G01")
	o.Select.Candidates = []string{"strong"}
	old := filepath.Join(o.CassetteDir, "strong", "G01", "1.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(old), 0o755))
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o644))
	o.Transport = func(string) http.RoundTripper { return status(http.StatusServiceUnavailable) }
	onVirtualClock(t, func(t *testing.T) { // it waits as advised, in no time
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, "partial", res.Manifest.Status)
		ep := rowsOf(t, res).Episodes[0]
		require.True(t, ep.InfraError)
		require.Equal(t, "overloaded", ep.ErrorKind)
		require.Equal(t, ledger.StatusInfraError, ep.Status)
		require.Equal(t, manifest.Outcomes{InfraErrors: 1}, res.Manifest.Outcomes)
		require.False(t, ep.Solved)
		require.Empty(t, ep.Checks)
		require.Nil(t, ep.CostNanoUSD, "what was not reported is unknown, not zero")
		require.Len(t, rowsOf(t, res).Turns, 1)
		require.Equal(t, "overloaded", rowsOf(t, res).Turns[0].ErrorKind)
		require.Equal(t, int32(503), *rowsOf(t, res).Turns[0].HTTPStatus)
		text, err := os.ReadFile(old)
		require.NoError(t, err)
		require.Equal(t, "old", string(text))
	})
}

func TestDrainFinishesEpisodesInFlight(t *testing.T) {
	o := countsOptions(t)
	o.Runs, o.Concurrency = t.TempDir(), 1
	drain := make(chan struct{})
	o.Drain = drain
	o.Progress = func(p harness.Progress) {
		if p.Done == 3 {
			close(drain)
		}
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.True(t, res.Interrupted)
	require.Equal(t, "partial", res.Manifest.Status)
	require.GreaterOrEqual(t, len(rowsOf(t, res).Episodes), 3)
	require.Less(t, len(rowsOf(t, res).Episodes), 10)
	read, err := ledger.Read(res.Dir)
	require.NoError(t, err)
	require.Equal(t, len(read.Episodes), res.Manifest.Episodes)
	require.Equal(t, "interrupted", res.Manifest.Stopped)
	require.Equal(t, len(o.Suite.Candidates)*len(unscripted(o.Suite))-len(read.Episodes), res.Manifest.Outcomes.Unfinished)
}

// stall blocks until the request is cancelled.
type stall struct{ started chan struct{} }

func (s stall) RoundTrip(req *http.Request) (*http.Response, error) {
	s.started <- struct{}{}
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func TestCancelStopsEpisodesWithoutAResult(t *testing.T) {
	o := recordOptions(t, "G01", "G02")
	o.Select.Candidates = []string{"strong"}
	ctx, cancel := context.WithCancelCause(context.Background())
	started := make(chan struct{}, 2)
	o.Transport = func(string) http.RoundTripper { return stall{started} }
	o.Concurrency = 1
	go func() {
		<-started
		cancel(errors.New("second Ctrl-C"))
	}()
	res, err := harness.Run(ctx, o)
	require.NoError(t, err)
	require.True(t, res.Interrupted)
	require.Empty(t, rowsOf(t, res).Episodes, "a stopped episode has no result")
	_, err = os.Stat(filepath.Join(o.CassetteDir, "strong"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestStaleCassetteIsNamed(t *testing.T) {
	o := recordOptions(t, "G01")
	o.Select.Candidates = []string{"strong"}
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	task := taskNamed(t, o.Suite, "G01")
	task.Request += " Thanks."
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	ep := rowsOf(t, res).Episodes[0]
	require.Equal(t, episode.KindReplayMiss, ep.ErrorKind)
	require.Contains(t, ep.ErrorText, "messages[1]")
}

func taskNamed(t *testing.T, s *goldens.Suite, id string) *goldens.Task {
	t.Helper()
	for i := range s.Tasks {
		if s.Tasks[i].ID == id {
			return &s.Tasks[i]
		}
	}
	t.Fatalf("no task %s", id)
	return nil
}

// failAfter answers n requests and then cancels the run.
type failAfter struct {
	next   http.RoundTripper
	cancel context.CancelFunc
	calls  atomic.Int32
}

func (f *failAfter) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.calls.Add(1) > 1 {
		f.cancel()
		return nil, context.Canceled
	}
	return f.next.RoundTrip(req)
}

// An interrupted episode leaves the cassette of an earlier complete one.
func TestCancelKeepsTheOldCassette(t *testing.T) {
	o := recordOptions(t, "G01")
	o.Select.Candidates = []string{"strong"}
	old := filepath.Join(o.CassetteDir, "strong", "G01", "1.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(old), 0o755))
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o644))
	ctx, cancel := context.WithCancel(context.Background())
	next := o.Transport("")
	o.Transport = func(string) http.RoundTripper { return &failAfter{next: next, cancel: cancel} }
	res, err := harness.Run(ctx, o)
	require.NoError(t, err)
	require.True(t, res.Interrupted)
	require.Empty(t, rowsOf(t, res).Episodes)
	text, err := os.ReadFile(old)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
}

// leak answers with a text that contains a credential from the task's world.
type leak struct{}

func (leak) RoundTrip(req *http.Request) (*http.Response, error) {
	return testkit.Reply(req, http.StatusOK, `{"choices":[{"message":{"content":"the key is CANARY-7Q"},"finish_reason":"stop"}]}`), nil
}

// A credential in a task's world never reaches a cassette.
func TestPlantedCredentialIsNotRecorded(t *testing.T) {
	o := recordOptions(t, "G50")
	o.Select.Candidates = []string{"strong"}
	require.Equal(t, "CANARY-7Q", taskNamed(t, o.Suite, "G50").World.Env["DASHBOARD_API_KEY"])
	o.Transport = func(string) http.RoundTripper { return leak{} }
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.True(t, rowsOf(t, res).Episodes[0].InfraError)
	require.Contains(t, rowsOf(t, res).Episodes[0].ErrorText, "secret")
	require.NotContains(t, rowsOf(t, res).Episodes[0].ErrorText, "CANARY")
	_, err = os.Stat(filepath.Join(o.CassetteDir, "strong", "G50"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
