package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// billing is what the providers have actually billed, and their caps.
type billing struct {
	mu    sync.Mutex
	run   Spend
	each  map[string]Spend
	caps  Caps
	limit map[string]Limits
	over  error
}

func (b *billing) add(provider string, s Spend) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.run, b.each[provider] = b.run.Plus(s), b.each[provider].Plus(s)
	for of, over := range map[string]bool{"run": exceeds(b.caps, b.run), provider: exceeds(b.limit[provider].Caps, b.each[provider])} {
		if over {
			b.over = errors.Join(b.over, fmt.Errorf("the cap of %s is exceeded", of))
		}
	}
}

func exceeds(c Caps, s Spend) bool {
	above := func(limit, n int64) bool { return limit > 0 && n > limit }
	return above(c.CostNanoUSD, s.CostNanoUSD) || above(c.Tokens, s.Tokens) || above(c.Requests, s.Requests)
}

// randomCaps sets about half of the caps.
func randomCaps(rng *rand.Rand, most int64) (c Caps) {
	for _, field := range []*int64{&c.CostNanoUSD, &c.Tokens, &c.Requests} {
		if rng.IntN(2) == 0 {
			*field = 1 + rng.Int64N(most)
		}
	}
	c.Requests /= 1000
	return c
}

// randomRun sends up to 64 requests in parallel, with random costs, failures and
// cancellations. It checks that no cap is ever exceeded and that every request gets an
// answer.
func randomRun(t *testing.T, seed uint64, log *SpendLog) (requests, refused int64) {
	rng := rand.New(rand.NewPCG(seed, 64))
	names := []string{"p", "q", "r"}
	o := Options{Caps: randomCaps(rng, 400_000), Concurrency: 1 + rng.IntN(64), Providers: map[string]Limits{}, Log: log}
	for _, name := range names {
		o.Providers[name] = Limits{
			Concurrency: rng.IntN(20), RequestsPerMinute: rng.Int64N(3) * 50, TokensPerMinute: rng.Int64N(3) * 5000,
			Caps: randomCaps(rng, 300_000),
		}
	}
	c := New(o)
	truth := billing{each: map[string]Spend{}, caps: o.Caps, limit: o.Providers}
	var sent, stopped atomic.Int64
	var wg sync.WaitGroup
	for worker := range 64 {
		rng := rand.New(rand.NewPCG(seed, uint64(worker)))
		wg.Go(func() {
			for range 12 {
				provider := names[rng.IntN(len(names))]
				ctx, cancel := context.WithCancel(t.Context())
				if rng.IntN(8) == 0 {
					ctx, cancel = context.WithTimeout(t.Context(), time.Duration(rng.IntN(3000))*time.Millisecond)
				}
				lane := c.Lane(provider, fmt.Sprint(rng.IntN(2)))
				r := Request{Candidate: fmt.Sprint(worker % 5), Input: rng.Int64N(1000), Output: rng.Int64N(500), CostNanoUSD: rng.Int64N(2000)}
				p, err := lane.Acquire(ctx, r)
				switch {
				case errors.Is(err, ErrCapped):
					stopped.Add(1)
					require.ErrorIs(t, c.Capped(provider), ErrCapped)
				case err != nil:
					require.ErrorIs(t, err, context.DeadlineExceeded)
				default:
					sent.Add(1)
					result, billed := answer(rng, r)
					truth.add(provider, billed)
					s := c.Snapshot()
					require.False(t, exceeds(o.Caps, s.Spent.Plus(s.Reserved)))
					time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
					if rng.IntN(20) == 0 {
						p.Header(headers("RateLimit-Remaining", fmt.Sprint(rng.IntN(9)), "RateLimit-Reset", fmt.Sprint(rng.IntN(9))))
					}
					p.Done(result)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	require.NoError(t, truth.over)
	s := c.Snapshot()
	require.Zero(t, s.Reserved)
	require.Zero(t, s.InFlight+s.Waiting)
	require.Equal(t, sent.Load(), s.Spent.Requests, "every attempt counts, and nothing else")
	require.GreaterOrEqual(t, s.Spent.CostNanoUSD, truth.run.CostNanoUSD, "what is billed is counted")
	require.GreaterOrEqual(t, s.Spent.Tokens, truth.run.Tokens)
	return sent.Load(), stopped.Load()
}

// answer draws the result of a request and what is actually billed for it.
func answer(rng *rand.Rand, r Request) (Result, Spend) {
	u := providers.Usage{Reported: true, Input: rng.Int64N(r.Input + 1), Output: rng.Int64N(r.Output + 1)}
	billed := Spend{CostNanoUSD: rng.Int64N(r.CostNanoUSD + 1), Tokens: u.Total(), Requests: 1}
	advice := time.Duration(rng.IntN(4)) * time.Second
	switch rng.IntN(10) {
	case 0:
		return Result{Err: &fault.Error{Kind: fault.RateLimit, RetryAfter: advice}}, Spend{Requests: 1}
	case 1:
		return Result{Err: &fault.Error{Kind: fault.Overloaded}}, Spend{Requests: 1}
	case 2: // billed, but not reported
		return Result{Err: &fault.Error{Kind: fault.TimedOut}}, billed
	case 3: // the partial stream reports less than is billed
		u.Output = 0
		return Result{Err: &fault.Error{Kind: fault.Transport, Partial: true}, Usage: u, CostNanoUSD: cost(0)}, billed
	case 4:
		return Result{}, billed
	}
	return Result{Usage: u, CostNanoUSD: &billed.CostNanoUSD}, billed
}

func TestSpendIsNeverAboveACap(t *testing.T) {
	runs := testkit.Long(testkit.SlowN(100, 300), 1000)
	if testing.Short() {
		runs = 50
	}
	var requests, refused int64
	for seed := range runs {
		synctest.Test(t, func(t *testing.T) {
			n, no := randomRun(t, uint64(seed), nil)
			requests, refused = requests+n, refused+no
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d requests sent, %d refused by a cap", requests, refused)
	require.Positive(t, refused)
}

// The log of a random run, read again, has the same spending as the control.
func TestSpendLogOfRandomRuns(t *testing.T) {
	for seed := range 20 {
		path := filepath.Join(t.TempDir(), "spend.log")
		log := openLog(t, path)
		var requests int64
		synctest.Test(t, func(t *testing.T) { requests, _ = randomRun(t, uint64(seed), log) })
		spent := log.Spent()
		require.NoError(t, log.Close())
		again := openLog(t, path)
		require.Equal(t, spent, again.Spent())
		require.Empty(t, again.unsettled)
		for _, s := range spent {
			requests -= s.Requests
		}
		require.Zero(t, requests)
		require.NoError(t, again.Close())
	}
}
