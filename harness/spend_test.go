package harness_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
)

// till counts the bills of a run's providers, which must never exceed a cap.
type till struct {
	t    *testing.T
	caps map[string]admission.Caps // by provider; "" is the run

	mu       sync.Mutex
	rng      *rand.Rand
	billed   map[string]admission.Caps
	inFlight int
	most     int // in flight at once
	healthy  bool
	// real means that waits take real time, which is short, and no reply requires a longer one.
	real bool
}

// bill adds to the bill of a provider and of the run.
func (l *till) bill(provider string, tokens int64) {
	for _, of := range []string{"", provider} {
		b, c := l.billed[of], l.caps[of]
		b.Requests++
		b.Tokens += tokens
		b.CostNanoUSD += tokens * 1000 // at 1 USD per million
		l.billed[of] = b
		for _, m := range [][2]int64{{b.CostNanoUSD, c.CostNanoUSD}, {b.Tokens, c.Tokens}, {b.Requests, c.Requests}} {
			if m[1] > 0 && m[0] > m[1] {
				l.t.Errorf("%q billed %d of %d", of, m[0], m[1])
			}
		}
	}
}

// randomModel is a provider with random answers, usage, delays and failures.
type randomModel struct {
	provider string
	*till
}

func (c randomModel) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	in, out, _ := price.WorstTokens(call)
	c.mu.Lock()
	usage := providers.Usage{Reported: c.rng.IntN(10) > 0, Input: 1 + c.rng.Int64N(in), Output: c.rng.Int64N(out + 1)}
	text, fate, wait := poll, c.rng.IntN(100), time.Duration(c.rng.IntN(2000))*time.Millisecond
	if c.real {
		fate, wait = max(fate, 20), wait/1000
	}
	if c.rng.IntN(3) == 0 {
		text = answer
	}
	tokens := usage.Total()
	if fate < 20 && !c.healthy {
		tokens = 0 // refused
	}
	c.bill(c.provider, tokens)
	c.inFlight++
	c.most = max(c.most, c.inFlight)
	healthy := c.healthy
	c.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	c.mu.Lock()
	c.inFlight--
	c.mu.Unlock()
	failed := &fault.Error{Provider: c.provider, Model: call.Model, Err: ctx.Err()}
	reply := providers.Reply{Usage: usage, Model: call.Model}
	switch {
	case ctx.Err() != nil:
		failed.Kind = fault.Transport
	case healthy:
	case fate < 15:
		failed.Kind, failed.Status = fault.RateLimit, 429
		reply.Usage = providers.Usage{}
	case fate < 20:
		failed.Kind, failed.Status = fault.Overloaded, 529
		reply.Usage = providers.Usage{}
	case fate < 25:
		failed.Kind, failed.Partial = fault.Transport, true
		reply.Usage.Output /= 2 // it broke off before all was told
	case fate < 30:
		failed.Kind = fault.TimedOut
		reply.Usage = providers.Usage{}
	case fate < 33:
		failed.Kind, failed.Status = fault.Malformed, 200
		reply.Usage = providers.Usage{}
	}
	if failed.Kind != "" {
		return reply, failed
	}
	reply.Text, reply.Finish = text, providers.FinishStop
	return reply, nil
}

// someCaps returns random caps, at least one of them set, from a few requests to more than a run
// needs.
func someCaps(rng *rand.Rand) admission.Caps {
	var c admission.Caps
	for c == (admission.Caps{}) {
		scale := int64(1) << rng.IntN(7)
		if rng.IntN(2) == 0 {
			c.Requests = 1 + rng.Int64N(2*scale)
		}
		if rng.IntN(2) == 0 {
			c.Tokens = 1 + rng.Int64N(10_000*scale)
		}
		if rng.IntN(2) == 0 {
			c.CostNanoUSD = 1 + rng.Int64N(10_000_000*scale)
		}
	}
	return c
}

// spendRun is a run with concurrency 64 and random caps.
type spendRun struct {
	*till
	options harness.Options
	planned int
}

// shops returns the providers of such runs.
var shops = []string{"shop0", "shop1"}

// spendOptions returns the common options of such runs.
func spendOptions(t *testing.T) harness.Options {
	t.Helper()
	o, _ := smallOptions(t, "budgets: {max_steps: 4}", "title: x", goldens.Candidate{Model: "priced"})
	prices, limits := "version: \"2026-01-01\"\nprices:\n", "providers:\n"
	for _, name := range shops {
		prices += fmt.Sprintf("  - {provider: %s, models: [priced], input: 1, output: 1, source: test}\n", name)
		limits += fmt.Sprintf("  %s: {}\n", name)
	}
	var err error
	o.Prices, err = price.Parse([]byte(prices))
	require.NoError(t, err)
	o.Policy, err = policy.Parse([]byte(limits))
	require.NoError(t, err)
	return o
}

