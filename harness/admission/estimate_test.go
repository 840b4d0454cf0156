package admission

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// tokeniser is a model that bills up to perByte tokens for each byte of a prompt, and
// replies of up to longest tokens.
type tokeniser struct {
	perByte float64
	longest int64
}

// bill returns the random bill of a request.
func (m tokeniser) bill(rng *rand.Rand, r Request) providers.Usage {
	share := m.perByte * (0.5 + rng.Float64()/2)
	return providers.Usage{Reported: true, Input: 1 + int64(share*float64(r.Text)), Output: min(rng.Int64N(m.longest+1), r.Output)}
}

func priceOf(input, output int64) (int64, bool) { return input + 4*output, true }

// prompt is a request of a candidate with so many bytes of prompt.
func prompt(model string, bytes int64) Request {
	r := Request{Candidate: model, Model: model, Input: bytes + 1000, Output: 4000, Text: bytes, Price: priceOf}
	r.CostNanoUSD, _ = priceOf(r.Input, r.Output)
	return r
}

// unreliableRun sends requests to several models at a concurrency of 8 until a cap
// binds. A share of the replies reports no usage. It returns the bill.
func unreliableRun(t *testing.T, seed uint64, caps Caps, share float64, models map[string]tokeniser, log *SpendLog) (billed Spend) {
	c := New(Options{Caps: caps, Log: log})
	var mu sync.Mutex
	var wg sync.WaitGroup
	for name, m := range models {
		rng := rand.New(rand.NewPCG(seed, uint64(len(name))))
		for range 4 {
			wg.Go(func() {
				lane := c.Lane("p", "k")
				for {
					mu.Lock()
					r := prompt(name, 500+rng.Int64N(8000))
					u, fate, wait := m.bill(rng, r), rng.Float64(), time.Duration(rng.IntN(2000))*time.Millisecond
					mu.Unlock()
					p, err := lane.Acquire(t.Context(), r)
					if err != nil {
						require.ErrorIs(t, err, ErrCapped)
						return
					}
					nano, _ := priceOf(u.Input, u.Output)
					mu.Lock()
					billed = billed.Plus(Spend{nano, u.Total(), 1})
					mu.Unlock()
					time.Sleep(wait)
					result := Result{Usage: u, CostNanoUSD: &nano}
					if fate < share {
						kinds := []fault.Kind{fault.Transport, fault.Malformed}
						result = Result{Err: &fault.Error{Kind: kinds[int(1000*fate)%2]}}
					}
					p.Done(result)
				}
			})
		}
	}
	wg.Wait()
	return billed
}

// TestMissingReportsLeaveHalfTheCap checks that no cap is exceeded and at least half of it is used,
// with any tokenisers and reply lengths.
func TestMissingReportsLeaveHalfTheCap(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			caps := Caps{Tokens: 400_000}
			if seed%2 == 0 {
				caps = Caps{CostNanoUSD: 1_200_000}
			}
			models := map[string]tokeniser{}
			for _, name := range []string{"a", "bb", "ccc"} {
				models[name] = tokeniser{0.1 + 0.3*rng.Float64(), int64(1) << (4 + rng.IntN(6))}
			}
			billed := unreliableRun(t, seed, caps, 0.4, models, nil)
			require.False(t, exceeds(caps, billed), "%+v of %+v", billed, caps)
			if seed%2 == 0 {
				require.GreaterOrEqual(t, billed.CostNanoUSD, caps.CostNanoUSD/2)
			} else {
				require.GreaterOrEqual(t, billed.Tokens, caps.Tokens/2)
			}
		})
	}
}

// One token per byte and the longest replies stay within the cap, reported or not.
func TestByteTokenisersStayBelowTheCap(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 8))
			models := map[string]tokeniser{"a": {rng.Float64(), 4000}, "bb": {1, rng.Int64N(4000)}, "ccc": {1, 4000}}
			caps := Caps{Tokens: 10_000 + rng.Int64N(300_000), CostNanoUSD: 20_000 + rng.Int64N(1_000_000)}
			billed := unreliableRun(t, seed, caps, rng.Float64(), models, nil)
			require.False(t, exceeds(caps, billed), "%+v of %+v", billed, caps)
		})
	}
}

