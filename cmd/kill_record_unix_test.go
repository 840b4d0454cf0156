//go:build unix

package cmd

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
	"github.com/cupel-eval/cupel/recorder/packs"
)

// payDesk is a proxy for the simulated models. It counts every complete request by its id, and the
// bills of the replies. It refuses the first attempt of some turns, and calls kill at a given
// request.
type payDesk struct {
	models string // the address of the simulated models

	mu       sync.Mutex
	served   map[string]int // by X-Client-Request-Id
	tokens   int64
	requests int
	killAt   int
	kill     func()
	active   sync.WaitGroup
	rng      *rand.Rand
}

var totalTokens = regexp.MustCompile(`"total_tokens": ?(\d+)`)

func (d *payDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // an incomplete request is not paid for
	}
	id := r.Header.Get("X-Client-Request-Id")
	d.mu.Lock()
	d.active.Add(1)
	defer d.active.Done()
	d.served[id]++
	d.requests++
	if d.requests == d.killAt && d.kill != nil {
		d.kill()
	}
	wait := time.Duration(d.rng.IntN(8000)) * time.Microsecond
	d.mu.Unlock()
	time.Sleep(wait)
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash does not fail
	if strings.Count(id, "-") == 1 && h.Sum32()%5 == 0 {
		w.Header().Set("Retry-After-Ms", "1")
		http.Error(w, `{"error":{"message":"slow down","type":"rate_limit_error"}}`, http.StatusTooManyRequests)
		return
	}
	resp, err := http.Post(d.models+r.URL.Path, "application/json", bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	reply, _ := io.ReadAll(resp.Body)
	if total := totalTokens.FindSubmatch(reply); total != nil {
		n, _ := strconv.ParseInt(string(total[1]), 10, 64)
		d.mu.Lock()
		d.tokens += n
		d.mu.Unlock()
	}
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(reply) // whoever was killed does not read it
}

// asked returns the number of requests so far.
func (d *payDesk) asked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.requests
}

// counts returns the requests so far, when none is in flight.
func (d *payDesk) counts() map[string]int {
	d.active.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := map[string]int{}
	for id, n := range d.served {
		counts[id] = n
	}
	return counts
}

// killRecord is a folder in which a run is recorded from a payDesk.
type killRecord struct {
	*bench
	desk *payDesk
	pack []string // the flag of the pack to record into; empty for YAML files
}

func newKillRecord(t *testing.T, models string, rng *rand.Rand) killRecord {
	t.Helper()
	desk := &payDesk{models: models, served: map[string]int{}, rng: rng}
	server := httptest.NewServer(desk)
	t.Cleanup(server.Close)
	b := newBench(t)
	require.Zero(t, b.run(0, "init").code)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "cupel.yaml"), []byte(
		"suite: suites/first\ncandidates:\n  - {name: one, provider: openai-compatible, model: sim-strong, max_tokens: 500, base_url: "+server.URL+"/v1}\n"+
			"  - {name: two, provider: openai-compatible, model: sim-weak, max_tokens: 500, base_url: "+server.URL+"/v1}\n"), 0o644))
	return killRecord{b, desk, nil}
}

var requestIDs = regexp.MustCompile(`"X-Client-Request-Id":\n +- "([^"]+)"`)

// onDisk returns the requests with an intact exchange in a cassette or a journal.
func (k killRecord) onDisk() map[string]bool {
	k.t.Helper()
	ids := map[string]bool{}
	note := func(text []byte) {
		for _, id := range requestIDs.FindAllSubmatch(text, -1) {
			ids[string(id[1])] = true
		}
	}
	if k.pack != nil {
		f, err := packs.OpenDir(filepath.Join(k.dir, k.pack[1]))
		require.NoError(k.t, err)
		defer func() { require.NoError(k.t, f.Close()) }()
		require.NoError(k.t, f.Damage())
		for _, name := range f.Names() {
			text, err := fs.ReadFile(f, name)
			require.NoError(k.t, err)
			note(text)
		}
		for _, name := range f.Journals() {
			got, err := recorder.RecoverIn(f, name)
			require.NoError(k.t, err)
			require.Zero(k.t, got.Torn, "what is torn is not in the journal")
			note(got.Cassette)
		}
		return ids
	}
	for name := range k.tapes() {
		path := filepath.Join(k.dir, "suites", "first", "cassettes", filepath.FromSlash(name))
		var text []byte
		switch {
		case strings.HasSuffix(name, ".yaml"):
			var err error
			text, err = os.ReadFile(path)
			require.NoError(k.t, err)
		case strings.HasSuffix(name, ".journal"):
			got, err := recorder.Recover(path)
			require.NoError(k.t, err)
			require.LessOrEqual(k.t, got.Torn, 1)
			text = got.Cassette
		}
		note(text)
	}
	return ids
}

