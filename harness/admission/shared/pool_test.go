package shared

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/providers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dollar = Config{
	Identity: "plan", Caps: admission.Caps{CostNanoUSD: 1000}, Limits: map[string]admission.Limits{"p": {RequestsPerMinute: 600}},
}

// join returns the control of a worker and its member.
func join(t *testing.T, p *Pool, folder string) (*admission.Control, *Member, func() error) {
	t.Helper()
	m := p.Member(Options{Name: "host"})
	o := admission.Options{Caps: p.config.Caps, Providers: p.config.Limits, Shared: true, Wanted: m.Wanted}
	if folder != "" {
		log, err := admission.OpenSpendLog(filepath.Join(folder, "spend.log"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = log.Close() })
		o.Log = log
	}
	c := admission.New(o)
	leave, err := m.Join(c, folder)
	require.NoError(t, err)
	return c, m, leave
}

// send sends a request at a worst case and returns what ends it at a cost.
func send(t *testing.T, c *admission.Control, worst int64) func(cost int64) {
	t.Helper()
	p, err := c.Lane("p", "key").Acquire(t.Context(), admission.Request{CostNanoUSD: worst})
	require.NoError(t, err)
	return func(cost int64) {
		p.Done(admission.Result{Usage: providers.Usage{Reported: true, Input: 1}, CostNanoUSD: &cost})
	}
}

func TestCreateAndOpen(t *testing.T) {
	kv := Memory()
	_, err := Open(t.Context(), kv, "night", "plan")
	require.ErrorIs(t, err, ErrNoKey)
	require.ErrorContains(t, err, "start the run first")
	_, err = Create(t.Context(), kv, "night", dollar)
	require.NoError(t, err)
	_, err = Open(t.Context(), kv, "night", "other")
	require.ErrorContains(t, err, "the shared limits night are those of another run (plan, this one is other): two fleets use one name")
	_, err = Create(t.Context(), kv, "night", Config{Identity: "other"})
	require.ErrorContains(t, err, "two fleets use one name")

	more := dollar
	more.Caps.CostNanoUSD = 2000
	_, err = Create(t.Context(), kv, "night", more)
	require.NoError(t, err, "a run that is resumed may raise its cap")
	p, err := Open(t.Context(), kv, "night", "plan")
	require.NoError(t, err)
	require.Equal(t, more, p.Config())

	_, err = kv.Create(t.Context(), "bad", []byte("{"))
	require.NoError(t, err)
	_, err = Open(t.Context(), kv, "bad", "plan")
	require.ErrorContains(t, err, "read bad: the shared limits are damaged")
	_, err = kv.Create(t.Context(), "new", []byte(`{"format":3}`))
	require.NoError(t, err)
	_, err = Open(t.Context(), kv, "new", "plan")
	require.ErrorContains(t, err, "use one version of cupel")
}

// What one worker has not used serves the others, as soon as it leaves.
func TestWorkersShareACap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := Create(t.Context(), Memory(), "night", dollar)
		require.NoError(t, err)
		a, _, leaveA := join(t, p, "")
		b, _, leaveB := join(t, p, "")
		done := send(t, a, 600)
		blocked := make(chan struct{})
		go func() {
			defer close(blocked)
			send(t, b, 600)(10)
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		s, err := p.State(t.Context())
		require.NoError(t, err)
		require.Len(t, s.Workers, 2)
		require.True(t, s.Workers[0].Waits || s.Workers[1].Waits)
		require.Equal(t, "host", s.Workers[0].Name)
		select {
		case <-blocked:
			t.Fatal("1,200 of 1,000 are reserved")
		default:
		}
		done(100)
		<-blocked
		_, err = b.Lane("p", "key").Acquire(t.Context(), admission.Request{CostNanoUSD: 950})
		require.ErrorIs(t, err, admission.ErrCapped)
		require.ErrorContains(t, err, "cost of provider p, shared by the workers")
		require.ErrorIs(t, b.Capped("p"), admission.ErrCapped)
		require.NoError(t, leaveA())
		require.NoError(t, leaveB())
		s, err = p.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(110), s.Spent.CostNanoUSD)
		require.Equal(t, s.Spent, s.Granted)
	})
}

