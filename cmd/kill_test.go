package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// bench is a folder in which cupel runs as a process.
type bench struct {
	t   *testing.T
	dir string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return &bench{t, t.TempDir()}
}

// command returns a cupel process without the configuration or keys of the machine.
func (b *bench) command(args ...string) *exec.Cmd {
	b.t.Helper()
	path, err := exec.LookPath("cupel")
	require.NoError(b.t, err)
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = b.dir, []string{"HOME=" + b.dir, "TMPDIR=" + b.dir, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// ended is the end of a process: code is -1 if it was killed.
type ended struct {
	code int
	text string // its output
	took time.Duration
}

// run runs cupel and kills it after a time; 0 lets it end.
func (b *bench) run(kill time.Duration, args ...string) ended {
	b.t.Helper()
	return b.wait(b.command(args...), kill, func(p *os.Process) { _ = p.Kill() }) // the process may have ended
}

// killAt runs cupel and kills it when its journal has this number of bytes.
func (b *bench) killAt(size int64, args ...string) ended {
	b.t.Helper()
	cmd, over := b.command(args...), make(chan struct{})
	defer close(over)
	return b.wait(cmd, time.Nanosecond, func(p *os.Process) {
		for {
			found, _ := filepath.Glob(filepath.Join(b.dir, "runs", "*", "journal", "episodes.log")) // the pattern is valid
			for _, path := range found {
				if info, err := os.Stat(path); err == nil && info.Size() >= size {
					_ = p.Kill() // the process may have ended
					return
				}
			}
			select {
			case <-over:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	})
}

// wait runs a command, calls a function with its process after a time, and waits for its end.
func (b *bench) wait(cmd *exec.Cmd, after time.Duration, do func(*os.Process)) ended {
	b.t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	require.NoError(b.t, cmd.Start())
	if after > 0 {
		timer := time.AfterFunc(after, func() { do(cmd.Process) })
		defer timer.Stop()
	}
	_ = cmd.Wait() // the exit code has the result
	return ended{cmd.ProcessState.ExitCode(), out.String(), time.Since(begun)}
}

// folder returns the only run folder; "" if there is none that can be resumed.
func (b *bench) folder() string {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.dir, "runs", "*", "run.json"))
	require.NoError(b.t, err)
	if len(found) == 0 {
		return ""
	}
	require.Len(b.t, found, 1)
	return filepath.Dir(found[0])
}

// result returns the files of a complete run by name, and checks that there are no others.
func (b *bench) result() map[string]string {
	b.t.Helper()
	dir := b.folder()
	entries, err := os.ReadDir(dir)
	require.NoError(b.t, err)
	files := map[string]string{}
	for _, e := range entries {
		switch e.Name() {
		case ".lock", "report", "limits.jsonl":
			continue
		case "journal": // the process was killed while it removed the journal, which is harmless
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(b.t, err)
		files[e.Name()] = string(text)
	}
	require.Equal(b.t, []string{"episodes.parquet", "run.json", "tool_calls.parquet", "turns.parquet"}, slices.Sorted(maps.Keys(files)), "and nothing left over")
	require.FileExists(b.t, filepath.Join(dir, "report", "index.html"))
	return files
}

// journaled returns the episodes with a result in the journal of the run folder.
func (b *bench) journaled() map[string]bool {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.folder(), "journal", "episodes.log"))
	if b.folder() == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(b.t, err)
	dir := b.t.TempDir() // a copy, because opening the journal removes a truncated end
	require.NoError(b.t, os.Mkdir(filepath.Join(dir, "journal"), 0o755))
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, "journal", "episodes.log"), text, 0o644))
	done := map[string]bool{}
	j, err := ledger.OpenJournal(dir, func(rec ledger.EpisodeRows, _ int64) error {
		e := rec.Episode
		done[fmt.Sprintf("%s/%s/%d", e.Candidate, e.TaskID, e.Trial)] = !e.InfraError
		return nil
	})
	require.NoError(b.t, err)
	require.NoError(b.t, j.Close())
	for name, ok := range done {
		if !ok {
			delete(done, name)
		}
	}
	return done
}

// startLine and episodeLine match events of --json: the number of resumed episodes, and each
// executed one.
var (
	startLine   = regexp.MustCompile(`"event":"start".*"resumed":(\d+)`)
	episodeLine = regexp.MustCompile(`"event":"episode","task":"([^"]+)","candidate":"([^"]+)","trial":(\d+)`)
)

