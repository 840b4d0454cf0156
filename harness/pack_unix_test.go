//go:build unix

package harness_test

import (
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/packs"
)

// packOptions returns a recording into a new pack.
func packOptions(t *testing.T, transport func(string) http.RoundTripper, tasks ...string) (o harness.Options, f *packs.Folder, dir string) {
	t.Helper()
	o, dir = recordOver(t, transport, tasks...), filepath.Join(t.TempDir(), "p")
	f, err := packs.OpenDir(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	o.CassetteDir, o.Store, o.Cassettes = "", f, f
	return o, f, dir
}

// sizes counts the files in a folder by extension, and adds up their sizes.
func sizes(t *testing.T, dir string) (files map[string]int, size int64) {
	t.Helper()
	files = map[string]int{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		files[filepath.Ext(path)]++
		size += info.Size()
		return err
	}))
	return files, size
}

// A recording into a pack leaves few files, which are hardly larger than one pack of the same
// cassettes. CUPEL_PACK=200000 sets the number of episodes.
func TestRecordingIntoAPackIsSmall(t *testing.T) {
	n := testkit.SlowN(100, 200)
	if v := os.Getenv("CUPEL_PACK"); v != "" {
		var err error
		n, err = strconv.Atoi(v)
		require.NoError(t, err)
	}
	o, f, dir := packOptions(t, inMemory)
	o.Concurrency, o.LaneConcurrency = 32, 32
	o.Select.Candidates = []string{"strong", "weak"}
	tasks := 0
	for i := range o.Suite.Tasks {
		if !o.Suite.Tasks[i].Scripted {
			tasks++
		}
	}
	o.Trials = (n + 2*tasks - 1) / (2 * tasks)
	n = 2 * tasks * o.Trials
	start, cpu := time.Now(), cpuTime(t)
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Equal(t, n, res.Manifest.Episodes)
	recorded, recordedCPU := time.Since(start), cpuTime(t)-cpu
	before, segments := sizes(t, dir)
	require.Zero(t, before[".journal"])
	start, cpu = time.Now(), cpuTime(t)
	sum, err := f.Compact(false)
	require.NoError(t, err)
	compacted, compactedCPU := time.Since(start), cpuTime(t)-cpu
	require.Equal(t, n, sum.Cassettes)
	files, size := sizes(t, dir)
	require.Equal(t, map[string]int{".pack": sum.Files}, files)
	require.LessOrEqual(t, before[".segment"], 200)
	require.LessOrEqual(t, sum.Files, 200)

	one, err := cassette.WritePack(filepath.Join(t.TempDir(), "one.pack"), f)
	require.NoError(t, err)
	require.Equal(t, n, one.Cassettes)
	require.LessOrEqual(t, float64(size), 1.2*float64(one.Pack))
	t.Logf("%d episodes, %d turns: recorded in %v (%v of CPU) to %d segments of %.1f MB, compacted in %v (%v of CPU) to %d files of %.1f MB; one pack %.1f MB, YAML %.1f MB; %d processors",
		n, res.Manifest.Turns, recorded, recordedCPU, before[".segment"], float64(segments)/1e6, compacted, compactedCPU, sum.Files, float64(size)/1e6, float64(one.Pack)/1e6, float64(one.YAML)/1e6, runtime.NumCPU())

	if n > 1000 {
		return
	}
	o.Mode = recorder.Replay
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, res.Manifest.Outcomes, replayed.Manifest.Outcomes)
	require.Equal(t, res.Manifest.Turns, replayed.Manifest.Turns)
}

// After an outage the journals of all episodes without a result are in one file, and the resumed
// run asks only for what is missing. What an episode had before stays if its new recording fails.
func TestOutageWhileRecordingIntoAPack(t *testing.T) {
	models := inMemory("")
	var asked atomic.Int64
	broken := true
	o, f, dir := packOptions(t, func(string) http.RoundTripper {
		return testkit.Transport(func(r *http.Request) (*http.Response, error) {
			if asked.Add(1)%3 == 0 && broken {
				return testkit.Reply(r, http.StatusUnauthorized, `{"error":{"message":"no credit","type":"authentication_error"}}`), nil
			}
			return models.RoundTrip(r)
		})
	}, "G09", "G16", "G39", "G41")
	o.Trials, o.Select.Candidates = 5, []string{"strong", "weak"}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "partial", res.Manifest.Status)
	lost := res.Manifest.Outcomes.InfraErrors
	require.Greater(t, lost, 5)
	good := map[string]string{}
	for _, name := range f.Names() {
		good[name], _ = f.Digest(name)
	}
	require.Len(t, good, 40-lost)
	_, err = f.Compact(false)
	require.NoError(t, err)
	files, _ := sizes(t, dir)
	require.Equal(t, map[string]int{".pack": 1, ".journal": 1}, files)
	require.NotEmpty(t, f.Journals())

	again := o
	again.Resume = ""
	res2, err := harness.Run(context.Background(), again) // records everything again, and fails as often
	require.NoError(t, err)
	require.Positive(t, res2.Manifest.Outcomes.InfraErrors)
	for name := range good {
		_, has := f.Digest(name)
		require.True(t, has, "%s: a failed recording replaces nothing", name)
	}

	broken = false
	resumed := o
	resumed.Resume = res2.Manifest.RunID
	res3, err := harness.Run(context.Background(), resumed)
	require.NoError(t, err)
	require.Equal(t, "complete", res3.Manifest.Status)
	require.Len(t, f.Names(), 40)
	require.Empty(t, f.Journals())
	sum, err := f.Compact(true)
	require.NoError(t, err)
	require.Equal(t, 40, sum.Cassettes)
	files, _ = sizes(t, dir)
	require.Equal(t, map[string]int{".pack": 1}, files)
	o.Mode = recorder.Replay
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, res3.Manifest.Outcomes, replayed.Manifest.Outcomes)
}

// `go test` records into the pack of a suite that has one instead of a folder of YAML files.
func TestTheSuitesOwnPack(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, counts.FS))
	f, err := cassettes.Folder(dir)
	require.NoError(t, err)
	require.Nil(t, f, "it has none")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "cassettes")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, cassettes.PackName), 0o777))
	f, err = cassettes.Folder(dir)
	require.NoError(t, err)
	unlock, err := f.Lock()
	require.NoError(t, err)
	text, err := fs.ReadFile(counts.FS, "cassettes/strong/G01/1.yaml")
	require.NoError(t, err)
	require.NoError(t, f.WriteFile("strong/G01/1.yaml", text))
	unlock()
	require.NoError(t, f.Close())
	s := countsSuite(t)
	s.FS = os.DirFS(dir)
	files, closeAll, err := cassettes.Open(s)
	require.NoError(t, err)
	defer closeAll()
	names, err := cassette.List(files)
	require.NoError(t, err)
	require.Equal(t, "strong/G01/1.yaml", strings.Join(names, " "))
}
