package natsfleet_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/fleet/natsfleet"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
)

// loaded is the built-in suite. It is only read.
var loaded = sync.OnceValues(func() (*goldens.Suite, error) { return load.Proved(counts.FS, "builtin:counts", counts.Worlds()) })

// options are those of a replay of the built-in suite.
func options(t *testing.T, candidates ...string) harness.Options {
	t.Helper()
	suite, err := loaded()
	require.NoError(t, err)
	prices, err := price.Default()
	require.NoError(t, err)
	return harness.Options{
		Matrix:    harness.Matrix{Suite: suite, Seed: 1, Select: harness.Selection{Candidates: candidates}},
		Parts:     harness.Parts{Providers: all.Factories()},
		Rules:     harness.Rules{Policy: policy.Default(), Prices: prices, CodeVersion: "test"},
		RunFolder: harness.RunFolder{Runs: t.TempDir()},
	}
}

// serve runs a queue until stop is called, or the test ends.
func serve(t *testing.T, o fleet.ServeOptions) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, failed := make(chan string, 1), make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { failed <- natsfleet.Service{}.Serve(ctx, o, func(url string) { ready <- url }) })
	stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(stop)
	select {
	case url = <-ready:
	case err := <-failed:
		t.Fatal(err)
	}
	return url, stop
}

// said collects messages for people.
type said struct {
	mu   sync.Mutex
	list []string
}

func (s *said) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, text)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.list, "\n")
}

func dial(t *testing.T, url, client string, s *said) fleet.Queue {
	t.Helper()
	q, err := natsfleet.Service{}.Dial(context.Background(), fleet.Access{URL: url, Name: "test", Client: client, Say: s.say})
	require.NoError(t, err)
	t.Cleanup(func() { _ = q.Close() })
	return q
}

// startWorker works with the options o until stop is called.
func startWorker(t *testing.T, url, name string, o harness.Options) (q fleet.Queue, stop func()) {
	t.Helper()
	return startBuild(t, url, name, "", o)
}

// startBuild starts a worker of a build.
func startBuild(t *testing.T, url, name, build string, o harness.Options) (q fleet.Queue, stop func()) {
	t.Helper()
	q = dial(t, url, name, &said{})
	drain := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = q.Work(context.Background(), fleet.WorkOptions{Drain: drain, Grace: time.Second, Build: build, Open: func(_ context.Context, m manifest.Manifest, limits *fleet.Shared) (fleet.Worker, error) {
			o := o // each run has its own
			if limits != nil {
				o.Caps, o.Limits, o.Sharing = limits.Caps, limits.Limits, limits.Sharing
			}
			return harness.NewWorker(o, m)
		}})
	})
	stop = sync.OnceFunc(func() { close(drain); wg.Wait() })
	t.Cleanup(stop)
	return q, stop
}

// coordinate runs o by the workers of a queue.
func coordinate(t *testing.T, q fleet.Queue, o harness.Options, c fleet.CoordinateOptions) (harness.Result, error) {
	t.Helper()
	lead := q.Coordinate(c)
	o.Executor = lead
	res, err := harness.Run(context.Background(), o)
	return res, errors.Join(err, lead.Finish(err == nil && res.Manifest.Status == "complete"))
}

