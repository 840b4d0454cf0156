package admission

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// acquire takes a permit that must be available immediately.
func acquire(t testing.TB, l *Lane, r Request) *Permit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := l.Acquire(ctx, r)
	require.NoError(t, err)
	require.Zero(t, p.Waited)
	return p
}

// queue acquires in the background and calls went with the permit. It returns when the request waits
// or has its permit.
func queue(t *testing.T, l *Lane, r Request, went func(*Permit, error)) {
	t.Helper()
	go func() { went(l.Acquire(t.Context(), r)) }()
	synctest.Wait()
}

func failure(kind fault.Kind) Result {
	return Result{Err: fmt.Errorf("call: %w", &fault.Error{Kind: kind, Provider: "p", Model: "m"})}
}

func cost(nano int64) *int64 { return &nano }

func TestConcurrencyIsBoundedPerProviderAndKey(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		want    int
	}{
		{"default", Options{}, 8},
		{"of the run", Options{Concurrency: 3}, 3},
		{"of the provider", Options{Concurrency: 3, Providers: map[string]Limits{"p": {Concurrency: 5}}}, 5},
		{"of another provider", Options{Concurrency: 3, Providers: map[string]Limits{"q": {Concurrency: 5}}}, 3},
		{"nonsense", Options{Concurrency: -3}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(test.options)
				l := c.Lane("p", "k")
				require.Same(t, l, c.Lane("p", "k"))
				var held []*Permit
				for range test.want {
					held = append(held, acquire(t, l, Request{}))
				}
				got := false
				queue(t, l, Request{}, func(p *Permit, err error) {
					require.NoError(t, err)
					require.Equal(t, time.Minute, p.Waited)
					got = true
					p.Done(Result{})
				})
				time.Sleep(time.Minute)
				require.False(t, got)
				acquire(t, c.Lane("p", "another"), Request{}).Done(Result{})
				held[0].Done(Result{})
				held[0].Done(Result{}) // the second time frees nothing
				synctest.Wait()
				require.True(t, got)
				require.Equal(t, test.want-1, c.Snapshot().InFlight)
				for _, p := range held[1:] {
					p.Done(Result{})
				}
				require.Equal(t, State{Spent: Spend{Requests: int64(test.want) + 2}}, c.Snapshot().State)
			})
		})
	}
}

func TestCandidatesAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Concurrency: 1}).Lane("p", "k")
		first := acquire(t, l, Request{})
		var mu sync.Mutex
		var order []string
		for _, name := range []string{"a1", "a2", "a3", "a4", "b1", "c1", "b2", "c2"} {
			queue(t, l, Request{Candidate: name[:1]}, func(p *Permit, err error) {
				require.NoError(t, err)
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				time.Sleep(time.Second)
				p.Done(Result{})
			})
		}
		first.Done(Result{})
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"a1", "b1", "c1", "a2", "b2", "c2", "a3", "a4"}, order)
	})
}

func TestAcquireEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Concurrency: 1})
		l := c.Lane("p", "k")
		over, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := l.Acquire(over, Request{})
		require.ErrorIs(t, err, context.Canceled)

		held := acquire(t, l, Request{})
		var order []int
		for i := range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), []time.Duration{time.Hour, time.Second, time.Hour}[i])
			defer cancel()
			go func() {
				p, err := l.Acquire(ctx, Request{Candidate: "a", Input: 5})
				if i == 1 {
					require.ErrorIs(t, err, context.DeadlineExceeded)
					return
				}
				require.NoError(t, err)
				order = append(order, i)
				p.Done(Result{})
			}()
			synctest.Wait()
		}
		require.Equal(t, 3, c.Snapshot().Waiting)
		time.Sleep(2 * time.Second)
		require.Equal(t, 2, c.Snapshot().Waiting)
		held.Done(Result{}) // then one lets the other go
		synctest.Wait()
		require.Equal(t, []int{0, 2}, order)
		require.Equal(t, State{Spent: Spend{Tokens: 10, Requests: 3}}, c.Snapshot().State)
	})
}

// A request whose context ends when it gets its permit is not sent, and returns everything that was
// granted.
func TestAbandonedAsItIsLetGo(t *testing.T) {
	now := time.Unix(0, 0)
	c := New(Options{Concurrency: 1, Caps: Caps{Requests: 2}, Now: func() time.Time { return now }, Providers: map[string]Limits{"p": {RequestsPerMinute: 2, TokensPerMinute: 9}}})
	l := c.Lane("p", "k")
	held := acquire(t, l, Request{Output: 1})
	p, err := l.permit(Request{Output: 8})
	require.NoError(t, err)
	p.ready = make(chan error, 1)
	l.enter(p)
	held.Done(Result{}) // lets p go
	require.Equal(t, 1, c.Snapshot().InFlight)
	p.abandon()
	require.Equal(t, State{Spent: Spend{0, 1, 1}}, c.Snapshot().State)
	acquire(t, l, Request{Output: 8}).Done(Result{})
}

