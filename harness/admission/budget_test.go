package admission

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

func TestCapRefusesAtOnce(t *testing.T) {
	dear := Request{Input: 300, Output: 200, CostNanoUSD: 400_000_000}
	for _, test := range []struct {
		name    string
		options Options
		want    string
	}{
		{"cost of the run", Options{Caps: Caps{CostNanoUSD: 1_000_000_000}}, "cost of the run: 0.8 USD of 1 USD spent, the next request may need 0.4 USD: raise the cap and resume the run"},
		{"tokens of the run", Options{Caps: Caps{Tokens: 1400}}, "tokens of the run: 1000 of 1400 spent, the next request may need 500"},
		{"requests of the run", Options{Caps: Caps{Requests: 2}}, "requests of the run: 2 of 2 spent, the next request may need 1"},
		{"cost of a provider", Options{Providers: map[string]Limits{"p": {Caps: Caps{CostNanoUSD: 1_100_000_001}}}}, "cost of provider p: 0.8 USD of 1.100000001 USD spent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := New(test.options)
			l := c.Lane("p", "k")
			for range 2 {
				acquire(t, l, dear).Done(Result{})
				require.NoError(t, c.Capped("p"))
			}
			_, err := l.Acquire(t.Context(), dear)
			require.ErrorIs(t, err, ErrCapped)
			require.ErrorContains(t, err, test.want)
			require.Equal(t, err, c.Capped("p"))
			if test.options.Providers == nil {
				require.Equal(t, err, c.Capped("q"))
			} else {
				require.NoError(t, c.Capped("q"))
				acquire(t, c.Lane("q", "k"), dear).Done(Result{})
			}
		})
	}
}

func TestWhatStillFitsIsAdmittedAfterARefusal(t *testing.T) {
	c := New(Options{Caps: Caps{Tokens: 100}})
	l := c.Lane("p", "k")
	_, err := l.Acquire(t.Context(), Request{Input: 101})
	require.ErrorIs(t, err, ErrCapped)
	acquire(t, l, Request{Input: 100}).Done(Result{})
	require.ErrorContains(t, c.Capped("p"), "0 of 100 spent, the next request may need 101")
}

func TestReservationsOfOthersAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Caps: Caps{Tokens: 100}})
		l := c.Lane("p", "k")
		a, b := acquire(t, l, Request{Input: 60}), acquire(t, l, Request{Input: 30})
		var mu sync.Mutex
		var order []string
		ask := func(name string, lane *Lane, tokens int64) {
			queue(t, lane, Request{Candidate: name, Input: tokens}, func(p *Permit, err error) {
				if err != nil {
					require.ErrorIs(t, err, ErrCapped)
					name = "no " + name
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
			})
		}
		ask("large", l, 50)
		ask("small", l, 10)
		ask("other", c.Lane("q", "k"), 10)
		require.Empty(t, order, "nobody passes who draws on the same cap")
		b.Done(Result{Usage: providers.Usage{Reported: true, Input: 20}})
		synctest.Wait()
		require.Empty(t, order)
		ask("hopeless", l, 81)
		require.Equal(t, []string{"no hopeless"}, order, "what cannot fit is not made to wait")
		a.Done(failure(fault.RateLimit)) // releases all of it: 20 spent
		synctest.Wait()
		require.ElementsMatch(t, []string{"no hopeless", "large", "small", "other"}, order)
		require.Equal(t, Spend{0, 70, 3}, c.Snapshot().Reserved)
	})
}

func TestAProvidersCapHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Caps: Caps{Tokens: 1000}, Providers: map[string]Limits{"p": {Caps: Caps{Requests: 3}}}})
		p := c.Lane("p", "k")
		held := []*Permit{acquire(t, p, Request{}), acquire(t, p, Request{}), acquire(t, p, Request{})}
		var refused error
		queue(t, p, Request{}, func(_ *Permit, err error) { refused = err })
		got := 0
		queue(t, c.Lane("q", "k"), Request{Input: 10}, func(_ *Permit, err error) {
			require.NoError(t, err)
			got++
		})
		require.Equal(t, 1, got)
		for _, permit := range held {
			require.NoError(t, refused)
			permit.Done(failure(fault.RateLimit)) // an attempt, too
			synctest.Wait()
		}
		require.ErrorIs(t, refused, ErrCapped)
	})
}

// A waiting request can be refused independently of the lane's limits.
func TestRefusedWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Caps: Caps{Tokens: 100}})
		p := c.Lane("p", "k")
		acquire(t, p, Request{}).Done(Result{Err: &fault.Error{Kind: fault.RateLimit, RetryAfter: time.Minute}})
		start := time.Now()
		var after time.Duration
		queue(t, p, Request{Input: 60}, func(_ *Permit, err error) {
			require.ErrorIs(t, err, ErrCapped)
			after = time.Since(start)
		})
		time.Sleep(time.Second)
		acquire2 := make(chan error)
		go func() {
			permit, err := c.Lane("q", "k").Acquire(t.Context(), Request{Input: 50})
			if err == nil {
				permit.Done(Result{})
			}
			acquire2 <- err
		}()
		require.NoError(t, <-acquire2)
		synctest.Wait()
		require.Equal(t, time.Second, after)
	})
}

func TestUnknownWorstCases(t *testing.T) {
	for _, test := range []struct {
		name    string
		caps    Caps
		request Request
		want    string
	}{
		{"no cap", Caps{}, Request{Input: -1, Output: -1, CostNanoUSD: -1}, ""},
		{"another cap", Caps{Requests: 1}, Request{Input: -1, Output: -1, CostNanoUSD: -1}, ""},
		{"cost", Caps{CostNanoUSD: 1}, Request{CostNanoUSD: -1}, "what it may cost is unknown"},
		{"input", Caps{Tokens: 1}, Request{Input: -1}, "how many tokens it may take is unknown"},
		{"output", Caps{Tokens: 1}, Request{Output: -1}, "how many tokens it may take is unknown"},
		{"absurd", Caps{}, Request{CostNanoUSD: math.MaxInt64}, "beyond belief"},
	} {
		for _, of := range []string{"run", "provider"} {
			t.Run(test.name+" of the "+of, func(t *testing.T) {
				o := Options{Caps: test.caps}
				if of == "provider" {
					o = Options{Providers: map[string]Limits{"p": {Caps: test.caps}}}
				}
				c := New(o)
				p, err := c.Lane("p", "k").Acquire(t.Context(), test.request)
				require.NoError(t, c.Capped("p"), "no cap bound")
				if test.want != "" {
					require.ErrorContains(t, err, test.want)
					require.NotErrorIs(t, err, ErrCapped)
					return
				}
				require.NoError(t, err)
				p.Done(Result{})
				require.Equal(t, Spend{Requests: 1}, c.Snapshot().Spent)
			})
		}
	}
}

