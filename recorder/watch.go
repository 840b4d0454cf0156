package recorder

import (
	"context"
	"sync"
	"time"
)

// Watch says how long the exchanges of a context have taken, also while one is under
// way; there is one at a time. The zero value is ready. Safe for concurrent use.
type Watch struct {
	mu    sync.Mutex
	spent time.Duration
	start time.Time // of the current one; zero without
	now   func() time.Time
}

type watchKey struct{}

// Watched returns a context whose exchanges w times.
func Watched(ctx context.Context, w *Watch) context.Context {
	return context.WithValue(ctx, watchKey{}, w)
}

func watch(ctx context.Context) *Watch {
	w, _ := ctx.Value(watchKey{}).(*Watch)
	return w
}

// Spent is the Duration of the exchanges that are over, together, and of one under
// way as much as it has taken by now: never more than its Duration will be. What a
// replay will take is known, and counts, as soon as it is asked for.
func (w *Watch) Spent() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.start.IsZero() {
		return w.spent
	}
	return w.spent + w.since(w.now())
}

func (w *Watch) since(at time.Time) time.Duration {
	return max(0, at.Sub(w.start)).Truncate(time.Microsecond)
}

// add counts an exchange whose time is known.
func (w *Watch) add(d time.Duration) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.spent += d
	}
}

// begin is called when an exchange is sent.
func (w *Watch) begin(at time.Time, now func() time.Time) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.start, w.now = at, now
	}
}

// end is called when it is over, and returns the time it ended at. It reads the clock
// itself: nobody can be told of a later time in between.
func (w *Watch) end(now func() time.Time) time.Time {
	if w == nil {
		return now()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := now()
	if !w.start.IsZero() {
		w.spent += w.since(at)
		w.start = time.Time{}
	}
	return at
}
