package recorder

import (
	"context"
	"sync"
	"time"
)

// Watch adds up the time of the exchanges of a context, of which one is in flight at a time,
// including the time of that one so far. The zero value is ready to use. It is safe for
// concurrent use.
type Watch struct {
	mu    sync.Mutex
	spent time.Duration
	start time.Time // of the exchange in flight; zero if there is none
	now   func() time.Time
}

type watchKey struct{}

// Watched returns a context whose exchanges w measures.
func Watched(ctx context.Context, w *Watch) context.Context {
	return context.WithValue(ctx, watchKey{}, w)
}

func watch(ctx context.Context) *Watch {
	w, _ := ctx.Value(watchKey{}).(*Watch)
	return w
}

// Spent returns the total Duration of the ended exchanges, plus the time of the one in flight
// so far, which never exceeds its final Duration. A replayed exchange counts in full as soon
// as it is requested, because its Duration is known.
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

// add counts a replayed exchange.
func (w *Watch) add(d time.Duration) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.spent += d
	}
}

// begin starts the time of an exchange.
func (w *Watch) begin(at time.Time, now func() time.Time) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.start, w.now = at, now
	}
}

// end stops the time of the exchange in flight and returns the time of the end. It reads the
// clock under its lock, so that Spent cannot return more than the final Duration before.
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
