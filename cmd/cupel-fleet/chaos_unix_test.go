//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/sim"
)

// asProgram makes the test binary the program.
const asProgram = "CUPEL_FLEET_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// desk is a provider before simulated models. It takes its time, and counts what it is asked.
type desk struct {
	models string
	delay  time.Duration
	mu     sync.Mutex
	served map[string]int // by X-Client-Request-Id
	all    int
	// draw, if there is one, is what a reply takes instead of delay.
	draw        func() time.Duration
	first, last time.Time // when the first request came, and the last reply went
}

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // an incomplete request is not paid for
	}
	d.mu.Lock()
	d.served[r.Header.Get("X-Client-Request-Id")]++
	d.all++
	now, delay := time.Now(), d.delay
	if d.draw != nil {
		delay = d.draw()
	}
	if d.first.IsZero() {
		d.first = now
	}
	d.mu.Unlock()
	due := time.NewTimer(delay)
	defer func() {
		d.mu.Lock()
		d.last = time.Now()
		d.mu.Unlock()
	}()
	<-due.C
	resp, err := http.Post(d.models+r.URL.Path, "application/json", bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body) // whoever was killed does not read it
}

// counts returns the requests, and how many of them were asked again.
func (d *desk) counts() (all, again int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.served {
		again += n - 1
	}
	return d.all, again
}

// plant is a folder with a suite, a configuration and the processes of a fleet.
type plant struct {
	t   *testing.T
	dir string
	url string
	// lease is that of the runs.
	lease string
	*desk

	queue   *process
	workers []*process
	// inFlight is at most how many requests were in flight at the disturbances.
	inFlight int
}

// process is a running cupel-fleet.
type process struct {
	*exec.Cmd
	out  *lockedBuffer
	over chan struct{} // closed once it has ended
}

type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newPlant starts a queue. The provider takes delay for each reply.
func newPlant(t *testing.T, delay time.Duration) *plant {
	t.Helper()
	p := &plant{t: t, dir: t.TempDir(), lease: "2s", desk: &desk{delay: delay, served: map[string]int{}}}
	suite, err := load.Proved(counts.FS, "builtin:counts", counts.Worlds())
	require.NoError(t, err)
	book, err := load.Playbook(suite)
	require.NoError(t, err)
	config := sim.Config{Seed: 1}
	config.Books = append(config.Books, book)
	models, err := sim.Start(context.Background(), "", config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = models.Close() })
	p.models = models.URL()
	server := httptest.NewServer(p.desk)
	t.Cleanup(server.Close)
	own := filepath.Join(p.dir, "suite")
	require.NoError(t, os.CopyFS(own, counts.FS))
	require.NoError(t, os.RemoveAll(filepath.Join(own, "cassettes")))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "cupel.yaml"), []byte(
		"suite: suite\ncandidates: [{name: one, provider: openai-compatible, model: sim-strong, max_tokens: 500, base_url: "+server.URL+"/v1}]\n"), 0o644))
	p.startQueue("127.0.0.1:0")
	t.Cleanup(func() {
		for _, w := range append(p.workers, p.queue) {
			w.kill()
		}
	})
	return p
}

// start starts a process.
func (p *plant) start(args ...string) *process { return p.startProgram(os.Args[0], args...) }

func (p *plant) startProgram(path string, args ...string) *process {
	p.t.Helper()
	c := &process{exec.Command(path, args...), &lockedBuffer{}, make(chan struct{})}
	c.Dir, c.Env = p.dir, append(os.Environ(), asProgram+"=1", "CUPEL_QUEUE_TOKEN=sesame")
	c.Stdout, c.Stderr = c.out, c.out
	require.NoError(p.t, c.Start())
	go func() { _ = c.Wait(); close(c.over) }()
	return c
}

func (c *process) kill() {
	_ = c.Process.Signal(syscall.SIGCONT)
	_ = c.Process.Kill()
	<-c.over
}

var listening = regexp.MustCompile(`queue on (nats://\S+),`)