// rows returns the rows of a run without times and run ids.
func (k killRecord) rows() []string {
	k.t.Helper()
	rows, err := ledger.Read(k.folder())
	require.NoError(k.t, err)
	var list []string
	for _, e := range rows.Episodes {
		list = append(list, fmt.Sprint(e.EpisodeID, e.TaskID, e.Candidate, e.Trial, e.Status, e.Solved, e.Answer, e.ErrorKind, *e.In, *e.Out))
	}
	for _, t := range rows.Turns {
		list = append(list, fmt.Sprint(t.EpisodeID, t.Turn, t.Kind, t.Attempts, t.Interaction, *t.HTTPStatus, *t.In, *t.Out))
	}
	for _, c := range rows.ToolCalls {
		list = append(list, fmt.Sprint(c.EpisodeID, c.Seq, c.ToolName, c.Outcome, c.ErrorCode))
	}
	return list
}

// temporaries returns the temporary files of killed processes.
func (k killRecord) temporaries() (found []string) {
	k.t.Helper()
	require.NoError(k.t, filepath.WalkDir(k.dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") || strings.Contains(path, ".journal") {
			found = append(found, path)
		}
		return err
	}))
	return found
}

const killConcurrency = 4

// recordArgs are the arguments of a recording of three tasks with two candidates and four trials.
func recordArgs(maxTokens int64) []string {
	return []string{"run", "--mode", "record", "--trials", "4", "--concurrency", strconv.Itoa(killConcurrency), "--max-tokens", fmt.Sprint(maxTokens), "--quiet"}
}