// killCounts counts the states in which the runs of a test were killed.
type killCounts struct {
	mu                  sync.Mutex
	kills, late, twice  int
	journaled, ledgered int
}

// mend runs cupel with args, kills it at a random time or at a random length of its journal, and
// resumes it, perhaps with further kills, until the run is complete. After each resumed process,
// check receives the episodes that were journaled before it.
func (b *bench) resumeKilled(m *killCounts, rng *rand.Rand, life time.Duration, args []string, check func(done map[string]bool)) {
	b.t.Helper()
	begin := args
	for n := 0; ; n++ {
		require.Less(b.t, n, 20, "it ends")
		kill := time.Duration(0)
		if n == 0 || n < 5 && rng.IntN(3) == 0 {
			kill = 1 + time.Duration(rng.Int64N(int64(life)))
		}
		done := b.journaled()
		var end ended
		if n == 0 && rng.IntN(2) == 0 {
			end = b.killAt(1+rng.Int64N(50<<10), args...)
		} else {
			end = b.run(kill, args...)
		}
		if end.code >= 0 {
			require.Zero(b.t, end.code, end.text)
		}
		if args[1] == "--resume" {
			if start := startLine.FindStringSubmatch(end.text); start != nil {
				require.Equal(b.t, strconv.Itoa(len(done)), start[1], "what is in the journal is kept\n%s", end.text)
			}
			for _, e := range episodeLine.FindAllStringSubmatch(end.text, -1) {
				name := e[2] + "/" + e[1] + "/" + e[3]
				require.False(b.t, done[name], "%s was run again", name)
			}
			check(done)
		}
		dir := b.folder()
		m.mu.Lock()
		switch {
		case kill == 0 || end.code >= 0 && n > 0:
		case end.code >= 0: // the kill was too late, so try again earlier
			m.late++
			life = life * 2 / 3
			require.NoError(b.t, os.RemoveAll(filepath.Join(b.dir, "runs")))
		default:
			m.kills++
			m.twice += min(n, 1)
			if len(b.journaled()) > 0 {
				m.journaled++
			}
			if _, err := os.Stat(filepath.Join(dir, "episodes.parquet")); dir != "" && err == nil {
				m.ledgered++
			}
		}
		m.mu.Unlock()
		if end.code == 0 && b.folder() != "" {
			return
		}
		if args = begin; end.code == 0 {
			n--
			continue
		}
		if dir != "" && (begin[2] != "replay" || rng.IntN(5) > 0) {
			args = []string{"run", "--resume", filepath.Base(dir), "--json"}
		}
	}
}

// together runs n numbered tests in parallel.
func together(t *testing.T, n, most int, f func(t *testing.T, i int)) {
	t.Helper()
	slots := make(chan struct{}, most)
	t.Run("n", func(t *testing.T) {
		for i := range n {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				f(t, i)
			})
		}
	})
}

// A run that is killed at any moment and resumed has the same files as an uninterrupted one, and
// does not repeat journaled episodes.
func TestKilledReplaysEqualAnUninterruptedOne(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	const parallel = 6
	// Most replays have delays; some have none and write in blocks.
	paced := []string{"run", "--mode", "replay", "--candidate", "strong", "--replay-speed", "120", "--concurrency", "16"}
	atOnce := []string{"run", "--mode", "replay", "--concurrency", "8"}
	type kind struct {
		args []string
		want map[string]string
		life time.Duration
	}
	kinds := make([]kind, 2)
	for i, args := range [][]string{paced, atOnce} {
		var mu sync.Mutex
		var lives []time.Duration
		together(t, testkit.Long(3, parallel), parallel, func(t *testing.T, _ int) {
			b := newBench(t)
			end := b.run(0, args...)
			require.Zero(t, end.code, end.text)
			mu.Lock()
			defer mu.Unlock()
			lives = append(lives, end.took)
			kinds[i].want = b.result()
		})
		slices.Sort(lives)
		kinds[i].args, kinds[i].life = args, lives[len(lives)/2]
	}
	m := &killCounts{}
	begun := time.Now()
	runs := testkit.Long(12, 180)
	together(t, runs, parallel, func(t *testing.T, i int) {
		rng := rand.New(rand.NewPCG(6, uint64(i)))
		k := kinds[0]
		if i%8 == 0 {
			k = kinds[1]
		}
		b := newBench(t)
		b.resumeKilled(m, rng, k.life, k.args, func(map[string]bool) {})
		got := b.result()
		for name, text := range k.want {
			require.True(t, text == got[name], "%s differs from the uninterrupted run's", name)
		}
	})
	t.Logf("%d kills in %s, %d of them of processes that went on, %d with episodes in the journal, %d with a ledger; %d came too late",
		m.kills, time.Since(begun).Round(time.Second), m.twice, m.journaled, m.ledgered, m.late)
	require.GreaterOrEqual(t, m.kills, runs)
	require.GreaterOrEqual(t, m.journaled*testkit.Long(16, 4), m.kills, "a quarter of the kills hit a run in its midst; of a sample at least some")
}