func (p *plant) startQueue(addr string) {
	p.t.Helper()
	p.queue = p.start("queue", "--listen", addr)
	require.Eventually(p.t, func() bool { return listening.MatchString(p.queue.out.String()) }, time.Minute, 5*time.Millisecond, "%s", p.queue.out)
	p.url = listening.FindStringSubmatch(p.queue.out.String())[1]
}

// perWorker is the number of episodes that a worker executes at a time.
const perWorker = 2

func (p *plant) startWorker() *process { return p.startWorkerOf(perWorker) }

// startWorkerOf starts a worker that executes so many episodes at a time.
func (p *plant) startWorkerOf(episodes int) *process {
	return p.start("worker", "--queue", p.url, "--concurrency", strconv.Itoa(episodes), "--grace", "1s")
}

// awaitWorkers waits until so many workers are there.
func (p *plant) awaitWorkers(n int) {
	for started := 0; started < n; time.Sleep(50 * time.Millisecond) {
		list, _ := p.status()["workers"].([]any)
		started = len(list)
	}
}

// run runs cupel-fleet to its end, and returns its output and exit code.
func (p *plant) run(args ...string) (string, int) {
	c := p.start(args...)
	<-c.over
	return c.out.String(), c.ProcessState.ExitCode()
}

// manifest is that of the only run in a folder.
func (p *plant) manifest(runs string) manifest.Manifest {
	p.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(p.dir, runs, "*", "run.json"))
	require.NoError(p.t, err)
	require.Len(p.t, dirs, 1)
	m, err := manifest.Read(filepath.Dir(dirs[0]))
	require.NoError(p.t, err)
	return m
}

// disturb kills, stops or restarts a random process of the fleet, and says what it did.
func (p *plant) disturb(r *rand.Rand, lead *process) string {
	i := r.IntN(len(p.workers))
	p.inFlight += perWorker
	switch n := r.IntN(100); {
	case n < 55:
		p.workers[i].kill()
		p.workers[i] = p.startWorker()
		return "worker killed"
	case n < 80:
		w := p.workers[i]
		_ = w.Process.Signal(syscall.SIGSTOP)
		wait := time.Duration(r.IntN(4000)) * time.Millisecond
		time.AfterFunc(wait, func() { _ = w.Process.Signal(syscall.SIGCONT) })
		return "worker stopped for " + wait.String()
	case n < 88:
		_ = p.workers[i].Process.Signal(syscall.SIGTERM)
		p.workers = append(p.workers, p.startWorker())
		return "worker drained, another joined"
	case n < 94:
		p.inFlight += perWorker * (len(p.workers) - 1)
		p.queue.kill()
		p.startQueue(strings.TrimPrefix(p.url, "nats://"))
		return "queue killed"
	default:
		lead.kill()
		return "coordinator killed"
	}
}

// chaos records with a fleet whose processes are disturbed at points random moments, and returns the
// coordinator's output. trials is the number of trials of each task.
func (p *plant) chaos(seed uint64, points, trials int, args ...string) string {
	t := p.t
	t.Helper()
	for range 4 {
		p.workers = append(p.workers, p.startWorker())
	}
	args = append([]string{"run", "--queue", p.url, "--mode", "record", "--runs", "fleet", "--lease", p.lease, "--attempts", "1000"}, args...)
	lead := p.start(append(args, "--trials", strconv.Itoa(trials))...)
	r := rand.New(rand.NewPCG(seed, 1))
	var outputs []string
	for done := 0; ; {
		select {
		case <-lead.over:
			outputs = append(outputs, lead.out.String())
			if code := lead.ProcessState.ExitCode(); code >= 0 {
				require.Zero(t, code, "%s", lead.out)
				require.Equal(t, points, done, "the run ended before all points: give it more trials")
				return strings.Join(outputs, "\n")
			}
			lead = p.start("run", "--queue", p.url, "--runs", "fleet", "--resume", "latest", "--lease", p.lease, "--attempts", "1000")
		case <-time.After(time.Duration(50+r.IntN(350)) * time.Millisecond):
			if done < points {
				done++
				t.Logf("%d: %s", done, p.disturb(r, lead))
			}
		}
	}
}

