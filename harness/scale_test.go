package harness_test

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// perTrial is the number of episodes per trial in these runs: five tasks of the built-in suite, with
// its mean of 2.4 turns, and two of its candidates.
const perTrial = 10

// trialsOptions returns a replay of n episodes in memory, which are trials of the same ten.
func trialsOptions(t testing.TB, n int) harness.Options {
	t.Helper()
	require.Zero(t, n%perTrial)
	o := countsOptions(t)
	o.Trials = n / perTrial
	o.Select.Tasks, o.Select.Candidates = []string{"G01", "G02", "G04", "G06", "G24"}, []string{"strong", "weak"}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, counts.FS))
	o.Cassettes = firstTrials{os.DirFS(filepath.Join(dir, "cassettes"))}
	return o
}

// firstTrials returns the cassette of the first trial for every trial.
type firstTrials struct{ fs.FS }

func (f firstTrials) Open(name string) (fs.File, error) {
	return f.FS.Open(path.Dir(name) + "/1.yaml")
}

// trialsPack packs the cassettes of n such episodes, each in one block.
func trialsPack(t testing.TB, o harness.Options, n int) *cassette.Pack {
	t.Helper()
	files := fstest.MapFS{}
	for _, candidate := range o.Select.Candidates {
		for _, task := range o.Select.Tasks {
			text, err := fs.ReadFile(o.Cassettes, cassettes.Path(task, candidate, 1))
			require.NoError(t, err)
			for trial := range o.Trials {
				files[cassettes.Path(task, candidate, trial+1)] = &fstest.MapFile{Data: text}
			}
		}
	}
	require.Len(t, files, n)
	dir := t.TempDir()
	_, err := cassette.WritePack(filepath.Join(dir, cassettes.PackName), files)
	require.NoError(t, err)
	pack, err := cassette.OpenPack(os.DirFS(dir), cassettes.PackName)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pack.Close()) })
	return pack
}

// watchHeap samples the heap and returns its largest growth: live after a collection, and with
// garbage.
func watchHeap() (most func() (live, all uint64)) {
	runtime.GC()
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	base := samples[0].Value.Uint64()
	stop, peaks := make(chan struct{}), make(chan [2]uint64)
	go func() {
		var peak [2]uint64
		for tick := time.Tick(5 * time.Millisecond); ; {
			select {
			case <-stop:
				peaks <- peak
				return
			case <-tick:
			}
			metrics.Read(samples)
			for i := range peak {
				peak[i] = max(peak[i], samples[i].Value.Uint64())
			}
		}
	}()
	return func() (live, all uint64) {
		close(stop)
		peak := <-peaks
		return peak[0] - min(base, peak[0]), peak[1] - min(base, peak[1])
	}
}

// A long run needs the memory of a short one plus 40 bytes per episode for its plan. The ledger
// needs at most 48 MB (see its package): one row group and the pages of the previous one. `make
// scale` runs 100,000 episodes.
func TestMemoryDoesNotGrowWithARun(t *testing.T) {
	testkit.Slow(t)
	n := 10_000
	if v := os.Getenv("CUPEL_SCALE"); v != "" {
		var err error
		n, err = strconv.Atoi(v)
		require.NoError(t, err)
	}
	const bound, each = 72 << 20, 40
	for _, n := range []int{1000, n} {
		o := trialsOptions(t, n)
		o.Runs = t.TempDir()
		heap := watchHeap()
		res, err := harness.Run(context.Background(), o)
		live, _ := heap()
		require.NoError(t, err)
		require.Equal(t, "complete", res.Manifest.Status)
		require.Equal(t, n, res.Manifest.Episodes)
		require.Empty(t, res.Rows.Episodes)
		t.Logf("%d episodes, %d turns: live heap at most %.1f MB", n, res.Manifest.Turns, float64(live)/1e6)
		require.Less(t, live, uint64(bound+each*n))
	}
}
