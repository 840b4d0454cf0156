package providers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// script answers with its errors in turn, then with a reply.
type script struct {
	errs  []error
	usage Usage // of every failed attempt
	calls int
	ids   []string
}

func (s *script) Call(_ context.Context, c Call) (Reply, error) {
	s.calls++
	s.ids = append(s.ids, c.RequestID)
	if s.calls <= len(s.errs) {
		return Reply{Usage: s.usage}, s.errs[s.calls-1]
	}
	return Reply{Text: "ok", Usage: Usage{Reported: true, Input: 10, Output: 1}}, nil
}

type formatScript struct{ script }

func (*formatScript) Modes() []Mode { return []Mode{JSONSchema} }

func fails(n int, e Error) []error {
	list := make([]error, n)
	for i := range list {
		one := e
		list[i] = &one
	}
	return list
}

func TestRetry(t *testing.T) {
	busy := Error{Kind: Overloaded}
	for _, c := range []struct {
		name     string
		errs     []error
		policy   RetryPolicy
		attempts int
		ok       bool
	}{
		{"no failure", nil, RetryPolicy{}, 1, true},
		{"once", fails(1, busy), RetryPolicy{}, 2, true},
		{"as often as allowed", fails(3, busy), RetryPolicy{}, 4, true},
		{"too often", fails(9, busy), RetryPolicy{}, 4, false},
		{"one attempt", fails(9, busy), RetryPolicy{Attempts: 1}, 1, false},
		{"rate limit", fails(1, Error{Kind: RateLimit}), RetryPolicy{}, 2, true},
		{"timeout", fails(1, Error{Kind: TimedOut}), RetryPolicy{}, 2, true},
		{"transport", fails(1, Error{Kind: Transport}), RetryPolicy{}, 2, true},
		{"quota", fails(1, Error{Kind: Quota}), RetryPolicy{}, 1, false},
		{"auth", fails(1, Error{Kind: Auth}), RetryPolicy{}, 1, false},
		{"invalid", fails(1, Error{Kind: InvalidRequest}), RetryPolicy{}, 1, false},
		{"context length", fails(1, Error{Kind: ContextLength}), RetryPolicy{}, 1, false},
		{"refused", fails(1, Error{Kind: Refused}), RetryPolicy{}, 1, false},
		{"not found", fails(1, Error{Kind: NotFound}), RetryPolicy{}, 1, false},
		{"malformed", fails(1, Error{Kind: Malformed}), RetryPolicy{}, 1, false},
		{"a rate limit that stays", fails(1, Error{Kind: RateLimit, Permanent: true}), RetryPolicy{}, 1, false},
		{"after part of the reply", fails(1, Error{Kind: Transport, Partial: true}), RetryPolicy{}, 1, false},
		{"after part of the reply, if asked to", fails(1, Error{Kind: Transport, Partial: true}), RetryPolicy{Partial: true}, 2, true},
		{"advice that fits", fails(1, Error{Kind: RateLimit, RetryAfter: time.Minute}), RetryPolicy{}, 2, true},
		{"advice beyond the budget", fails(1, Error{Kind: RateLimit, RetryAfter: time.Hour}), RetryPolicy{}, 1, false},
		{"advice that adds up", fails(3, Error{Kind: RateLimit, RetryAfter: 50 * time.Second}), RetryPolicy{}, 3, false},
		{"another error", []error{errors.New("no *Error")}, RetryPolicy{}, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{errs: c.errs}
			var waits []time.Duration
			c.policy.Sleep = func(_ context.Context, d time.Duration) error {
				waits = append(waits, d)
				return nil
			}
			reply, err := Retry(s, c.policy).Call(context.Background(), Call{RequestID: "r"})
			require.Equal(t, c.attempts, s.calls)
			require.Equal(t, c.attempts, reply.Attempts)
			require.Len(t, waits, c.attempts-1)
			require.Equal(t, c.ok, err == nil)
			var e *Error
			if errors.As(err, &e) {
				require.Equal(t, c.attempts, e.Attempts)
			}
		})
	}
}