// The same of orchestrators, whose episodes suspend, wait and run sub-agents: a run of suite instance
// that is killed and resumed has the digests of an uninterrupted one.
func TestKilledInstanceResumes(t *testing.T) {
	testkit.Slow(t) // TestReplaysAreTheSameBytes of goldens/instance resumes a copy of a run
	t.Parallel()
	args := []string{"run", "--mode", "replay", "--suite", "instance", "--concurrency", "2", "--candidate", "orchestrator-*"}
	args = args[:testkit.Long(len(args), len(args)-2)]
	whole := newBench(t)
	end := whole.run(0, args...)
	require.Zero(t, end.code, end.text)
	want := whole.result()
	m := &killCounts{}
	runs := testkit.Long(1, 40)
	together(t, runs, 2, func(t *testing.T, i int) {
		b := newBench(t)
		b.resumeKilled(m, rand.New(rand.NewPCG(6, uint64(i))), end.took, args, func(map[string]bool) {})
		for name, text := range b.result() {
			require.True(t, text == want[name], "%s differs from the uninterrupted run's", name)
		}
	})
	t.Logf("%d kills, %d of them of processes that were resumed, %d with episodes in the journal; %d came too late", m.kills, m.twice, m.journaled, m.late)
	require.GreaterOrEqual(t, m.kills, runs)
}

// tapes returns the files below a suite's cassettes folder.
func (b *bench) tapes() map[string]fs.FileInfo {
	b.t.Helper()
	files := map[string]fs.FileInfo{}
	root := filepath.Join(b.dir, "suites", "first", "cassettes")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(root, path)
			files[filepath.ToSlash(name)], err = d.Info()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	require.NoError(b.t, err)
	return files
}

// A killed recording resumes without repeating recorded requests, and its replay has the same
// ledger.
func TestKilledRecordingsResume(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("many processes; not with -short")
	}
	const parallel = 10
	args := []string{"run", "--mode", "record", "--trials", "4", "--concurrency", "16"}
	var life time.Duration
	t.Run("whole", func(t *testing.T) {
		b := newBench(t)
		require.Zero(t, b.run(0, "init").code)
		end := b.run(0, args...)
		require.Zero(t, end.code, end.text)
		life = end.took
	})
	m := &killCounts{}
	kept := 0
	together(t, testkit.Long(testkit.SlowN(2, 3), 20), parallel, func(t *testing.T, i int) {
		b := newBench(t)
		require.Zero(t, b.run(0, "init").code)
		var before map[string]fs.FileInfo
		b.resumeKilled(m, rand.New(rand.NewPCG(7, uint64(i))), life, args, func(done map[string]bool) {
			after := b.tapes()
			for name := range done {
				now, ok := after[name+".yaml"]
				require.True(t, ok, "%s has a result, and so a cassette", name)
				if was, ok := before[name+".yaml"]; ok {
					require.True(t, os.SameFile(was, now) && was.ModTime().Equal(now.ModTime()), "%s was recorded twice", name)
					m.mu.Lock()
					kept++
					m.mu.Unlock()
				}
			}
			before = after
		})
		recorded, err := manifest.Read(b.folder())
		require.NoError(t, err)
		require.Equal(t, "complete", recorded.Status)
		b.result()
		tapes := b.tapes()
		require.Len(t, tapes, recorded.Episodes, "one cassette each, no journals or temporary files: %v", slices.Sorted(maps.Keys(tapes)))
		for name := range tapes {
			require.True(t, strings.HasSuffix(name, ".yaml"), name)
		}
		end := b.run(0, "run", "--trials", "4", "--runs", "again", "--json")
		require.Zero(t, end.code, end.text)
		require.Contains(t, end.text, recorded.LedgerDigest)
	})
	t.Logf("%d kills, %d with episodes in the journal; %d cassettes kept", m.kills, m.journaled, kept)
	require.GreaterOrEqual(t, m.journaled*4, m.kills)
}
