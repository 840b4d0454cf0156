// Package traffic simulates the requests of many episodes through cupel's own admission, on the
// virtual clock of synctest.
package traffic

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/admission/shared"
)

// Traffic is the episodes of one model.
type Traffic struct {
	// Episodes is their number, and Limits are those of the provider. Limits.Concurrency episodes
	// are in progress at a time, in each process.
	Episodes int
	Limits   admission.Limits
	// Workers is the number of processes that share the limits; 0 means one, which shares nothing.
	Workers int
	// Request is the worst case of each request, and Result what it uses.
	Request admission.Request
	Result  admission.Result
	// Turns draws the turns of an episode, Latency the time of a request.
	Turns   func(*rand.Rand) int
	Latency func(*rand.Rand) time.Duration
}

// Amount is what it took.
type Amount struct {
	Turns    int64
	Time     time.Duration
	InFlight int // the most requests in flight, in a process
}

// Simulate sends all requests. Equal arguments give equal results, unless there are several workers,
// of which chance decides who is first.
func Simulate(t *testing.T, rng *rand.Rand, s Traffic) (a Amount) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		controls, leave := s.controls(t)
		defer leave()
		var mu sync.Mutex
		left, start := s.Episodes, time.Now() //nolint:forbidigo // the virtual clock
		next := func() (turns int, seed uint64) {
			mu.Lock()
			defer mu.Unlock()
			if left == 0 {
				return 0, 0
			}
			left--
			return s.Turns(rng), rng.Uint64()
		}
		var all sync.WaitGroup
		for i := range len(controls) * s.Limits.Concurrency {
			c := controls[i%len(controls)]
			lane := c.Lane("p", "key")
			all.Go(func() {
				for turns, seed := next(); turns > 0; turns, seed = next() {
					rng := rand.New(rand.NewPCG(seed, 0))
					for range turns {
						p, err := lane.Acquire(t.Context(), s.Request)
						if err != nil {
							t.Error(err)
							return
						}
						time.Sleep(s.Latency(rng))
						p.Done(s.Result)
					}
					mu.Lock()
					a.Turns += int64(turns)
					a.InFlight = max(a.InFlight, c.Snapshot().InFlight)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		a.Time = time.Since(start)
	})
	return a
}

// controls makes the admission of each process.
func (s Traffic) controls(t *testing.T) (list []*admission.Control, leave func()) {
	limits := map[string]admission.Limits{"p": s.Limits}
	if s.Workers == 0 {
		return []*admission.Control{admission.New(admission.Options{Providers: limits})}, func() {}
	}
	pool, err := shared.Create(t.Context(), shared.Memory(), "limits", shared.Config{Identity: "run", Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	var leaves []func() error
	for range s.Workers {
		m := pool.Member(shared.Options{})
		c := admission.New(admission.Options{Providers: limits, Shared: true, Wanted: m.Wanted})
		leave, err := m.Join(c, "")
		if err != nil {
			t.Fatal(err)
		}
		list, leaves = append(list, c), append(leaves, leave)
	}
	return list, func() {
		for _, leave := range leaves {
			if err := leave(); err != nil {
				t.Error(err)
			}
		}
	}
}