func TestBucketHoldsAMinutesWorth(t *testing.T) {
	now := time.Unix(0, 0)
	b := newBucket(60, now)
	b.take(30, now)
	b.take(-40, now)
	require.Zero(t, b.wait(60, now))
	b.take(60, now)
	require.Equal(t, time.Second, b.wait(1, now))
	require.Equal(t, time.Minute, b.wait(1e9, now))
	require.Equal(t, 30*time.Second, b.wait(60, now.Add(30*time.Second)))
	require.Equal(t, 30*time.Second, b.wait(60, now), "a clock that goes back fills nothing twice")
	require.Zero(t, b.wait(60, now.Add(time.Hour)))
	b.take(61, now.Add(time.Hour))
	require.Equal(t, 2*time.Second, b.wait(1, now.Add(time.Hour)))
	none := newBucket(-1, now)
	none.take(1e9, now)
	require.Zero(t, none.wait(1e9, now))
}

func TestRequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Providers: map[string]Limits{"p": {RequestsPerMinute: 60}}})
		l := c.Lane("p", "k")
		start := time.Now()
		var at []time.Duration
		for range 65 {
			p, err := l.Acquire(t.Context(), Request{})
			require.NoError(t, err)
			at = append(at, time.Since(start))
			p.Done(failure(fault.InvalidRequest)) // counts, too
		}
		require.Zero(t, at[59], "a minute's worth at once")
		for i, d := range at[60:] {
			require.InDelta(t, float64(i+1), d.Seconds(), 1e-3, "then one a second")
		}
	})
}

func TestTokensPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Providers: map[string]Limits{"p": {TokensPerMinute: 6000}}})
		l := c.Lane("p", "k")
		start := time.Now()
		goes := func(r Request, after float64) *Permit {
			t.Helper()
			p, err := l.Acquire(t.Context(), r)
			require.NoError(t, err)
			require.InDelta(t, after, time.Since(start).Seconds(), 1e-3)
			return p
		}
		a := goes(Request{Input: 8000, Output: 3000}, 0) // charged 2000 + 3000
		b := goes(Request{Output: 1000}, 0)
		a.Done(Result{Usage: providers.Usage{Reported: true, Input: 4000, Output: 500}}) // 500 back
		c1 := goes(Request{Output: 600}, 1)                                              // 100 a second
		b.Done(failure(fault.Overloaded))                                                // all of it back
		goes(Request{Output: 1000}, 1).Done(Result{})
		goes(Request{Output: 100_000}, 61).Done(Result{}) // more than the bucket: goes when it is full
		goes(Request{Output: 1}, 61+940.01).Done(Result{})
		c1.Done(Result{})
	})
}

func TestLogOfLimitsNamesNoKey(t *testing.T) {
	var changes []Change
	c := New(Options{Changed: func(c Change) { changes = append(changes, c) }})
	c.Lane("p", "secret-1")
	c.Lane("p", "secret-2")
	c.Lane("q", "secret-1")
	require.Len(t, changes, 3)
	for i, want := range []Change{{Provider: "p", Lane: 1}, {Provider: "p", Lane: 2}, {Provider: "q", Lane: 1}} {
		want.At, want.Limit, want.Why = changes[i].At, 8, Start
		require.Equal(t, want, changes[i])
	}
	require.NotContains(t, fmt.Sprintf("%+v %+v", c.Snapshot(), c.lanes[0]), "secret")
}

func TestSnapshot(t *testing.T) {
	c := New(Options{})
	held := acquire(t, c.Lane("q", "k"), Request{Input: 3, Output: 4, CostNanoUSD: 5})
	acquire(t, c.Lane("p", "k"), Request{Input: 9, Output: 9, CostNanoUSD: 9}).Done(Result{
		Usage: providers.Usage{Reported: true, Input: 1, CacheRead: 1}, CostNanoUSD: cost(2),
	})
	want := Snapshot{
		State: State{Spent: Spend{2, 2, 1}, Reserved: Spend{5, 7, 1}, InFlight: 1},
		Providers: []ProviderState{
			{"p", State{Spent: Spend{2, 2, 1}}, []LaneState{{Lane: 1, Limit: 8}}},
			{"q", State{Reserved: Spend{5, 7, 1}, InFlight: 1}, []LaneState{{Lane: 1, Limit: 8, InFlight: 1}}},
		},
	}
	require.Equal(t, want, c.Snapshot())
	held.Done(Result{Err: errors.New("no more")})
	require.Equal(t, Spend{7, 9, 2}, c.Snapshot().Spent)
}
