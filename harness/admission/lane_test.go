package admission

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

func (l *Lane) limits() int { return l.control.Snapshot().Providers[0].Lanes[0].Limit }

func TestLimitFalls(t *testing.T) {
	for _, kind := range []fault.Kind{fault.RateLimit, fault.Overloaded} {
		t.Run(string(kind), func(t *testing.T) {
			start := time.Now()
			now := start
			var changes []Change
			l := New(Options{Changed: func(c Change) { changes = append(changes, c) }, Now: func() time.Time { return now }}).Lane("p", "k")
			var held []*Permit
			for range 8 {
				held = append(held, acquire(t, l, Request{}))
			}
			for _, p := range held[:6] {
				p.Done(failure(kind))
				require.Equal(t, 4, l.limits(), "once a round trip")
			}
			later := acquire(t, l, Request{})
			held[6].Done(failure(kind))
			require.Equal(t, 4, l.limits())
			later.Done(failure(kind))
			require.Equal(t, 2, l.limits(), "a request sent since is news")
			held[7].Done(failure(kind))
			acquire(t, l, Request{}).Done(failure(kind))
			require.Equal(t, 1, l.limits())
			acquire(t, l, Request{}).Done(failure(kind))
			require.Equal(t, 1, l.limits(), "at least one")
			var history []string
			for _, c := range changes {
				history = append(history, fmt.Sprint(c.Limit, " ", c.Why, " ", max(0, c.Until.Sub(start))))
			}
			why := " " + string(kind)
			require.Equal(t, []string{"8 start 0s", "4" + why + " 0s", "2" + why + " 0s", "1" + why + " 0s", "1" + why + " 20ms"}, history)
		})
	}
	t.Run("of no other failure", func(t *testing.T) {
		l := New(Options{}).Lane("p", "k")
		for _, kind := range []fault.Kind{fault.Auth, fault.TimedOut, fault.Transport, fault.Malformed, fault.Quota} {
			acquire(t, l, Request{}).Done(failure(kind))
		}
		require.Equal(t, 8, l.limits())
	})
}

// During an outage, requests become rarer; the first success ends the pauses.
func TestBackoffBelowOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Concurrency: 1}).Lane("p", "k")
		for _, want := range []time.Duration{0, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20480, 30000, 30000} {
			p, err := l.Acquire(t.Context(), Request{})
			require.NoError(t, err)
			require.Equal(t, want*time.Millisecond, p.Waited)
			p.Done(failure(fault.Overloaded))
		}
		for _, want := range []time.Duration{30000, 0, 20} {
			p, err := l.Acquire(t.Context(), Request{})
			require.NoError(t, err)
			require.Equal(t, want*time.Millisecond, p.Waited)
			if want == 0 {
				p.Done(failure(fault.RateLimit))
			} else {
				p.Done(Result{})
			}
		}
	})
}

func TestLimitRises(t *testing.T) {
	var changes []Change
	l := New(Options{Concurrency: 4, Changed: func(c Change) { changes = append(changes, c) }}).Lane("p", "k")
	held := []*Permit{acquire(t, l, Request{}), acquire(t, l, Request{})}
	held[0].Done(failure(fault.RateLimit))
	held[1].Done(Result{})
	require.InDelta(t, 2, l.limit, 0, "one in flight does not use a limit of two")
	for i, want := range []int{2, 2, 3, 3, 3, 4, 4, 4} { // 2.5, 2.9, 3.24, 3.55, 3.83, 4
		var held []*Permit
		for range int(l.limit) {
			held = append(held, acquire(t, l, Request{}))
		}
		held[0].Done(Result{})
		for _, p := range held[1:] {
			p.Done(failure(fault.Transport)) // says nothing
		}
		require.Equal(t, want, l.limits(), "round %d", i)
	}
	require.InDelta(t, 4, l.limit, 0, "never above what is configured")
	last := changes[len(changes)-1]
	require.Equal(t, Recovered, last.Why)
	require.Equal(t, 4, last.Limit)
}

