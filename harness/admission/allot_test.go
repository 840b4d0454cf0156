package admission

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// tryFor reports whether a request is admitted within a minute.
func tryFor(t *testing.T, l *Lane, worst int64) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := l.Acquire(ctx, Request{CostNanoUSD: worst})
	if err == nil {
		p.Done(Result{CostNanoUSD: cost(worst)})
	}
	return err
}

// A control that shares its limits admits what its allotment covers, until its end.
func TestAllot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := New(Options{Shared: true, Wanted: func() { asked++ }, Caps: Caps{CostNanoUSD: 100}, Providers: map[string]Limits{"p": {RequestsPerMinute: 60}}})
		allot := func(granted, limit int64, share float64, last time.Duration) {
			c.Allot(func(s Snapshot) Allotment {
				return Allotment{
					Until: time.Now().Add(last), Providers: map[string]Part{"p": {Spend{granted, 0, 0}, Spend{limit, 0, 0}}},
					Shares: map[string]float64{s.Providers[0].Lanes[0].ID: share},
				}
			})
		}
		l := c.Lane("p", "secret key")
		require.ErrorIs(t, tryFor(t, l, 5), context.DeadlineExceeded, "nothing is allotted")
		require.NotContains(t, c.Snapshot().Providers[0].Lanes[0].ID, "secret")

		allot(10, 100, 0, time.Hour)
		require.ErrorIs(t, tryFor(t, l, 5), context.DeadlineExceeded, "without a share of the rate")
		require.Positive(t, asked)
		allot(10, 100, 0.5, time.Hour)
		require.NoError(t, tryFor(t, l, 5))
		require.Equal(t, int64(1), c.Snapshot().Providers[0].Lanes[0].Sent)

		asked = 0
		require.ErrorIs(t, tryFor(t, l, 6), context.DeadlineExceeded, "5 of 10 are spent")
		require.Equal(t, 1, asked, "once for an allotment")
		require.Zero(t, c.Snapshot().Providers[0].Short, "nothing waits any more")
		waiting := make(chan error)
		go func() { waiting <- tryFor(t, l, 6) }()
		synctest.Wait()
		require.Equal(t, Spend{6, 0, 1}, c.Snapshot().Providers[0].Short)
		allot(11, 100, 0.5, time.Hour)
		require.NoError(t, <-waiting)

		allot(20, 14, 0.5, time.Hour)
		require.ErrorIs(t, tryFor(t, l, 4), ErrCapped, "the others leave 14")
		require.ErrorIs(t, c.Capped("p"), ErrCapped)
		require.NoError(t, tryFor(t, l, 3))

		allot(90, 100, 0.5, 10*time.Second)
		require.NoError(t, tryFor(t, l, 1))
		time.Sleep(11 * time.Second)
		require.ErrorIs(t, tryFor(t, l, 1), context.DeadlineExceeded, "the allotment has ended")

		c.Allot(func(Snapshot) Allotment { return Allotment{Stop: context.Canceled} })
		err := tryFor(t, l, 1)
		require.ErrorIs(t, err, ErrCapped)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// A machine that sleeps stops the monotonic clock, but not the other one.
func TestAllotmentEndsAfterSleep(t *testing.T) {
	now := time.Now()
	c := New(Options{Shared: true, Now: func() time.Time { return now }})
	l := c.Lane("p", "k")
	c.Allot(func(Snapshot) Allotment { return Allotment{Until: now.Add(time.Minute)} })
	acquire(t, l, Request{}).Done(Result{})
	now = now.Add(time.Hour).Round(0) // what only the wall clock says
	require.False(t, c.allotted(now))
}

// A bucket whose share ends is not filled until there is a new one, and what it gains is
// empty.
func TestSharesOfABucket(t *testing.T) {
	start := time.Now()
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	b := newBucket(60, at(0))
	b.share(60, 1, 0, at(60), at(0))
	require.InDelta(t, 60, b.level, 1e-9)
	b.take(50, at(0))
	b.share(60, 0.5, 0, at(60), at(0))
	require.InDelta(t, 10, b.level, 1e-9)
	b.share(60, 1, 0, at(60), at(10))
	require.InDelta(t, 15, b.level, 1e-9, "ten seconds of half a request a second")
	b.fill(at(500))
	require.InDelta(t, 60, b.level, 1e-9)
	b.take(60, at(500))
	b.share(60, 1, 0, at(600), at(500))
	b.fill(at(510))
	require.InDelta(t, 10, b.level, 1e-9, "not for the time without a share")
	b.share(60, 0, 0, at(600), at(510))
	b.share(60, 1, 0.75, at(600), at(510))
	require.InDelta(t, 45, b.level, 1e-9)
	require.InDelta(t, 0.75, b.part(60, at(510)), 1e-9)
	b.share(60, 0.5, 0.75, at(600), at(510))
	require.InDelta(t, 30, b.level, 1e-9, "never more than its share")
	require.InDelta(t, 0.5, b.part(60, at(570)), 1e-9)
	require.InDelta(t, 1, b.part(0, at(570)), 1e-9, "there is no limit")
}
