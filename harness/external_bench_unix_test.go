//go:build unix

package harness_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/regular"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// execEpisodes records episodes of the trivial agent, and returns the processor time of this
// process alone for each.
func execEpisodes(t testing.TB, n int) time.Duration {
	t.Helper()
	o := foreignOptions(t, "http://127.0.0.1:1/", "G01")
	o.Candidates[0].Settings = settings.Settings{Exec: settings.Exec{Command: []string{os.Args[0]}, Env: []string{foreignChild + "=1"}}}
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	o.Trials = n
	before := cpuTime(t)
	res, err := harness.Run(context.Background(), o)
	spent := (cpuTime(t) - before) / time.Duration(n)
	require.NoError(t, err)
	for _, e := range rowsOf(t, res).Episodes {
		require.NotContains(t, e.Status, "error", e.ErrorText)
	}
	return spent
}

// execFloor is execEpisodes without cupel: the same program runs in a folder of its own, a bare
// server answers it, and request and reply are two files that are on the disk in the end.
func execFloor(t testing.TB, n int) time.Duration {
	t.Helper()
	dir, model := t.TempDir(), &scriptedModel{failed: map[string]int{}}
	var files atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := model.RoundTrip(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = io.Copy(w, resp.Body)
	}))
	defer s.Close()
	before := cpuTime(t)
	for range n {
		cwd, err := os.MkdirTemp("", "floor-")
		require.NoError(t, err)
		cmd := exec.Command(os.Args[0])
		cmd.Dir, cmd.Env = cwd, []string{foreignChild + "=1", "OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_API_KEY=none"}
		out, err := cmd.Output()
		require.NoError(t, err)
		for range 2 {
			f, err := regular.OpenFile(filepath.Join(dir, strconv.FormatInt(files.Add(1), 10)), os.O_CREATE|os.O_WRONLY, 0o600)
			require.NoError(t, err)
			_, err = f.Write(out)
			require.NoError(t, err)
			require.NoError(t, f.Sync())
			require.NoError(t, f.Close())
		}
		require.NoError(t, os.RemoveAll(cwd))
	}
	return (cpuTime(t) - before) / time.Duration(n)
}

// TestExecEpisodesAreCheap: what cupel adds to an episode of a command is at most 3 ms of
// processor time, or three times the floor, which is what a slow or busy machine makes of it: an
// episode took 4.9 ms where the floor took 2.4.
func TestExecEpisodesAreCheap(t *testing.T) {
	testkit.Slow(t)
	execEpisodes(t, 2) // what is done once
	const n = 40
	var added, floor time.Duration
	for range 3 {
		floor = execFloor(t, n)
		added = execEpisodes(t, n) - floor
		t.Logf("cupel adds %v of processor time to %v", added, floor)
		if added <= max(3*time.Millisecond, 3*floor) {
			return
		}
	}
	require.Fail(t, "an episode takes too much", "cupel adds %v of processor time to %v", added, floor)
}

// BenchmarkLiveExec records 1,000 episodes of a command.
func BenchmarkLiveExec(b *testing.B) { benchmarkExec(b, execEpisodes) }

// BenchmarkLiveExecFloor is the same without cupel.
func BenchmarkLiveExecFloor(b *testing.B) { benchmarkExec(b, execFloor) }

func benchmarkExec(b *testing.B, run func(testing.TB, int) time.Duration) {
	b.ReportAllocs()
	var spent time.Duration
	for b.Loop() {
		spent += run(b, 1000)
	}
	b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "µs-CPU/episode")
}