// Cheap requests in the past do not change the reservations of those in flight: even if each reaches
// its worst case, they stay within the cap.
func TestCheapRequestsDoNotLowerReservations(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			c := New(Options{Caps: Caps{Tokens: 100_000}})
			l := c.Lane("p", "k")
			billed := int64(0)
			for range 50 {
				acquire(t, l, prompt("m", 5000)).Done(Result{Usage: providers.Usage{Reported: true, Input: 10, Output: 1}, CostNanoUSD: cost(14)})
				billed += 11
			}
			rng := rand.New(rand.NewPCG(seed, 9))
			var wg sync.WaitGroup
			var mu sync.Mutex
			for range 8 {
				wg.Go(func() {
					for {
						mu.Lock()
						r := prompt("m", 1+rng.Int64N(20_000))
						mu.Unlock()
						p, err := l.Acquire(t.Context(), r)
						if err != nil {
							return
						}
						mu.Lock()
						billed += r.Input + r.Output
						require.LessOrEqual(t, billed, int64(100_000))
						mu.Unlock()
						time.Sleep(time.Second)
						p.Done(Result{Usage: providers.Usage{Reported: true, Input: r.Input, Output: r.Output}, CostNanoUSD: cost(1)})
					}
				})
			}
			wg.Wait()
			require.Greater(t, billed, int64(50_000))
		})
	}
}

// TestEstimate checks the estimates for requests without reported usage.
func TestEstimate(t *testing.T) {
	reported := func(c *Control, n int) {
		for range n {
			acquire(t, c.Lane("p", "k"), prompt("m", 1000)).Done(Result{Usage: providers.Usage{Reported: true, Input: 200, CacheRead: 100, Output: 30, Reasoning: 10}, CostNanoUSD: cost(1)})
		}
	}
	broken := Result{Err: &fault.Error{Kind: fault.Transport, Partial: true}}
	for name, test := range map[string]struct {
		before, after int // requests with a report
		request       Request
		result        Result
		want          Spend // of the request without one
	}{
		"nothing observed":           {0, 0, prompt("m", 2000), broken, Spend{19000, 7000, 1}},
		"too little observed":        {4, 3, prompt("m", 2000), broken, Spend{19000, 7000, 1}},
		"observed before":            {8, 0, prompt("m", 2000), broken, Spend{900 + 4*60, 960, 1}},
		"observed later":             {4, 4, prompt("m", 2000), broken, Spend{900 + 4*60, 960, 1}},
		"another model":              {8, 0, prompt("n", 2000), broken, Spend{19000, 7000, 1}},
		"a shorter prompt":           {8, 0, prompt("m", 100), broken, Spend{450 + 4*60, 510, 1}},
		"never above the worst case": {8, 0, Request{Model: "m", Input: 400, Output: 20, Text: 2000, CostNanoUSD: 440, Price: priceOf}, broken, Spend{440, 420, 1}},
		"text that is not ASCII":     {8, 0, Request{Model: "m", Input: 9000, Output: 4000, Text: 1000, Other: 700, CostNanoUSD: 25000, Price: priceOf}, broken, Spend{1150 + 4*60, 1210, 1}},
		"a timeout":                  {8, 0, prompt("m", 2000), Result{Err: &fault.Error{Kind: fault.TimedOut}}, Spend{900 + 4*4000, 4900, 1}},
		"a reply without a report":   {8, 0, prompt("m", 2000), Result{}, Spend{900 + 4*60, 960, 1}},
		"a report cut short":         {8, 0, prompt("m", 2000), Result{Err: broken.Err, Usage: providers.Usage{Reported: true, Input: 2000, Output: 100}, CostNanoUSD: cost(2400)}, Spend{2400, 2100, 1}},
		"no text counted":            {8, 0, Request{Model: "m", Input: 9000, CostNanoUSD: 5}, broken, Spend{5, 9000, 1}},
		"no price":                   {8, 0, Request{Model: "m", Input: 9000, Text: 1000, Output: 1, CostNanoUSD: 5}, broken, Spend{5, 451, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "spend.log")
			log := openLog(t, path)
			c := New(Options{Log: log})
			reported(c, test.before)
			acquire(t, c.Lane("p", "k"), test.request).Done(test.result)
			reported(c, test.after)
			n := int64(test.before + test.after)
			want := test.want.Plus(Spend{n, 340 * n, n})
			require.Equal(t, want, c.Snapshot().Spent)
			require.Equal(t, want, c.Snapshot().Providers[0].Spent)
			require.NoError(t, log.Close())
			again := openLog(t, path)
			require.Equal(t, map[string]Spend{"p": want}, again.Spent())
			require.NoError(t, again.Close())
		})
	}
}

// Memory does not grow with a model that never reports usage.
func TestFewWaitForAnEstimate(t *testing.T) {
	c := New(Options{})
	l := c.Lane("p", "k")
	for range maxUnreported + 10 {
		acquire(t, l, prompt("m", 10)).Done(Result{Err: errors.New("broken")})
	}
	require.Len(t, l.budget.models[modelKey{l, "m"}].waiting, maxUnreported)
	require.EqualValues(t, fmt.Sprint((maxUnreported+10)*5010), fmt.Sprint(c.Snapshot().Spent.Tokens))
}