// A killed worker's block counts until it starts again with its log. Then what its log
// says counts.
func TestAKilledWorkerComesBack(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p, err := Create(t.Context(), Memory(), "night", dollar)
		require.NoError(t, err)
		a, m, _ := join(t, p, folder)
		send(t, a, 500)(500)
		done := send(t, a, 400) // the answer of which is lost
		_ = done
		time.Sleep(3 * time.Second)
		m.cancel()

		b, _, leaveB := join(t, p, "")
		_, err = b.Lane("p", "key").Acquire(t.Context(), admission.Request{CostNanoUSD: 200})
		require.ErrorIs(t, err, admission.ErrCapped, "once the lease has expired")
		synctest.Wait() // a control loses its part before the record is stored
		s, err := p.State(t.Context())
		require.NoError(t, err)
		require.Contains(t, []bool{s.Workers[0].Expired, s.Workers[1].Expired}, true)
		require.GreaterOrEqual(t, s.Granted.CostNanoUSD, int64(900))
		require.NoError(t, leaveB())

		again, _, leave := join(t, p, folder)
		require.Equal(t, int64(900), again.Snapshot().Spent.CostNanoUSD)
		send(t, again, 100)(50)
		require.NoError(t, leave())
		s, err = p.State(t.Context())
		require.NoError(t, err)
		require.Len(t, s.Workers, 2, "the lease is that of the log")
		require.Equal(t, int64(950), s.Granted.CostNanoUSD)
	})
}

// cutKV fails while it is cut off.
type cutKV struct {
	KV
	cut atomic.Bool
}

func (c *cutKV) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	if c.cut.Load() {
		return nil, 0, errors.New("connection refused")
	}
	return c.KV.Get(ctx, key)
}

// A worker that cannot reach the store stops sending, says so once, and continues later.
func TestTheStoreIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &cutKV{KV: Memory()}
		p, err := Create(t.Context(), kv, "night", dollar)
		require.NoError(t, err)
		var notices []string
		m := p.Member(Options{Notice: func(s string) { notices = append(notices, s) }})
		c := admission.New(admission.Options{Caps: dollar.Caps, Providers: dollar.Limits, Shared: true, Wanted: m.Wanted})
		leave, err := m.Join(c, "")
		require.NoError(t, err)
		send(t, c, 10)(10)
		kv.cut.Store(true)
		time.Sleep(Lifetime + 3*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err = c.Lane("p", "key").Acquire(ctx, admission.Request{CostNanoUSD: 10})
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		kv.cut.Store(false)
		send(t, c, 10)(10)
		synctest.Wait()
		require.Len(t, notices, 2)
		require.Equal(t, "the shared limits do not answer: no request is sent until they do (read night: connection refused)", notices[0])
		require.Equal(t, "the shared limits answer again", notices[1])

		// For ever is too long.
		kv.cut.Store(true)
		_, err = c.Lane("p", "key").Acquire(t.Context(), admission.Request{CostNanoUSD: 900})
		require.ErrorIs(t, err, admission.ErrCapped, "the run ends as one that reached a cap")
		require.ErrorContains(t, err, "connection refused")
		require.ErrorIs(t, c.Capped("p"), admission.ErrCapped)
		err = leave()
		require.ErrorContains(t, err, "give back what is left of the shared limits: read night: connection refused; what this worker was granted counts as spent")
	})
}

func (m *memory) lose(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
}

// A record that was lost or taken over is never made again by a worker.
func TestTheStoreLosesTheRecord(t *testing.T) {
	for name, lose := range map[string]func(kv *memory, m *Member){
		"the key": func(kv *memory, _ *Member) { kv.lose("night") },
		"the leases": func(kv *memory, _ *Member) {
			kv.lose("night")
			_, _ = Create(context.Background(), kv, "night", dollar)
		},
		"another fleet": func(kv *memory, _ *Member) {
			kv.lose("night")
			_, _ = Create(context.Background(), kv, "night", Config{Identity: "other"})
		},
		"a copy of the log": func(kv *memory, m *Member) {
			r, revision, _ := read(context.Background(), kv, "night")
			r.Leases[m.id].Owner = "other"
			_, _ = kv.Update(context.Background(), "night", r.encode(), revision)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kv := Memory()
				p, err := Create(t.Context(), kv, "night", dollar)
				require.NoError(t, err)
				c, m, leave := join(t, p, "")
				send(t, c, 10)(10)
				lose(kv.(*memory), m)
				time.Sleep(time.Minute)
				_, err = c.Lane("p", "key").Acquire(t.Context(), admission.Request{CostNanoUSD: 10})
				require.ErrorIs(t, err, admission.ErrCapped)
				require.Error(t, leave())
			})
		})
	}
}

