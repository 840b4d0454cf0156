package drive

import (
	"context"
	"errors"
	"sync"
	"time"
)

// budget is a context that ends after a live call has run for its time. Waits for admission
// and between attempts do not count.
type budget struct {
	context.Context
	end context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	left  time.Duration
	since time.Time // start of the running period; zero while it waits
}

type budgetKey struct{}

// WithBudget returns a context with a budget. The caller must call cancel.
func WithBudget(ctx context.Context, d time.Duration) (_ context.Context, cancel func()) {
	inner, end := context.WithCancelCause(ctx)
	b := &budget{end: end, left: d}
	b.Context = context.WithValue(inner, budgetKey{}, b)
	b.timer = time.AfterFunc(d, func() { end(context.DeadlineExceeded) })
	b.since = time.Now() //nolint:forbidigo // the real time of a live call
	return b, func() {
		b.timer.Stop()
		end(context.Canceled)
	}
}

// Err implements context.Context.
func (b *budget) Err() error {
	if err := b.Context.Err(); err == nil || !errors.Is(context.Cause(b.Context), context.DeadlineExceeded) {
		return err
	}
	return context.DeadlineExceeded
}

// paused runs wait while the budget of ctx, if any, is paused. The context of wait ends as
// soon as the run is drained.
func paused(ctx context.Context, wait func(context.Context) error) error {
	if b, ok := ctx.Value(budgetKey{}).(*budget); ok {
		b.pause()
		defer b.resume()
	}
	if drained, ok := ctx.Value(drainedKey{}).(context.Context); ok {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(drained, cancel)()
		ctx = inner
	}
	return wait(ctx)
}

func (b *budget) pause() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer.Stop() {
		b.left -= time.Since(b.since)
	}
}

func (b *budget) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Context.Err() == nil {
		b.since = time.Now() //nolint:forbidigo // as above
		b.timer.Reset(max(b.left, 0))
	}
}
