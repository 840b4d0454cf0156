package harness_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
)

func TestMain(m *testing.M) {
	if os.Getenv(foreignChild) != "" {
		actAsForeignChild()
		return
	}
	if os.Getenv(slowServer) != "" {
		actAsSlowServer()
		return
	}
	goleak.VerifyTestMain(m)
}

// TestCounts runs the built-in golden suite. The scripted tasks test the harness; the strong
// simulated model, recorded over both wires, solves all others.
func TestCounts(t *testing.T) {
	harness.Test(t, harness.Params{
		Loaded: countsSuite(t), Providers: all.Factories(),
		Select: harness.Selection{Candidates: []string{"scripted", "strong*"}},
	})
}

func countsSuite(t testing.TB) *goldens.Suite {
	t.Helper()
	s, err := loadedCounts()
	require.NoError(t, err)
	own := *s // a test may change what it holds
	own.Tasks, own.Tools, own.Candidates = slices.Clone(s.Tasks), slices.Clone(s.Tools), slices.Clone(s.Candidates)
	own.HTTP, own.Approvals = maps.Clone(s.HTTP), maps.Clone(s.Approvals)
	for i := range own.Tasks {
		own.Tasks[i].Expect, own.Tasks[i].Script = slices.Clone(s.Tasks[i].Expect), slices.Clone(s.Tasks[i].Script)
	}
	return &own
}

// loadedCounts reads the suite once, because that takes a second under the race detector.
var loadedCounts = sync.OnceValues(func() (*goldens.Suite, error) { return load.Suite(counts.FS, "builtin:counts", counts.Worlds()) })

// countsOptions returns a replay of the built-in suite in memory.
func countsOptions(t testing.TB) harness.Options {
	t.Helper()
	prices, err := price.Default()
	require.NoError(t, err)
	return harness.Options{
		Matrix: harness.Matrix{Suite: countsSuite(t), Seed: 1},
		Parts:  harness.Parts{Providers: all.Factories()},
		Rules:  harness.Rules{Policy: policy.Default(), Prices: prices, CodeVersion: "test"},
	}
}

func TestReplayIsDeterministic(t *testing.T) {
	files := func(concurrency, procs int) map[string]string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		o := countsOptions(t)
		o.Runs, o.Concurrency = t.TempDir(), concurrency
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		out := map[string]string{"id": res.Manifest.RunID}
		for _, name := range []string{"run.json", "episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
			text, err := os.ReadFile(filepath.Join(res.Dir, name))
			require.NoError(t, err)
			out[name] = string(text)
		}
		return out
	}
	want := files(1, 1)
	for name, got := range files(16, 4) {
		require.True(t, want[name] == got, "%s differs between concurrency 1 and 16", name)
	}
}

// recordOptions returns a recording of a part of a copy of the built-in suite, from simulated
// models over HTTP on loopback.
func recordOptions(t *testing.T, tasks ...string) harness.Options {
	t.Helper()
	server, err := sim.Start(context.Background(), "", followers(7))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return recordOver(t, through(t, server.URL()), tasks...)
}

// recordOver returns recordOptions with another transport.
func recordOver(t testing.TB, transport func(string) http.RoundTripper, tasks ...string) harness.Options {
	t.Helper()
	o := countsOptions(t)
	o.Mode, o.CassetteDir, o.Runs = recorder.Record, t.TempDir(), t.TempDir()
	o.Select.Tasks = tasks
	o.Now = func() time.Time { return time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC) }
	o.Transport = transport
	return o
}

// inMemory returns the simulated models of recordOptions without a socket, because a virtual clock
// cannot wait for sockets.
func inMemory(string) http.RoundTripper { return testkit.Handled(sim.Handler(followers(7))) }

// builtinBooks are the playbooks of the built-in suites.
var builtinBooks = sync.OnceValue(func() (out []*playbook.Book) {
	questions, err := load.Suite(research.FS, "research", research.Worlds())
	if err != nil {
		panic(err)
	}
	numbers, err := loadedCounts()
	if err != nil {
		panic(err)
	}
	for _, suite := range []*goldens.Suite{numbers, questions} {
		book, err := load.Playbook(suite)
		if err != nil {
			panic(err)
		}
		out = append(out, book)
	}
	return out
})

// followers configures simulated models that follow the playbooks of the built-in suites.
func followers(seed int64) sim.Config { return sim.Config{Seed: seed, Books: builtinBooks()} }

// through sends every request to one server.
func through(t *testing.T, url string) func(string) http.RoundTripper {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return func(string) http.RoundTripper { return rewrite{transport, url} }
}

// noSleep does not wait.
func noSleep(context.Context, time.Duration) error { return nil }

// rewrite sends every request to one server.
type rewrite struct {
	next http.RoundTripper
	to   string
}

func (r rewrite) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Host = strings.TrimPrefix(r.to, "http://")
	return r.next.RoundTrip(req)
}

func TestReplayReproducesTheRecording(t *testing.T) {
	o := recordOptions(t, "G01", "G09", "G16", "G39", "G41")
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", recorded.Manifest.Status)

	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
	require.Equal(t, withoutRun(rowsOf(t, recorded)), withoutRun(rowsOf(t, replayed)))

	latency := int64(0)
	for _, turn := range rowsOf(t, replayed).Turns {
		latency += *turn.DurationUs
		require.Nil(t, turn.TTFTUs, "nothing is streamed")
	}
	require.Positive(t, latency, "latencies are the recorded ones")
}

// withoutRun clears run_id and replayed, in which a recording and its replay differ.
func withoutRun(rows ledger.Rows) ledger.Rows {
	for i := range rows.Episodes {
		rows.Episodes[i].RunID, rows.Episodes[i].Replayed = "", false
	}
	for i := range rows.Turns {
		rows.Turns[i].RunID, rows.Turns[i].Replayed = "", false
	}
	for i := range rows.ToolCalls {
		rows.ToolCalls[i].RunID, rows.ToolCalls[i].Replayed = "", false
	}
	return rows
}

// onVirtualClock runs f in a bubble of testing/synctest. Values in pools, such as zstd coders,
// have channels that only the bubble can use, so two garbage collections empty the pools. The
// coder of ledgers is not in a pool and is therefore created outside of the bubble.
func onVirtualClock(t *testing.T, f func(*testing.T)) {
	t.Helper()
	firstLedger.Do(func() {
		o := countsOptions(t)
		o.Runs, o.Select.Tasks = t.TempDir(), []string{"G01"}
		_, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
	})
	synctest.Test(t, f)
	runtime.GC()
	runtime.GC()
}

var firstLedger sync.Once

// rowsOf returns the rows of a run, from its ledger if it has a folder.
func rowsOf(t testing.TB, res harness.Result) ledger.Rows {
	t.Helper()
	if res.Dir == "" {
		return res.Rows
	}
	rows, err := ledger.Read(res.Dir)
	require.NoError(t, err)
	return rows
}
