package recorder

import (
	"context"
	"time"
)

// Exchange is one finished HTTP exchange, live or replayed. Its times are the network's: a
// replayed exchange has the recorded ones.
type Exchange struct {
	// Index is the position in the cassette, from 0; -1 when live. While recording it is the
	// position in starting order: see Recorder.Positions.
	Index int
	// Digest is the SHA-256 hex of the canonical request: what is matched.
	Digest string
	// Status is the HTTP status; 0 if the transport failed without one.
	Status int
	// FirstByte is the time from sending to the first byte of the body, 0 when
	// there was none; Duration to its end. Whole microseconds.
	FirstByte, Duration time.Duration
	Replayed            bool
}

type observerKey struct{}

// Observe returns a context whose exchanges are reported to f, each exactly once: when its
// body has been read to its end or closed, or the transport has failed. A request without a
// recording is not an exchange in replay. f is called on the goroutine that reads the body.
func Observe(ctx context.Context, f func(Exchange)) context.Context {
	return context.WithValue(ctx, observerKey{}, f)
}

// observer returns the function of Observe in ctx, or nil.
func observer(ctx context.Context) func(Exchange) {
	f, _ := ctx.Value(observerKey{}).(func(Exchange))
	return f
}
