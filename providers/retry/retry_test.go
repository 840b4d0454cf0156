package retry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// script answers with its errors, one after the other, and then with a reply.
type script struct {
	errs  []error
	usage providers.Usage // the usage of every failed attempt
	calls int
	ids   []string
}

func (s *script) Call(_ context.Context, c providers.Call) (providers.Reply, error) {
	s.calls++
	s.ids = append(s.ids, c.RequestID)
	if s.calls <= len(s.errs) {
		return providers.Reply{Usage: s.usage}, s.errs[s.calls-1]
	}
	return providers.Reply{Text: "ok", Usage: providers.Usage{Reported: true, Input: 10, Output: 1}}, nil
}

type formatScript struct{ script }

func (*formatScript) Modes() []providers.Mode { return []providers.Mode{providers.JSONSchema} }

func fails(n int, e fault.Error) []error {
	list := make([]error, n)
	for i := range list {
		one := e
		list[i] = &one
	}
	return list
}

func TestRetry(t *testing.T) {
	busy := fault.Error{Kind: fault.Overloaded}
	for _, c := range []struct {
		name     string
		errs     []error
		policy   Policy
		attempts int
		ok       bool
	}{
		{"no failure", nil, Policy{}, 1, true},
		{"once", fails(1, busy), Policy{}, 2, true},
		{"as often as allowed", fails(3, busy), Policy{}, 4, true},
		{"too often", fails(9, busy), Policy{}, 4, false},
		{"one attempt", fails(9, busy), Policy{Attempts: 1}, 1, false},
		{"rate limit", fails(1, fault.Error{Kind: fault.RateLimit}), Policy{}, 2, true},
		{"timeout", fails(1, fault.Error{Kind: fault.TimedOut}), Policy{}, 2, true},
		{"transport", fails(1, fault.Error{Kind: fault.Transport}), Policy{}, 2, true},
		{"quota", fails(1, fault.Error{Kind: fault.Quota}), Policy{}, 1, false},
		{"auth", fails(1, fault.Error{Kind: fault.Auth}), Policy{}, 1, false},
		{"invalid", fails(1, fault.Error{Kind: fault.InvalidRequest}), Policy{}, 1, false},
		{"context length", fails(1, fault.Error{Kind: fault.ContextLength}), Policy{}, 1, false},
		{"refused", fails(1, fault.Error{Kind: fault.Refused}), Policy{}, 1, false},
		{"not found", fails(1, fault.Error{Kind: fault.NotFound}), Policy{}, 1, false},
		{"malformed", fails(1, fault.Error{Kind: fault.Malformed}), Policy{}, 1, false},
		{"a rate limit that stays", fails(1, fault.Error{Kind: fault.RateLimit, Permanent: true}), Policy{}, 1, false},
		{"after part of the reply", fails(1, fault.Error{Kind: fault.Transport, Partial: true}), Policy{}, 1, false},
		{"after part of the reply, if asked to", fails(1, fault.Error{Kind: fault.Transport, Partial: true}), Policy{Partial: true}, 2, true},
		{"advice that fits", fails(1, fault.Error{Kind: fault.RateLimit, RetryAfter: time.Minute}), Policy{}, 2, true},
		{"advice beyond the budget", fails(1, fault.Error{Kind: fault.RateLimit, RetryAfter: time.Hour}), Policy{}, 1, false},
		{"advice that adds up", fails(3, fault.Error{Kind: fault.RateLimit, RetryAfter: 50 * time.Second}), Policy{}, 3, false},
		{"another error", []error{errors.New("no *Error")}, Policy{}, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{errs: c.errs}
			var waits []time.Duration
			c.policy.Sleep = func(_ context.Context, d time.Duration) error {
				waits = append(waits, d)
				return nil
			}
			reply, err := New(s, c.policy).Call(context.Background(), providers.Call{RequestID: "r"})
			require.Equal(t, c.attempts, s.calls)
			require.Equal(t, c.attempts, reply.Attempts)
			require.Len(t, waits, c.attempts-1)
			require.Equal(t, c.ok, err == nil)
			var e *fault.Error
			if errors.As(err, &e) {
				require.Equal(t, c.attempts, e.Attempts)
			}
		})
	}
}