func TestRetryWaits(t *testing.T) {
	p := RetryPolicy{Base: time.Second, Max: 5 * time.Second, Seed: 7}
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
	s := &script{errs: fails(2, Error{Kind: Overloaded}), usage: Usage{Reported: true, Input: 5, CacheRead: 2, Reasoning: 1}}
	reply, err := Retry(s, RetryPolicy{Sleep: func(context.Context, time.Duration) error { return nil }}).Call(context.Background(), Call{})
	require.NoError(t, err)
	require.Len(t, reply.Usage.Parts, 3, "each attempt has a prompt of its own length")
	reply.Usage.Parts = nil
	require.Equal(t, Usage{Reported: true, Input: 20, Output: 1, CacheRead: 4, Reasoning: 2}, reply.Usage)
	require.Equal(t, []string{"usage: includes 16 tokens of failed attempts"}, reply.Warnings)
	require.Equal(t, []string{"", "", ""}, s.ids)
}

func TestEveryAttemptHasItsOwnID(t *testing.T) {
	s := &script{errs: fails(2, Error{Kind: Overloaded})}
	_, err := Retry(s, RetryPolicy{Sleep: func(context.Context, time.Duration) error { return nil }}).Call(context.Background(), Call{RequestID: "e-1"})
	require.NoError(t, err)
	require.Equal(t, []string{"e-1", "e-1-2", "e-1-3"}, s.ids)
}

func TestRetryStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &script{errs: fails(9, Error{Kind: RateLimit, RetryAfter: time.Minute})}
	go func() {
		time.Sleep(5 * time.Millisecond)
		cancel()
	}()
	start := time.Now()
	_, err := Retry(s, RetryPolicy{}).Call(ctx, Call{})
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, RateLimit, e.Kind, "what failed is told, not that the wait was cut short")
	require.Less(t, time.Since(start), 10*time.Second)
	require.Equal(t, 1, s.calls)
}

func TestRetryKeepsTheModes(t *testing.T) {
	f, ok := Retry(&formatScript{}, RetryPolicy{}).(Formatter)
	require.True(t, ok)
	require.Equal(t, []Mode{JSONSchema}, f.Modes())
	_, ok = Retry(&script{}, RetryPolicy{}).(Formatter)
	require.False(t, ok, "a wire without modes has none")
}

// docs/providers.md states how long calls wait between their attempts.
func TestWaitsAreStated(t *testing.T) {
	text, err := os.ReadFile("../docs/providers.md")
	require.NoError(t, err)
	p := RetryPolicy{}.withDefaults()
	require.Equal(t, 4, p.Attempts)
	for _, line := range []string{
		"A call is sent four times at most.",
		fmt.Sprintf("| between two attempts, without advice | %v, doubling up to %v |", p.Base, p.Max),
		fmt.Sprintf("| between the attempts of one call, together; a call whose next wait does not fit fails | %vm |", p.Budget.Minutes()),
	} {
		require.Contains(t, string(text), line)
	}
}

// What the provider says is waited for, and not much longer.
func TestRetryWaitsAsAdvised(t *testing.T) {
	for _, advice := range []time.Duration{time.Millisecond, time.Second, time.Minute} {
		for seed := range uint64(50) {
			s := &script{errs: fails(1, Error{Kind: RateLimit, RetryAfter: advice})}
			policy := RetryPolicy{Seed: seed, Sleep: func(_ context.Context, d time.Duration) error {
				require.GreaterOrEqual(t, d, advice)
				require.LessOrEqual(t, d, advice+min(advice/10, time.Second))
				return nil
			}}
			_, err := Retry(s, policy).Call(t.Context(), Call{RequestID: "r"})
			require.NoError(t, err)
		}
	}
}