func TestSettling(t *testing.T) {
	usage := providers.Usage{Reported: true, Input: 10, Output: 5, CacheRead: 3, CacheWrite: 1, Reasoning: 1}
	failed := func(kind fault.Kind, change func(*Result, *fault.Error)) Result {
		e := &fault.Error{Kind: kind}
		r := Result{Err: fmt.Errorf("turn: %w", e)}
		if change != nil {
			change(&r, e)
		}
		return r
	}
	reported := func(r *Result, _ *fault.Error) { r.Usage, r.CostNanoUSD = usage, cost(70) }
	partial := func(r *Result, e *fault.Error) { e.Partial, r.Usage, r.CostNanoUSD = true, usage, cost(70) }
	cause := func(err error) func(*Result, *fault.Error) {
		return func(_ *Result, e *fault.Error) { e.Err = err }
	}
	worst, exact, nothing := Spend{100, 60, 1}, Spend{70, 20, 1}, Spend{Requests: 1}
	for _, test := range []struct {
		name   string
		result Result
		want   Spend
	}{
		{"all reported", Result{Usage: usage, CostNanoUSD: cost(70)}, exact},
		{"no price", Result{Usage: usage}, Spend{100, 20, 1}},
		{"no usage", Result{CostNanoUSD: cost(70)}, Spend{70, 60, 1}},
		{"nothing reported", Result{}, worst},
		{"free", Result{Usage: providers.Usage{Reported: true}, CostNanoUSD: cost(0)}, nothing},
		{"nonsense", Result{Usage: providers.Usage{Reported: true, Input: -9}, CostNanoUSD: cost(-9)}, nothing},
		{"more than its worst case", Result{Usage: providers.Usage{Reported: true, Input: 1000}, CostNanoUSD: cost(2000)}, Spend{2000, 1000, 1}},
		{"rate limit", failed(fault.RateLimit, nil), nothing},
		{"overloaded", failed(fault.Overloaded, nil), nothing},
		{"auth", failed(fault.Auth, nil), nothing},
		{"quota", failed(fault.Quota, nil), nothing},
		{"invalid request", failed(fault.InvalidRequest, nil), nothing},
		{"not found", failed(fault.NotFound, nil), nothing},
		{"context length", failed(fault.ContextLength, nil), nothing},
		{"overloaded amid the reply", failed(fault.Overloaded, partial), worst},
		{"refused", failed(fault.Refused, nil), worst},
		{"refused and reported", failed(fault.Refused, reported), exact},
		{"malformed", failed(fault.Malformed, nil), worst},
		{"malformed and reported", failed(fault.Malformed, reported), exact},
		{"timeout", failed(fault.TimedOut, nil), worst},
		{"timeout with the usage so far", failed(fault.TimedOut, reported), worst},
		{"transport", failed(fault.Transport, cause(errors.New("reset"))), worst},
		{"transport with the usage so far", failed(fault.Transport, partial), worst},
		{"no connection", failed(fault.Transport, cause(&net.OpError{Op: "dial", Err: errors.New("refused")})), nothing},
		{"no proxy", failed(fault.Transport, cause(&net.OpError{Op: "proxyconnect", Err: errors.New("refused")})), nothing},
		{"no such host", failed(fault.Transport, cause(&net.DNSError{Name: "x"})), nothing},
		{"no trust", failed(fault.Transport, cause(&tls.CertificateVerificationError{Err: errors.New("unknown")})), nothing},
		{"connection lost", failed(fault.Transport, cause(&net.OpError{Op: "read", Err: errors.New("reset")})), worst},
		{"an error of ours", Result{Err: errors.New("disk")}, worst},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := New(Options{Caps: Caps{CostNanoUSD: 1000, Tokens: 900}})
			acquire(t, c.Lane("p", "k"), Request{Input: 40, Output: 20, CostNanoUSD: 100}).Done(test.result)
			s := c.Snapshot()
			require.Equal(t, test.want, s.Spent)
			require.Zero(t, s.Reserved)
			if test.want.Tokens > 900 {
				require.ErrorIs(t, c.Capped("p"), ErrCapped)
				require.ErrorContains(t, c.Capped("p"), "cost of the run: 0.000002 USD of 0.000001 USD spent")
			} else {
				require.NoError(t, c.Capped("p"))
			}
		})
	}
}

func TestSumsDoNotWrap(t *testing.T) {
	c := New(Options{Caps: Caps{CostNanoUSD: math.MaxInt64}})
	l := c.Lane("p", "k")
	for range 3 {
		acquire(t, l, Request{}).Done(Result{CostNanoUSD: cost(math.MaxInt64 - 1)})
	}
	require.Equal(t, Spend{math.MaxInt64, 0, 3}, c.Snapshot().Spent)
}
