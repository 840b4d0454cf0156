package natsfleet_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/fleet/natsfleet"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// forgetful is a JetStream that stores the first message of each subject below prefix, and whose
// acknowledgement of it is lost: the publication fails after a while.
type forgetful struct {
	jetstream.JetStream
	prefix string
	after  time.Duration

	mu   sync.Mutex
	seen map[string]bool
}

func (f *forgetful) Publish(ctx context.Context, subject string, data []byte, o ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := f.JetStream.Publish(ctx, subject, data, o...)
	f.mu.Lock()
	seen := f.seen[subject]
	f.seen[subject] = true
	f.mu.Unlock()
	if seen || !strings.HasPrefix(subject, f.prefix) {
		return ack, err
	}
	time.Sleep(f.after)
	return nil, nats.ErrTimeout
}

// forget lets a queue lose acknowledgements.
func forget(q fleet.Queue, prefix string, after time.Duration) {
	natsfleet.Through(q, func(js jetstream.JetStream) jetstream.JetStream {
		return &forgetful{JetStream: js, prefix: prefix, after: after, seen: map[string]bool{}}
	})
}

// What was stored although its acknowledgement was lost is read once, also if it is stored again after
// the time in which the queue knows that it has it.
func TestLostAcknowledgementOfData(t *testing.T) {
	t.Parallel()
	const window = 100 * time.Millisecond
	url := smallQueue(t, 8<<10)
	nc, err := nats.Connect(url)
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	ctx := context.Background()
	s, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "cupel-test-data", Subjects: []string{"cupel-test-data.>"}, Duplicates: window})
	require.NoError(t, err)
	q := dial(t, url, "worker", &said{})
	forget(q, "cupel-test-data.", 3*window)
	const subject = "cupel-test-data.run.unit.j.file"
	var want []byte
	for i := range 3 {
		data := bytes.Repeat([]byte{byte('a' + i)}, 6<<10) // two messages
		want = append(want, data...)
		require.NoError(t, natsfleet.AppendData(ctx, q, subject, data))
	}
	info, err := s.Info(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 7, info.State.Msgs, "the test stores one message twice")
	data, messages, err := natsfleet.ReadData(ctx, q, subject)
	require.NoError(t, err)
	require.Equal(t, 6, messages)
	require.Equal(t, want, data)
}

// A unit whose publication seems to fail, although a worker has executed it meanwhile, is not executed
// again.
func TestLostAcknowledgementOfUnit(t *testing.T) {
	for _, mode := range []recorder.Mode{recorder.Record, recorder.Live} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			p := &provider{asked: map[string]int{}}
			o := recording(t, p)
			o.Mode = mode
			o.Select.Tasks = []string{"T0[0-3]"}
			url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
			own := o
			own.CassetteDir, own.Runs = "", t.TempDir()
			startWorker(t, url, "a", own)
			q := dial(t, url, "lead", &said{})
			forget(q, "cupel-test-work.", time.Second)
			res, err := coordinate(t, q, o, fleet.CoordinateOptions{})
			require.NoError(t, err)
			require.Equal(t, "complete", res.Manifest.Status)
			all, _ := p.requests()
			require.Equal(t, 2*4, all)
			s, err := q.Status(context.Background())
			require.NoError(t, err)
			require.Zero(t, s.Queued+s.Taken+s.Returned)
		})
	}
}

// What workers return while no coordinator is there counts for the next one, which has nothing of it
// executed again.
func TestResultsWithoutCoordinator(t *testing.T) {
	testkit.Slow(t) // the entry of the lost coordinator has to expire
	for _, mode := range []recorder.Mode{recorder.Record, recorder.Live} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			p := &provider{asked: map[string]int{}, gate: make(chan struct{})}
			o := recording(t, p)
			o.Mode = mode
			url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
			own := o
			own.CassetteDir, own.Runs, own.Concurrency = "", t.TempDir(), tasks
			startWorker(t, url, "a", own)
			ctx, kill := context.WithCancel(context.Background())
			lost, watcher := dial(t, url, "lost", &said{}), dial(t, url, "watcher", &said{})
			var wg sync.WaitGroup
			wg.Go(func() {
				first := o
				first.Executor = lost.Coordinate(fleet.CoordinateOptions{})
				_, err := harness.Run(ctx, first)
				require.ErrorIs(t, err, context.Canceled)
			})
			asked := func(n int) func() bool {
				return func() bool { all, _ := p.requests(); return all == n }
			}
			inFlight := min(tasks, harness.DefaultConcurrency)
			require.Eventually(t, asked(2*inFlight), time.Minute, 10*time.Millisecond)
			require.Eventually(t, func() bool {
				s, err := watcher.Status(context.Background())
				return err == nil && s.Queued+s.Taken == tasks // all are published
			}, time.Minute, 10*time.Millisecond)
			kill()
			require.NoError(t, lost.Close())
			wg.Wait()
			close(p.gate)
			require.Eventually(t, func() bool {
				s, err := watcher.Status(context.Background())
				return err == nil && s.Queued+s.Taken == 0
			}, time.Minute, 10*time.Millisecond)
			require.True(t, asked(2*tasks)())

			runs, err := os.ReadDir(o.Runs)
			require.NoError(t, err)
			require.Len(t, runs, 1)
			o.Resume = runs[0].Name()
			res, err := coordinate(t, dial(t, url, "next", &said{}), o, fleet.CoordinateOptions{})
			require.NoError(t, err)
			require.Equal(t, "complete", res.Manifest.Status)
			require.True(t, asked(2*tasks)())
		})
	}
}