// A rate is divided among those that use it, and one worker has all of it.
func TestWorkersShareARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := Create(t.Context(), Memory(), "night", Config{Limits: map[string]admission.Limits{"p": {RequestsPerMinute: 60}}})
		require.NoError(t, err)
		sent := func(of time.Duration, controls ...*admission.Control) (n int) {
			ctx, cancel := context.WithTimeout(t.Context(), of)
			defer cancel()
			counts := make(chan int)
			for _, c := range controls {
				go func() {
					n := 0
					for {
						permit, err := c.Lane("p", "key").Acquire(ctx, admission.Request{})
						if err != nil {
							counts <- n
							return
						}
						permit.Done(admission.Result{})
						n++
					}
				}()
			}
			for range controls {
				n += <-counts
			}
			return n
		}
		a, _, leaveA := join(t, p, "")
		require.InDelta(t, 60+600, sent(10*time.Minute, a), 2, "a minute's burst, and the rate")
		b, _, leaveB := join(t, p, "")
		both := sent(10*time.Minute, a, b)
		require.LessOrEqual(t, both, 600+2)
		require.Greater(t, both, 500)
		require.NoError(t, leaveA())
		alone := sent(10*time.Minute, b)
		require.LessOrEqual(t, alone, 600+60)
		require.Greater(t, alone, 550)
		require.NoError(t, leaveB())
	})
}

// Workers that begin together send about as much in the first minute as one process, because the
// one that comes first gives back what it has beyond its share.
func TestWorkersShareTheFirstMinute(t *testing.T) {
	const rate, slots = 600, 40
	sent := func(t *testing.T, workers int) int {
		var n atomic.Int64
		synctest.Test(t, func(t *testing.T) {
			p, err := Create(t.Context(), Memory(), "night", Config{Limits: map[string]admission.Limits{"p": {RequestsPerMinute: rate, Concurrency: slots}}})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var wg sync.WaitGroup
			for range workers {
				c, _, leave := join(t, p, "")
				defer func() { require.NoError(t, leave()) }()
				for range slots / workers {
					wg.Go(func() {
						for {
							permit, err := c.Lane("p", "key").Acquire(ctx, admission.Request{})
							if err != nil {
								return
							}
							n.Add(1)
							time.Sleep(time.Second)
							permit.Done(admission.Result{})
						}
					})
				}
			}
			wg.Wait()
		})
		return int(n.Load())
	}
	alone := sent(t, 1)
	require.InDelta(t, 2*rate, alone, 10)
	for _, workers := range []int{2, 4, 8} {
		fleet := sent(t, workers)
		t.Logf("%d workers: %d, one process: %d", workers, fleet, alone)
		require.Greater(t, fleet, alone*95/100)
		require.LessOrEqual(t, fleet, 2*rate)
	}
}

func TestLeaseFile(t *testing.T) {
	dir := t.TempDir()
	a, err := leaseID(dir)
	require.NoError(t, err)
	b, err := leaseID(dir)
	require.NoError(t, err)
	require.Equal(t, a, b)
	c, err := leaseID("")
	require.NoError(t, err)
	require.NotEqual(t, a, c)
	require.NoError(t, os.WriteFile(filepath.Join(dir, leaseFile), nil, 0o666))
	d, err := leaseID(dir)
	require.NoError(t, err)
	require.NotEmpty(t, d)
	_, err = leaseID(filepath.Join(dir, "absent"))
	require.Error(t, err)
}

// BenchmarkExchange is one exchange in a fleet of 200 workers.
func BenchmarkExchange(b *testing.B) {
	r := &record{Format: format, Config: dollar, Leases: map[string]*lease{}, Lanes: map[string]int64{}}
	for i := range 200 {
		r.Leases[fmt.Sprint("worker", i)] = &lease{Owner: "owner", Name: "host", Accounts: map[string]*account{"p": {}, "q": {}, "r": {}}, Shares: map[string]int64{"p/0123456789abcdef": 5000}}
	}
	value := r.encode()
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		r, err := decode(value)
		require.NoError(b, err)
		r.exchange("worker7", report{accounts: map[string]accountReport{"p": {}}, lanes: map[string]int64{"p/0123456789abcdef": 1000}})
		value = r.encode()
	}
}
