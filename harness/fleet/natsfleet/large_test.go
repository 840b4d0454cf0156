package natsfleet_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/recorder"
)

// smallQueue runs a NATS server whose largest message has a number of bytes, as an existing cluster
// may have a smaller one than cupel's own queue.
func smallQueue(t *testing.T, most int32) (url string) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), MaxPayload: most, NoSigs: true, NoLog: true})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(30*time.Second))
	return s.ClientURL()
}

// session returns the options of a run of one session of so many tasks, which is one unit.
func session(t *testing.T, p *provider, length int) harness.Options {
	t.Helper()
	var text strings.Builder
	text.WriteString(`
name: long
candidates: [{name: a, provider: sim-openai, model: m}]
tools: [{name: today_range, description: Today., schema: {type: object}}]
worlds: {may: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: may, budgets: {max_steps: 3}}
tasks:
`)
	for i := range length {
		_, _ = fmt.Fprintf(&text, "  - {id: T%02d, request: Say day %d, session: s, expect: {status: answered}}\n", i, i)
	}
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(text.String())}}, "long", counts.Worlds())
	require.NoError(t, err)
	o := recording(t, p)
	o.Suite = suite
	return o
}

// Results, units and recordings that are larger than a message of the queue arrive nevertheless.
func TestLargeMessages(t *testing.T) {
	t.Parallel()
	const most, length = 16 << 10, 30
	p := &provider{asked: map[string]int{}}
	o := session(t, p, length)
	url := smallQueue(t, most)
	own := o
	own.CassetteDir, own.Runs = "", t.TempDir()
	startWorker(t, url, "a", own)
	q := dial(t, url, "lead", &said{})
	res, err := coordinate(t, q, o, fleet.CoordinateOptions{})
	require.NoError(t, err)
	require.Equal(t, "complete", res.Manifest.Status, res.Excluded)
	all, again := p.requests()
	require.Equal(t, []int{2 * length, 0}, []int{all, again})
	requireReplays(t, o, res)

	// A unit with the results of the episodes that are not executed again is large, too.
	large := &watched{}
	o.Mode, o.Stale, o.Resume, o.Runs, o.Transport = recorder.Replay, false, "", t.TempDir(), nil
	drained := o
	drain := make(chan struct{})
	drained.Drain = drain
	ended := 0
	drained.Progress = func(harness.Progress) {
		if ended++; ended == length-1 {
			close(drain)
		}
	}
	first, err := harness.Run(context.Background(), drained)
	require.NoError(t, err)
	require.True(t, first.Interrupted)
	whole := plain(t, o)
	o.Resume = first.Manifest.RunID
	lead := q.Coordinate(fleet.CoordinateOptions{})
	large.Executor = lead
	o.Executor = large
	own = o
	own.Runs, own.Resume, own.Executor = t.TempDir(), "", nil
	startWorker(t, url, "b", own)
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.NoError(t, lead.Finish(true))
	require.Greater(t, large.bytes(), most)
	require.Equal(t, whole.Manifest.LedgerDigest, res.Manifest.LedgerDigest)
	s, err := q.Status(context.Background())
	require.NoError(t, err)
	require.Zero(t, s.Queued+s.Taken+s.Returned)
}

// watched is an executor that measures the units.
type watched struct {
	fleet.Executor
	mu   sync.Mutex
	done int
}

func (w *watched) bytes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

// Execute implements fleet.Executor.
func (w *watched) Execute(ctx context.Context, work fleet.Work) error {
	units := work.Units
	work.Units = func(yield func(fleet.Unit, error) bool) {
		for u, err := range units {
			for _, rows := range u.Done {
				if data, err := rows.MarshalBinary(); err == nil {
					w.mu.Lock()
					w.done += len(data)
					w.mu.Unlock()
				}
			}
			if !yield(u, err) {
				return
			}
		}
	}
	return w.Executor.Execute(ctx, work)
}