func TestRetryAfterPausesTheLane(t *testing.T) {
	for _, test := range []struct {
		name  string
		kind  fault.Kind
		after time.Duration
		want  time.Duration
	}{
		{"rate limit", fault.RateLimit, 20 * time.Second, 20 * time.Second},
		{"overloaded", fault.Overloaded, 10 * time.Minute, 10 * time.Minute},
		{"too long to believe", fault.RateLimit, 1000 * time.Hour, time.Hour},
		{"none", fault.RateLimit, 0, 0},
		{"nonsense", fault.RateLimit, -time.Hour, 0},
		{"of another failure", fault.Transport, time.Minute, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var paused []time.Time
				c := New(Options{Changed: func(c Change) {
					if !c.Until.IsZero() {
						paused = append(paused, c.Until)
					}
				}})
				l := c.Lane("p", "k")
				held := []*Permit{acquire(t, l, Request{}), acquire(t, l, Request{}), acquire(t, l, Request{})}
				start := time.Now()
				advice := Result{Err: &fault.Error{Kind: test.kind, RetryAfter: test.after}}
				held[0].Done(advice)
				held[1].Done(Result{Err: &fault.Error{Kind: test.kind, RetryAfter: test.after / 2}})
				acquire(t, c.Lane("p", "another"), Request{}).Done(Result{})
				p, err := l.Acquire(t.Context(), Request{})
				require.NoError(t, err)
				require.Equal(t, test.want, time.Since(start))
				require.Equal(t, test.want, p.Waited)
				p.Done(Result{})
				held[2].Done(Result{})
				if test.want > 0 {
					require.Equal(t, []time.Time{start.Add(test.want)}, paused)
				} else {
					require.Empty(t, paused)
				}
			})
		})
	}
}

// hidden is a provider that refuses requests above a number in flight.
type hidden struct {
	capacity, inFlight, refused atomic.Int64
}

func (h *hidden) call(latency time.Duration) Result {
	defer h.inFlight.Add(-1)
	if h.inFlight.Add(1) > h.capacity.Load() {
		h.refused.Add(1)
		time.Sleep(10 * time.Millisecond)
		return failure(fault.RateLimit)
	}
	time.Sleep(latency)
	return Result{}
}

// The limit follows an unknown capacity up and down, and no candidate is starved.
func TestLimitConvergesToAHiddenCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Concurrency: 64}).Lane("p", "k")
		var provider hidden
		var mu sync.Mutex
		served := map[string]int{}
		var wg sync.WaitGroup
		stop := time.Now().Add(10 * time.Minute)
		rng := rand.New(rand.NewPCG(1, 1))
		for worker := range 96 { // two of three are of the first candidate
			name := []string{"a", "a", "a", "a", "b", "c"}[worker%6]
			wg.Go(func() {
				for time.Now().Before(stop) {
					p, err := l.Acquire(t.Context(), Request{Candidate: name})
					require.NoError(t, err)
					mu.Lock()
					latency := time.Duration(200+rng.IntN(600)) * time.Millisecond
					mu.Unlock()
					r := provider.call(latency)
					p.Done(r)
					if r.Err == nil {
						mu.Lock()
						served[name]++
						mu.Unlock()
					}
				}
			})
		}
		for _, capacity := range []int64{10, 40, 3} {
			provider.capacity.Store(capacity)
			time.Sleep(time.Minute)
			before := provider.refused.Load()
			sum, n := 0, 0
			for range 1000 {
				time.Sleep(131 * time.Millisecond)
				sum += l.limits()
				n++
			}
			mean := float64(sum) / float64(n)
			t.Logf("capacity %d: mean limit %.1f, %d refused in 131 s", capacity, mean, provider.refused.Load()-before)
			require.InDelta(t, float64(capacity)*0.8, mean, float64(capacity)*0.4)
		}
		wg.Wait()
		t.Logf("served: %v", served)
		for _, name := range []string{"b", "c"} {
			require.InEpsilon(t, served["a"], served[name], 0.1)
		}
	})
}

// A provider that refuses half of all requests finally answers every one of them.
func TestHalfOfAllRequestsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Caps: Caps{Tokens: 100_000}})
		l := c.Lane("p", "k")
		var n, answered atomic.Int64
		var wg sync.WaitGroup
		for episode := range 500 {
			wg.Go(func() {
				for {
					p, err := l.Acquire(t.Context(), Request{Candidate: fmt.Sprint(episode % 7), Input: 100})
					require.NoError(t, err)
					time.Sleep(time.Duration(n.Load()%13) * time.Millisecond)
					if n.Add(1)%2 == 0 {
						p.Done(Result{Err: &fault.Error{Kind: fault.RateLimit, RetryAfter: time.Duration(n.Load()%3) * time.Second}})
						continue
					}
					p.Done(Result{Usage: providers.Usage{Reported: true, Input: 100}})
					answered.Add(1)
					return
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 500, answered.Load())
		require.Equal(t, State{Spent: Spend{Tokens: 50_000, Requests: n.Load()}}, c.Snapshot().State)
	})
}
