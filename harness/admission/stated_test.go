package admission

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/retry"
)

// refilling is a provider with a token bucket of requests. Its headers state the rest
// of the bucket.
type refilling struct {
	lane    *Lane
	latency func() time.Duration // one way
	// says writes the headers: the rest, the time until the bucket is full and, for a
	// refusal, the time until a request is available.
	says func(h http.Header, left float64, full, next time.Duration)

	mu              sync.Mutex
	bucket          bucket
	served, refused int
}

// Call implements providers.Model.
func (s *refilling) Call(ctx context.Context, _ providers.Call) (reply providers.Reply, err error) {
	p, err := s.lane.Acquire(ctx, Request{})
	if err != nil {
		return reply, err
	}
	time.Sleep(s.latency())
	h, advice := s.ask()
	time.Sleep(s.latency())
	p.Header(h)
	if advice > 0 {
		err = &fault.Error{Kind: fault.RateLimit, RetryAfter: advice}
	}
	p.Done(Result{Err: err})
	return reply, err
}

func (s *refilling) ask() (h http.Header, advice time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	wait := s.bucket.wait(1, now)
	if wait == 0 {
		s.bucket.take(1, now)
		s.served++
	} else {
		s.refused++
		advice = wait.Truncate(time.Second) + time.Second
	}
	h = http.Header{}
	s.says(h, math.Floor(s.bucket.level), s.bucket.wait(s.bucket.size, now), advice)
	return h, advice
}

// openAI writes OpenAI's headers, with the limit unless it is 0.
func openAI(limit int) func(http.Header, float64, time.Duration, time.Duration) {
	return func(h http.Header, left float64, full, _ time.Duration) {
		if limit > 0 {
			h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(limit))
		}
		h.Set("X-Ratelimit-Remaining-Requests", fmt.Sprint(left))
		h.Set("X-Ratelimit-Reset-Requests", full.String())
	}
}

// A run of short requests takes little longer than the provider's rate allows, with few
// refusals, for every form of the headers and every initial level.
func TestRequestsWaitForTheNeededAmount(t *testing.T) {
	for _, test := range []struct {
		name     string
		capacity float64
		rate     float64 // per second
		level    float64
		requests int
		says     func(http.Header, float64, time.Duration, time.Duration)
	}{
		{"openai", 3, 1, 3, 20, openAI(3)},
		{"a stated limit that is not the size of the bucket", 3, 1, 3, 20, openAI(60)},
		{"no limit stated", 3, 1, 3, 20, openAI(0)},
		{"a minute's worth", 60, 1, 60, 80, openAI(60)},
		{"a minute's worth that others have used", 60, 1, 2, 30, openAI(60)},
		{"fast", 500, 500.0 / 60, 10, 100, openAI(500)},
		{"a day's worth", 14400, 1.0 / 6, 5, 15, openAI(14400)},
		{"anthropic", 50, 50.0 / 60, 4, 30, func(h http.Header, left float64, full, _ time.Duration) {
			h.Set("Anthropic-Ratelimit-Requests-Limit", "50")
			h.Set("Anthropic-Ratelimit-Requests-Remaining", fmt.Sprint(left))
			h.Set("Anthropic-Ratelimit-Requests-Reset", time.Now().Add(full+time.Second-1).UTC().Format(time.RFC3339))
			h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 1))
				var mu sync.Mutex
				start := time.Now()
				s := &refilling{says: test.says, lane: New(Options{}).Lane("p", "k")}
				s.latency = func() time.Duration {
					mu.Lock()
					defer mu.Unlock()
					return time.Duration(20+rng.IntN(20)) * time.Millisecond
				}
				s.bucket = bucket{size: test.capacity, level: test.level, rate: test.rate, at: start}
				work := make(chan int, test.requests)
				for i := range test.requests {
					work <- i
				}
				close(work)
				failed := 0
				var wg sync.WaitGroup
				for range 8 {
					wg.Go(func() {
						model := retry.New(s, retry.Policy{})
						for i := range work {
							if _, err := model.Call(t.Context(), providers.Call{RequestID: fmt.Sprint(i)}); err != nil {
								mu.Lock()
								failed++
								mu.Unlock()
							}
						}
					})
				}
				wg.Wait()
				possible := time.Duration((float64(test.requests) - test.level) / test.rate * float64(time.Second))
				took := time.Since(start)
				t.Logf("%v, %v possible, %d refused", took, possible, s.refused)
				require.Zero(t, failed)
				require.Equal(t, test.requests, s.served)
				require.LessOrEqual(t, took, possible+possible/10+300*time.Millisecond)
				require.LessOrEqual(t, s.refused, 12, "those that were sent before anything was known, and few others")
			})
		})
	}
}

// Retry-After takes precedence over every reset header. A refusal without it waits
// until the reset.
func TestAdviceOutranksResets(t *testing.T) {
	for name, header := range map[string]http.Header{
		"openai":           headers("X-Ratelimit-Limit-Requests", "60", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "6m0s"),
		"without a limit":  headers("X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "6m0s"),
		"tokens":           headers("X-Ratelimit-Limit-Tokens", "600", "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "6m0s"),
		"anthropic":        headers("Date", "Fri, 01 May 2026 12:00:00 GMT", "Anthropic-Ratelimit-Requests-Limit", "60", "Anthropic-Ratelimit-Requests-Remaining", "0", "Anthropic-Ratelimit-Requests-Reset", "2026-05-01T12:06:00Z"),
		"anthropic, input": headers("Date", "Fri, 01 May 2026 12:00:00 GMT", "Anthropic-Ratelimit-Input-Tokens-Limit", "600", "Anthropic-Ratelimit-Input-Tokens-Remaining", "0", "Anthropic-Ratelimit-Input-Tokens-Reset", "2026-05-01T12:06:00Z"),
		"a window":         headers("X-Ratelimit-Remaining", "0", "X-Ratelimit-Reset", "360"),
		"a spread window":  headers("X-Ratelimit-Remaining", "1", "X-Ratelimit-Reset", "360"),
	} {
		for advice, want := range map[time.Duration]time.Duration{time.Second: time.Second, 20 * time.Millisecond: 20 * time.Millisecond, 0: 2 * time.Minute} {
			t.Run(fmt.Sprint(name, " ", advice), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := New(Options{}).Lane("p", "k")
					each := Request{Input: 2400, Output: 1000}
					p, late := acquire(t, l, each), acquire(t, l, each)
					p.Header(header)
					p.Done(Result{Err: &fault.Error{Kind: fault.RateLimit, RetryAfter: advice}})
					if advice > 0 {
						late.Header(header) // the server wrote this header before the refusal
					}
					start := time.Now()
					p, err := l.Acquire(t.Context(), each)
					require.NoError(t, err)
					if name == "a spread window" && advice == 0 {
						want = 0 // one request is left
					}
					require.Equal(t, want, time.Since(start).Truncate(time.Millisecond))
					p.Done(Result{})
					late.Done(Result{})
				})
			})
			t.Run(name+", and no wait", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := New(Options{}).Lane("p", "k")
					p := acquire(t, l, Request{})
					with := header.Clone()
					with.Set("Retry-After", "0")
					p.Header(with)
					p.Done(failure(fault.RateLimit))
					acquire(t, l, Request{}).Done(Result{})
				})
			})
		}
	}
}