func requireSameFiles(t *testing.T, a, b string) {
	t.Helper()
	for _, name := range []string{"run.json", "turns.parquet"} {
		want, err := os.ReadFile(filepath.Join(a, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(b, name))
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
}

// plain runs o in this process.
func plain(t *testing.T, o harness.Options) harness.Result {
	t.Helper()
	o.Runs = t.TempDir()
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	return res
}

func TestFleetGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	o := options(t, "strong", "weak")
	whole := plain(t, o)
	url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
	for _, name := range []string{"a", "b", "c"} {
		startWorker(t, url, name, o)
	}
	q := dial(t, url, "lead", &said{})
	res, err := coordinate(t, q, o, fleet.CoordinateOptions{})
	require.NoError(t, err)
	require.Equal(t, whole.Manifest, res.Manifest)
	requireSameFiles(t, whole.Dir, res.Dir)

	s, err := q.Status(context.Background())
	require.NoError(t, err)
	require.Nil(t, s.Run, "the run has ended")
	require.Zero(t, s.Queued+s.Taken+s.Returned, "nothing of it is left")
	require.Len(t, s.Workers, 3)
}

// The units of a worker that disappears are delivered again after their lease.
func TestLostWorkerIsReplaced(t *testing.T) {
	t.Parallel()
	o := options(t, "strong")
	whole := plain(t, o)
	url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
	slow := o
	slow.ReplaySpeed = 0.001 // it never ends an episode
	gone, _ := startWorker(t, url, "gone", slow)
	lead := &said{}
	var wg sync.WaitGroup
	wg.Go(func() {
		watcher := dial(t, url, "watcher", &said{})
		for {
			s, err := watcher.Status(context.Background())
			if err == nil && s.Taken > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		_ = gone.Close() // as if it was killed
		startWorker(t, url, "next", o)
	})
	res, err := coordinate(t, dial(t, url, "lead", lead), o, fleet.CoordinateOptions{Lease: time.Second})
	wg.Wait()
	require.NoError(t, err)
	requireSameFiles(t, whole.Dir, res.Dir)
}

// A worker of another build is refused: it executes nothing, and everyone sees why.
func TestOtherBuildIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ version, build, reason string }{
		"other version":    {"older", "", "cupel itself changed since the run began: test → older"},
		"no version of it": {"test", strings.Repeat("b", 64), `another build of cupel than the one that began the run (bbbbbbbbbbbb, not aaaaaaaaaaaa), and version "test" is not that of a commit: copy`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, "strong")
			url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
			other := o
			other.CodeVersion = test.version
			startBuild(t, url, "other", test.build, other)
			lead, watcher := &said{}, dial(t, url, "watcher", &said{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for !strings.Contains(lead.String(), "start workers with") {
					time.Sleep(10 * time.Millisecond)
				}
				s, err := watcher.Status(context.Background())
				require.NoError(t, err)
				require.Equal(t, "refused", s.Workers[0].State)
				require.Contains(t, s.Workers[0].Reason, test.reason)
				startBuild(t, url, "good", strings.Repeat("a", 64), o)
			})
			res, err := coordinate(t, dial(t, url, "lead", lead), o, fleet.CoordinateOptions{Build: strings.Repeat("a", 64)})
			wg.Wait()
			require.NoError(t, err)
			require.Equal(t, "complete", res.Manifest.Status)
			require.Contains(t, lead.String(), "worker other refuses the run: ")
			require.Contains(t, lead.String(), test.reason)
		})
	}
}

// At most one run of a fleet is coordinated; another fleet shares the queue.
func TestTwoCoordinators(t *testing.T) {
	t.Parallel()
	o := options(t, "strong")
	url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
	ctx, cancel := context.WithCancel(context.Background())
	first := dial(t, url, "first", &said{}).Coordinate(fleet.CoordinateOptions{})
	var wg sync.WaitGroup
	wg.Go(func() {
		own := o
		own.Executor = first
		_, err := harness.Run(ctx, own)
		require.ErrorIs(t, err, context.Canceled)
	})
	second := dial(t, url, "second", &said{})
	for {
		s, err := second.Status(context.Background())
		require.NoError(t, err)
		if s.Coordinated {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	o.Runs = t.TempDir()
	_, err := coordinate(t, second, o, fleet.CoordinateOptions{})
	var busy *natsfleet.BusyError
	require.ErrorAs(t, err, &busy)
	require.ErrorContains(t, err, "coordinated by first; wait for it, or use another fleet with --fleet NAME")
	cancel()
	wg.Wait()
	require.NoError(t, first.Finish(false))
}

// The queue may be restarted while a run is in progress.
func TestQueueRestarts(t *testing.T) {
	t.Parallel()
	o := options(t, "strong")
	whole := plain(t, o)
	dir := t.TempDir()
	url, stop := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: dir})
	addr := strings.TrimPrefix(url, "nats://")
	lead := &said{}
	q, watcher := dial(t, url, "lead", lead), dial(t, url, "watcher", &said{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if s, err := watcher.Status(context.Background()); err == nil && s.Queued > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		stop()
		serve(t, fleet.ServeOptions{Listen: addr, Dir: dir})
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) { // it is known who coordinates
			s, err := watcher.Status(context.Background())
			if err == nil && s.Coordinated {
				break
			}
			require.Less(t, time.Since(began), 10*time.Second, err)
		}
		startWorker(t, url, "a", o)
	})
	res, err := coordinate(t, q, o, fleet.CoordinateOptions{Lease: 2 * time.Second})
	wg.Wait()
	require.NoError(t, err)
	requireSameFiles(t, whole.Dir, res.Dir)
	require.Contains(t, lead.String(), "connected to the queue again")
}

