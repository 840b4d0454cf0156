package recorder

import (
	"context"
	"time"
)

// Exchange is one finished HTTP exchange, live or replayed. Its times are
// those of the network: a replayed exchange carries the recorded ones.
type Exchange struct {
	// Index is the position in the cassette, from 0; -1 when live. While recording it
	// is the place in the order in which requests were begun: see Recorder.Positions.
	Index int
	// Digest is the SHA-256 hex of the canonical request: what is matched.
	Digest string
	// Status is the HTTP status, 0 when the transport failed before one came.
	Status int
	// FirstByte is the time from sending to the first byte of the body, 0 when
	// there was none; Duration to its end. Whole microseconds.
	FirstByte, Duration time.Duration
	Replayed            bool
}

type observerKey struct{}

// Observe returns a context whose exchanges are reported to f, each exactly
// once: as its body has been read to its end or closed, or the transport has
// failed. A request that replay has no recording for is not an exchange. f is
// called on the goroutine that reads the body.
func Observe(ctx context.Context, f func(Exchange)) context.Context {
	return context.WithValue(ctx, observerKey{}, f)
}

// observer returns the function that Observe put into ctx, or nil.
func observer(ctx context.Context) func(Exchange) {
	f, _ := ctx.Value(observerKey{}).(func(Exchange))
	return f
}
