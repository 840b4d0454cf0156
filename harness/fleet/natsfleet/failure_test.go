package natsfleet_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// fragile is a worker that is lost when it executes an episode.
type fragile struct {
	fleet.Worker
	episode string
	die     func()
}

func (f fragile) Run(ctx context.Context, u fleet.Unit, log fleet.Log, drain <-chan struct{}) (fleet.UnitResult, error) {
	if slices.Contains(u.Episodes, f.episode) {
		f.die()
		return fleet.UnitResult{}, fleet.ErrCancelled
	}
	return f.Worker.Run(ctx, u, log, drain)
}

// An episode that takes three workers along is a harness error with the reason, and nothing else is
// lost. A resumed run tries it again.
func TestEpisodeThatKillsItsWorkers(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	const killer = "G01/strong/1"
	o := options(t, "strong")
	whole := plain(t, o)
	url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
	var mu sync.Mutex
	died := 0
	for i := range 4 {
		q := dial(t, url, fmt.Sprintf("fragile-%d", i), &said{})
		drain := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = q.Work(context.Background(), fleet.WorkOptions{Drain: drain, Open: func(_ context.Context, m manifest.Manifest, _ *fleet.Shared) (fleet.Worker, error) {
				w, err := harness.NewWorker(o, m)
				return fragile{w, killer, func() {
					mu.Lock()
					died++
					mu.Unlock()
					_ = q.Close()
				}}, err
			}})
		})
		t.Cleanup(func() { close(drain); wg.Wait() })
	}
	lead := dial(t, url, "lead", &said{})
	res, err := coordinate(t, lead, o, fleet.CoordinateOptions{Lease: time.Second})
	require.NoError(t, err)
	require.Equal(t, 3, died)
	require.Equal(t, "partial", res.Manifest.Status)
	require.Equal(t, whole.Manifest.Episodes, res.Manifest.Episodes)
	require.Len(t, res.Excluded.First, 1)
	lost := res.Excluded.First[0]
	require.Equal(t, "G01", lost.TaskID)
	require.Equal(t, "harness_error", lost.Status)
	require.Equal(t, "3 workers were lost while they executed it: it is not executed again", lost.ErrorText)

	startWorker(t, url, "good", o)
	o.Resume = res.Manifest.RunID
	res, err = coordinate(t, lead, o, fleet.CoordinateOptions{Lease: time.Second})
	require.NoError(t, err)
	requireSameFiles(t, whole.Dir, res.Dir)
}

// A full queue is said, and once it has space again the run goes on.
func TestFullQueue(t *testing.T) {
	testkit.Slow(t)
	t.Parallel()
	p := &provider{asked: map[string]int{}}
	o := recording(t, p)
	dir := t.TempDir()
	url, stop := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: dir, MaxBytes: 32 << 10})
	own := o
	own.CassetteDir, own.Runs = "", t.TempDir()
	worker := &said{}
	q := dial(t, url, "worker", worker)
	drain := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = q.Work(context.Background(), fleet.WorkOptions{Drain: drain, Open: func(_ context.Context, m manifest.Manifest, limits *fleet.Shared) (fleet.Worker, error) {
			own := own
			own.Caps, own.Limits, own.Sharing = limits.Caps, limits.Limits, limits.Sharing
			return harness.NewWorker(own, m)
		}})
	})
	t.Cleanup(func() { close(drain); wg.Wait() })
	lead := &said{}
	wg.Go(func() {
		for !strings.Contains(worker.String()+lead.String(), "the queue is full or cannot write") {
			time.Sleep(10 * time.Millisecond)
		}
		stop()
		serve(t, fleet.ServeOptions{Listen: strings.TrimPrefix(url, "nats://"), Dir: dir})
	})
	res, err := coordinate(t, dial(t, url, "lead", lead), o, fleet.CoordinateOptions{Lease: 2 * time.Second, Attempts: 100})
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	requireReplays(t, o, res)
}

// leaving is a worker that leaves a run only once gone is closed.
type leaving struct {
	fleet.Worker
	gone <-chan struct{}
}

func (l leaving) Close() error {
	<-l.gone
	return l.Worker.Close()
}

// A worker that leaves after the coordinator has removed everything of a complete run has nothing to
// complain about.
func TestWorkerLeavesLast(t *testing.T) {
	t.Parallel()
	o := recording(t, &provider{asked: map[string]int{}})
	url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
	gone, drain, worker := make(chan struct{}), make(chan struct{}), &said{}
	q := dial(t, url, "worker", worker)
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = q.Work(context.Background(), fleet.WorkOptions{Drain: drain, Open: func(_ context.Context, m manifest.Manifest, limits *fleet.Shared) (fleet.Worker, error) {
			own := o
			own.CassetteDir, own.Runs = "", t.TempDir()
			own.Caps, own.Limits, own.Sharing = limits.Caps, limits.Limits, limits.Sharing
			w, err := harness.NewWorker(own, m)
			return leaving{w, gone}, err
		}})
	})
	res, err := coordinate(t, dial(t, url, "lead", &said{}), o, fleet.CoordinateOptions{})
	close(gone)
	close(drain)
	wg.Wait()
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status)
	require.Equal(t, fmt.Sprintf("working on run %s\nleft run %[1]s; episodes executed here: %d", res.Manifest.RunID, res.Manifest.Episodes), worker.String())
}