func TestAccess(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir(), User: "fleet", Password: "right"})
	host := strings.TrimPrefix(url, "nats://")
	for _, c := range []struct {
		name string
		a    fleet.Access
		want string
	}{
		{"no credentials", fleet.Access{URL: url}, "set CUPEL_QUEUE_USER and CUPEL_QUEUE_PASSWORD"},
		{"wrong credentials", fleet.Access{URL: url, User: "fleet", Password: "wrong"}, "to credentials that it accepts"},
		{"credentials in the address", fleet.Access{URL: "nats://fleet:right@" + host}, "must not have credentials"},
		{"no TLS beyond this machine", fleet.Access{URL: "nats://queue.example:4222"}, "needs TLS: use tls://HOST:PORT"},
		{"no server", fleet.Access{URL: "nats://127.0.0.1:1"}, "is it running?"},
		{"no address", fleet.Access{URL: "127.0.0.1:4222"}, "write its address as nats://HOST:PORT"},
		{"other protocol", fleet.Access{URL: "http://127.0.0.1:4222"}, "use nats:// or tls://"},
		{"no file", fleet.Access{URL: url, CredentialsFile: filepath.Join(t.TempDir(), "none.creds")}, "none.creds"},
		{"name", fleet.Access{URL: url, Name: "a.b"}, "use up to 32 letters"},
	} {
		if c.a.Name == "" {
			c.a.Name = "test"
		}
		_, err := natsfleet.Service{}.Dial(context.Background(), c.a)
		require.ErrorContains(t, err, c.want, c.name)
		require.NotContains(t, err.Error(), "right", c.name)
		require.NotContains(t, err.Error(), "wrong", c.name)
	}
	q, err := natsfleet.Service{}.Dial(context.Background(), fleet.Access{URL: url, Name: "test", User: "fleet", Password: "right"})
	require.NoError(t, err)
	require.NoError(t, q.Close())
}

// Beyond this machine a queue requires TLS and credentials.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	damaged, used := t.TempDir(), t.TempDir()
	serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: used})
	require.NoError(t, os.WriteFile(filepath.Join(damaged, "jetstream"), nil, 0o600))
	for _, c := range []struct {
		o    fleet.ServeOptions
		want []string
	}{
		{fleet.ServeOptions{Listen: "0.0.0.0:0"}, []string{"needs TLS", "needs credentials"}},
		{fleet.ServeOptions{Listen: "nowhere"}, []string{"HOST:PORT"}},
		{fleet.ServeOptions{Listen: "127.0.0.1:99999"}, []string{"must be 0 to 65535"}},
		{fleet.ServeOptions{Listen: "127.0.0.1:0", Cert: "none.crt", Key: "none.key"}, []string{"none.crt"}},
		{fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: used}, []string{"lock " + used, "another queue uses it: stop that one"}},
		{fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: damaged}, []string{"the server did not start in " + damaged, "Can't start JetStream"}},
	} {
		if c.o.Dir == "" {
			c.o.Dir = t.TempDir()
		}
		err := natsfleet.Service{}.Serve(context.Background(), c.o, func(string) {})
		for _, part := range c.want {
			require.ErrorContains(t, err, part)
		}
	}
}