// A recording that is killed at any moment and resumed does not repeat a request whose exchange was
// on disk. Each request is served once, and once more for every kill after it was sent and before
// its exchange was in a cassette or intact in a journal. The result equals that of a recording that
// was never killed.
func TestKilledRecordingsPayNothingTwice(t *testing.T) {
	testkit.Slow(t)
	points := testkit.Long(6, 12)
	if text := os.Getenv("CUPEL_KILLS"); text != "" {
		var err error
		points, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	models, err := sim.Start(t.Context(), "", sim.Config{Seed: 1, Books: booksFor(t, "scaffold/suites/first")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = models.Close() })

	whole := newKillRecord(t, models.URL(), rand.New(rand.NewPCG(16, 0)))
	end := whole.run(0, recordArgs(1<<30)...)
	require.Zero(t, end.code, end.text)
	want, wantRows := whole.desk.counts(), whole.rows()
	for id, n := range want {
		require.Equal(t, 1, n, id)
	}
	refused := 0
	for id := range want {
		refused += min(1, strings.Count(id, "-")-1)
	}
	require.Positive(t, refused, "some attempts are refused")
	require.Empty(t, whole.temporaries())
	// The cap is only sufficient if the exchanges on disk count with their actual cost.
	most := whole.desk.tokens + 2*killConcurrency*20_000

	var mu sync.Mutex
	kills, lost, kept := 0, 0, 0
	together(t, points, 4, func(t *testing.T, i int) {
		rng := rand.New(rand.NewPCG(16, uint64(i+1)))
		k := newKillRecord(t, models.URL(), rand.New(rand.NewPCG(17, uint64(i))))
		if i%2 == 1 {
			k.pack = []string{"--pack", "recordings"}
		}
		again := map[string]int{} // the number of times that a request may be served again
		args := slices.Concat(recordArgs(most), k.pack)
		for n := range 3 {
			cmd := k.command(args...)
			late := time.Duration(rng.IntN(6000)) * time.Microsecond
			k.desk.mu.Lock()
			k.desk.killAt, k.desk.kill = 0, nil
			if n == 0 || n == 1 && rng.IntN(2) == 0 {
				k.desk.killAt = k.desk.requests + 1 + rng.IntN(len(want)*9/10)
				k.desk.kill = func() { time.AfterFunc(late, func() { _ = cmd.Process.Kill() }) } // the process may have ended
			}
			k.desk.mu.Unlock()
			end := k.wait(cmd, 0, nil)
			counts := k.desk.counts()
			if end.code >= 0 {
				require.Zero(t, end.code, end.text)
				break
			}
			disk := k.onDisk()
			missing := 0
			for id, served := range counts {
				if !disk[id] {
					again[id] = served
					missing++
				}
			}
			require.LessOrEqual(t, missing, killConcurrency, "one request of each episode in flight")
			mu.Lock()
			kills, lost, kept = kills+1, lost+missing, kept+len(disk)
			mu.Unlock()
			require.NotEmpty(t, k.folder())
			args = []string{"run", "--resume", "latest", "--quiet"}
		}
		for id, n := range want {
			require.Equal(t, n+again[id], k.desk.counts()[id], "request %s", id)
		}
		require.Len(t, k.desk.counts(), len(want))
		require.LessOrEqual(t, k.desk.tokens, most)
		require.Equal(t, wantRows, k.rows())
		require.Empty(t, k.temporaries())
		if k.pack == nil {
			require.Len(t, k.tapes(), len(whole.tapes()))
		} else {
			f, err := packs.Open(os.DirFS(k.dir), k.pack[1])
			require.NoError(t, err)
			require.Len(t, f.Names(), len(whole.tapes()))
			require.NoError(t, f.Close())
		}
		end := k.run(0, slices.Concat([]string{"verify", "latest"}, k.pack)...)
		require.Zero(t, end.code, end.text)
	})
	t.Logf("%d kills at %d points: %d requests in flight were sent again, %d exchanges on disk were not", kills, points, lost, kept)
	require.GreaterOrEqual(t, kills, points*9/10)
	require.Positive(t, kept)
}

// A second recorder, or another writer of cassettes, fails before it sends a request. A replay does
// not.
func TestOneRecorderAtATime(t *testing.T) {
	models, err := sim.Start(t.Context(), "", sim.Config{Seed: 1, Books: booksFor(t, "scaffold/suites/first")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = models.Close() })
	k := newKillRecord(t, models.URL(), rand.New(rand.NewPCG(18, 0)))
	require.Zero(t, k.run(0, recordArgs(1<<30)...).code)
	before := k.desk.asked()
	pack := filepath.Join("suites", "first", "cassettes.pack")
	recorded := filepath.Join("suites", "first", "cassettes", "one", "F01", "1.yaml")

	unlock, err := cassette.Lock(filepath.Join(k.dir, "suites", "first", "cassettes"))
	require.NoError(t, err)
	for _, args := range [][]string{
		recordArgs(1 << 30), {"cassette", "pack"}, {"cassette", "prune", "--yes"}, {"cassette", "seal", recorded},
		{"suite", "add", "--from", "latest/F01/one/1"},
	} {
		end := k.run(0, args...)
		require.Equal(t, exit.Failed, end.code, "%v: %s", args, end.text)
		require.Contains(t, end.text, filepath.Join("suites", "first", "cassettes")+": in use by another cupel process; wait for it to end", "%v", args)
	}
	require.Equal(t, before, k.desk.asked())
	require.NoFileExists(t, filepath.Join(k.dir, pack))
	end := k.run(0, "run", "--trials", "4")
	require.Zero(t, end.code, end.text)
	unlock()
	t.Run("pack", func(t *testing.T) { lockOfPack(t, k) })
	require.Zero(t, k.run(0, "cassette", "pack").code)
	entries, err := os.ReadDir(filepath.Join(k.dir, "suites", "first"))
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	require.Equal(t, []string{"cassettes", "cassettes.pack", "playbook.yaml", "suite.yaml"}, names, "no lock file to commit")
}

// lockOfPack checks the same of a pack.
func lockOfPack(t *testing.T, k killRecord) {
	t.Helper()
	testkit.Slow(t) // a folder is the sample
	dir := filepath.Join(k.dir, "recordings")
	require.Zero(t, k.run(0, slices.Concat(recordArgs(1<<30), []string{"--pack", "recordings"})...).code)
	unlock, err := cassette.Lock(dir)
	require.NoError(t, err)
	defer unlock()
	before := k.desk.asked()
	for _, args := range [][]string{
		recordArgs(1 << 30), {"cassette", "pack"}, {"cassette", "prune", "--yes"}, {"cassette", "join", filepath.Join("suites", "first", "cassettes")},
	} {
		end := k.run(0, append(args, "--pack", "recordings")...)
		require.Equal(t, exit.Failed, end.code, "%v: %s", args, end.text)
		require.Contains(t, end.text, "recordings: in use by another cupel process; wait for it to end", "%v", args)
	}
	require.Equal(t, before, k.desk.asked())
	end := k.run(0, "run", "--trials", "4", "--pack", "recordings")
	require.Zero(t, end.code, end.text)
}
