package harness_test

import (
	"context"
	"io/fs"
	"math/rand"
	"os"
	"path"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// shuffled is a folder of cassettes that returns the first trial's cassette for every trial after
// a random delay, so that episodes end in a random order.
type shuffled struct {
	fs.FS
	mu  sync.Mutex
	rng *rand.Rand
}

func (s *shuffled) Open(name string) (fs.File, error) {
	s.mu.Lock()
	wait := time.Duration(s.rng.Intn(1000)) * time.Microsecond
	s.mu.Unlock()
	time.Sleep(wait)
	return s.FS.Open(path.Join(path.Dir(name), "1.yaml"))
}

// TestShuffledReplaysWriteOneLedger replays 50 tasks × 5 trials with 64 goroutines, each time in
// another order, and compares every file with that of one goroutine.
func TestShuffledReplaysWriteOneLedger(t *testing.T) {
	o := countsOptions(t)
	o.Trials, o.Select.Candidates = 5, []string{"strong"}
	for _, task := range o.Suite.Tasks {
		if !task.Scripted && len(o.Select.Tasks) < 50 {
			o.Select.Tasks = append(o.Select.Tasks, task.ID)
		}
	}
	require.Len(t, o.Select.Tasks, 50)
	recordings, err := fs.Sub(o.Suite.FS, "cassettes")
	require.NoError(t, err)

	replay := func(goroutines int, seed int64) (files map[string]string, order []string) {
		o.Concurrency, o.Runs = goroutines, t.TempDir()
		o.Cassettes = &shuffled{FS: recordings, rng: rand.New(rand.NewSource(seed))}
		o.Progress = func(p harness.Progress) { order = append(order, p.Last.EpisodeID) }
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Len(t, rowsOf(t, res).Episodes, 250)
		files = map[string]string{}
		for _, name := range []string{"run.json", "episodes.parquet", "turns.parquet", "tool_calls.parquet"} {
			data, err := os.ReadFile(filepath.Join(res.Dir, name))
			require.NoError(t, err)
			files[name] = string(data)
		}
		return files, order
	}
	want, planned := replay(1, 0)
	for seed := range int64(testkit.SlowN(1, 3)) {
		got, order := replay(64, seed)
		for name := range want {
			require.True(t, want[name] == got[name], "%s differs, seed %d", name, seed)
		}
		require.ElementsMatch(t, planned, order)
		require.NotEqual(t, planned, order, "episodes finished in another order")
	}
}