func TestRetryWaits(t *testing.T) {
	p := Policy{Base: time.Second, Max: 5 * time.Second, Seed: 7}
	bounds := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}
	jitter := p.jitter("a")
	longest := make([]time.Duration, len(bounds))
	for range 2000 {
		for i, bound := range bounds {
			d := p.wait(i+1, 0, jitter)
			require.GreaterOrEqual(t, d, time.Duration(0))
			require.LessOrEqual(t, d, bound)
			longest[i] = max(longest[i], d)
		}
	}
	for i, bound := range bounds {
		require.Greater(t, longest[i], bound*9/10, "the whole range is used")
	}
	require.LessOrEqual(t, p.wait(1000, 0, jitter), p.Max)
	for range 100 {
		d := p.wait(3, 10*time.Second, jitter)
		require.GreaterOrEqual(t, d, 10*time.Second, "never sooner than advised")
		require.LessOrEqual(t, d, 11*time.Second)
	}
	require.Equal(t, p.wait(3, 0, p.jitter("x")), p.wait(3, 0, p.jitter("x")), "equal calls wait equally long")
	require.NotEqual(t, p.wait(3, 0, p.jitter("x")), p.wait(3, 0, p.jitter("y")))
}

func TestRetryCountsWhatFailedAttemptsUsed(t *testing.T) {
	s := &script{errs: fails(2, fault.Error{Kind: fault.Overloaded}), usage: providers.Usage{Reported: true, Input: 5, CacheRead: 2, Reasoning: 1}}
	reply, err := New(s, Policy{Sleep: func(context.Context, time.Duration) error { return nil }}).Call(context.Background(), providers.Call{})
	require.NoError(t, err)
	require.Len(t, reply.Usage.Parts, 3, "each attempt has a prompt of its own length")
	reply.Usage.Parts = nil
	require.Equal(t, providers.Usage{Reported: true, Input: 20, Output: 1, CacheRead: 4, Reasoning: 2}, reply.Usage)
	require.Equal(t, []string{"usage: includes 16 tokens of failed attempts"}, reply.Warnings)
	require.Equal(t, []string{"", "", ""}, s.ids)
}

func TestEveryAttemptHasItsOwnID(t *testing.T) {
	s := &script{errs: fails(2, fault.Error{Kind: fault.Overloaded})}
	_, err := New(s, Policy{Sleep: func(context.Context, time.Duration) error { return nil }}).Call(context.Background(), providers.Call{RequestID: "e-1"})
	require.NoError(t, err)
	require.Equal(t, []string{"e-1", "e-1-2", "e-1-3"}, s.ids)
}

func TestRetryStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &script{errs: fails(9, fault.Error{Kind: fault.RateLimit, RetryAfter: time.Minute})}
	go func() {
		time.Sleep(5 * time.Millisecond)
		cancel()
	}()
	start := time.Now()
	_, err := New(s, Policy{}).Call(ctx, providers.Call{})
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.RateLimit, e.Kind, "what failed is told, not that the wait was cut short")
	require.Less(t, time.Since(start), 10*time.Second)
	require.Equal(t, 1, s.calls)
}

func TestRetryKeepsTheModes(t *testing.T) {
	f, ok := New(&formatScript{}, Policy{}).(providers.Formatter)
	require.True(t, ok)
	require.Equal(t, []providers.Mode{providers.JSONSchema}, f.Modes())
	_, ok = New(&script{}, Policy{}).(providers.Formatter)
	require.False(t, ok, "a wire without modes has none")
}

// docs/providers.md states how long calls wait between their attempts.
func TestWaitsAreStated(t *testing.T) {
	text, err := os.ReadFile("../../docs/providers.md")
	require.NoError(t, err)
	p := Policy{}.withDefaults()
	require.Equal(t, 4, p.Attempts)
	for _, line := range []string{
		"A call is sent four times at most.",
		fmt.Sprintf("| between two attempts, without advice | %v, doubling up to %v |", p.Base, p.Max),
		fmt.Sprintf("| between the attempts of one call, together; a call whose next wait does not fit fails | %vm |", p.Budget.Minutes()),
	} {
		require.Contains(t, string(text), line)
	}
}

// The advised wait is kept, and not much exceeded.
func TestRetryWaitsAsAdvised(t *testing.T) {
	for _, advice := range []time.Duration{time.Millisecond, time.Second, time.Minute} {
		for seed := range uint64(50) {
			s := &script{errs: fails(1, fault.Error{Kind: fault.RateLimit, RetryAfter: advice})}
			policy := Policy{Seed: seed, Sleep: func(_ context.Context, d time.Duration) error {
				require.GreaterOrEqual(t, d, advice)
				require.LessOrEqual(t, d, advice+min(advice/10, time.Second))
				return nil
			}}
			_, err := New(s, policy).Call(t.Context(), providers.Call{RequestID: "r"})
			require.NoError(t, err)
		}
	}
}