// requireSound checks a recording of a fleet: every episode is there once, one process replays the
// same digests, and only what was in flight was asked again.
func (p *plant) requireSound(trials int, lead string) {
	t := p.t
	t.Helper()
	m := p.manifest("fleet")
	require.Equal(t, "complete", m.Status)
	require.Equal(t, m.Candidates[0].Planned, m.Episodes, "an episode counts once")
	require.Equal(t, len(m.Tasks)*trials, m.Episodes)
	out, code := p.run("run", "--runs", "one", "--trials", strconv.Itoa(trials))
	require.Zero(t, code, out)
	require.Equal(t, m.LedgerDigest, p.manifest("one").LedgerDigest)
	require.Equal(t, m.Episodes, p.manifest("one").Episodes)
	all, again := p.counts()
	require.LessOrEqual(t, again, p.inFlight, "only what was in flight may be asked again")
	t.Logf("%d requests, %d of them again\n%s", all, again, lead)
}

// The sample of TestFleetChaos: a few points. make test has the tests of harness/fleet/natsfleet, whose
// workers are lost within one process.
func TestFleetSurvives(t *testing.T) {
	testkit.Slow(t)
	p := newPlant(t, 10*time.Millisecond)
	p.lease = "1s"
	lead := p.chaos(1, 3, 1)
	p.requireSound(1, lead)
	text, err := json.Marshal(p.status())
	require.NoError(t, err)
	require.Contains(t, string(text), `"run":null`)
}

// status is what cupel-fleet status prints.
func (p *plant) status() (s map[string]any) {
	p.t.Helper()
	out, code := p.run("status", "--queue", p.url, "--json")
	require.Zero(p.t, code, out)
	require.NoError(p.t, json.Unmarshal([]byte(out), &s), out)
	return s
}

// CUPEL_FLEET=100 kills, stops and resumes processes at as many random points.
func TestFleetChaos(t *testing.T) {
	points, err := strconv.Atoi(os.Getenv("CUPEL_FLEET"))
	if err != nil {
		t.Skip("takes minutes: run by make fleet")
	}
	p := newPlant(t, 300*time.Millisecond)
	trials := 1 + points/4
	lead := p.chaos(7, points, trials)
	p.requireSound(trials, lead)
}

// A cap holds for the fleet, also while workers are killed.
func TestFleetCap(t *testing.T) {
	points, err := strconv.Atoi(os.Getenv("CUPEL_FLEET"))
	if err != nil {
		t.Skip("takes minutes: run by make fleet")
	}
	p := newPlant(t, 100*time.Millisecond)
	for range 4 {
		p.workers = append(p.workers, p.startWorker())
	}
	const most = 120
	lead := p.start("run", "--queue", p.url, "--mode", "record", "--runs", "fleet", "--lease", "2s", "--attempts", "1000", "--trials", "10", "--max-requests", strconv.Itoa(most))
	for range min(points, 10) {
		time.Sleep(300 * time.Millisecond)
		p.workers[0].kill()
		p.workers = append(p.workers[1:], p.startWorker())
	}
	select {
	case <-lead.over:
	case <-time.After(5 * time.Minute):
		t.Fatal(lead.out.String())
	}
	all, _ := p.counts()
	require.LessOrEqual(t, all, most)
	require.Greater(t, all, most/2)
	require.Equal(t, "partial", p.manifest("fleet").Status)
}

// Four workers take less than 1/3.5 of the time of one, against a provider with latency.
func TestFleetSpeed(t *testing.T) {
	if os.Getenv("CUPEL_FLEET") == "" {
		t.Skip("takes a minute: run by make fleet")
	}
	times := map[int]time.Duration{}
	for _, n := range []int{1, 4} {
		p := newPlant(t, 600*time.Millisecond)
		for range n {
			p.workers = append(p.workers, p.startWorker())
		}
		p.awaitWorkers(n)
		begun := time.Now()
		out, code := p.run("run", "--queue", p.url, "--mode", "record", "--runs", "fleet")
		times[n] = time.Since(begun)
		require.Zero(t, code, out)
	}
	factor := times[1].Seconds() / times[4].Seconds()
	t.Logf("one worker %v, four %v: %.2f times", times[1], times[4], factor)
	require.GreaterOrEqual(t, factor, 3.5)
}