func newSpendRun(t *testing.T, o harness.Options, seed uint64, runs string) *spendRun {
	t.Helper()
	rng := rand.New(rand.NewPCG(64, seed))
	l := &till{t: t, rng: rng, billed: map[string]admission.Caps{}, caps: map[string]admission.Caps{"": someCaps(rng)}}
	tokens := 1 + rng.IntN(800)
	o.Candidates, o.Limits, o.Providers = nil, map[string]admission.Limits{}, map[string]providers.Factory{}
	for _, name := range shops {
		for _, candidate := range []string{"a", "b"} {
			o.Candidates = append(o.Candidates, goldens.Candidate{
				Name: name + candidate, Provider: name, Model: "priced", MaxTokens: &tokens,
			})
		}
		if rng.IntN(2) == 0 {
			l.caps[name] = someCaps(rng)
			o.Limits[name] = admission.Limits{Caps: l.caps[name]}
		}
		o.Providers[name] = func(providers.Options) (providers.Model, error) { return randomModel{name, l}, nil }
	}
	o.Trials, o.LaneConcurrency, o.Runs, o.Caps = 1+rng.IntN(40), 64, runs, l.caps[""]
	return &spendRun{l, o, 4 * o.Trials}
}

// do executes the run, cancels some of them, and checks the result.
func (s *spendRun) do(cancelled bool) harness.Result {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if cancelled {
		timer := time.AfterFunc(time.Duration(s.rng.IntN(20_000))*time.Millisecond, cancel)
		defer timer.Stop()
	}
	res, err := harness.Run(ctx, s.options)
	require.NoError(s.t, err)
	out, rows := res.Manifest.Outcomes, rowsOf(s.t, res)
	require.Equal(s.t, s.planned, out.Solved+out.Failed+out.WithoutResult())
	require.Equal(s.t, s.planned-out.Unfinished, len(rows.Episodes))
	require.Equal(s.t, res.Manifest.LedgerDigest, rows.Digest())
	require.Equal(s.t, out.WithoutResult() == 0, res.Manifest.Status == "complete")
	return res
}

// raise multiplies every cap; a factor of 0 removes it.
func (s *spendRun) raise(by int64) {
	up := func(c admission.Caps) admission.Caps {
		return admission.Caps{CostNanoUSD: by * c.CostNanoUSD, Tokens: by * c.Tokens, Requests: by * c.Requests}
	}
	for of, c := range s.caps {
		s.caps[of] = up(c)
		if of != "" {
			s.options.Limits[of] = admission.Limits{Caps: s.caps[of]}
		}
	}
	s.options.Caps = s.caps[""]
}

// The bills of the providers never exceed a cap, whatever they return and however many requests
// are in flight.
func TestSpendingStaysBelowRandomCaps(t *testing.T) {
	runs := testkit.Long(testkit.SlowN(30, 100), 900)
	bound, most := 0, 0
	base := spendOptions(t)
	for i := range runs {
		onVirtualClock(t, func(t *testing.T) {
			s := newSpendRun(t, base, uint64(i), "")
			res := s.do(i%4 == 0)
			most = max(most, s.most)
			if res.Manifest.Stopped != "" && !res.Interrupted {
				bound++
			}
		})
	}
	t.Logf("%d runs, %d bound by a cap, at most %d requests in flight", runs, bound, most)
	require.Greater(t, bound, runs/2)
	require.Greater(t, most, 64)
}

// The bills of a run and its resumed parts together do not exceed a cap either. With a high enough
// cap, or none, they complete.
func TestSpendingStaysBelowRandomCapsWhenResumed(t *testing.T) {
	runs := testkit.Long(testkit.SlowN(5, 20), 100)
	resumed := 0
	base := spendOptions(t)
	base.Retry.Sleep = noSleep
	for i := range runs {
		s := newSpendRun(t, base, uint64(1000+i), fastDir(t))
		s.real = true
		res := s.do(false)
		if res.Manifest.Status == "complete" {
			continue
		}
		resumed++
		s.options.Resume = res.Manifest.RunID
		s.raise(2)
		if s.do(false).Manifest.Status != "complete" {
			s.raise(0)
			s.healthy = true
			require.Equal(t, "complete", s.do(false).Manifest.Status)
		}
	}
	require.Greater(t, resumed, runs/2)
}

// fastDir returns a temporary folder, in memory if possible, because the test syncs often.
func fastDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "cupel")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
