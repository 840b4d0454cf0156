package drive

import (
	"context"
	"time"
)

// drainGrace is the time for requests in flight to end after a run is drained.
const drainGrace = time.Second

// drainedKey is the context key, in a run's context, of a context that ends when the run is
// drained.
type drainedKey struct{}

// Drainable returns the context of a run. It ends drainGrace after drain is closed; the
// run's waits end immediately. The caller must call stop.
func Drainable(ctx context.Context, drain <-chan struct{}) (_ context.Context, stop func()) {
	run, cancel := context.WithCancel(ctx)
	drained, end := context.WithCancel(run)
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer end()
		select {
		case <-run.Done():
			return
		case <-drain:
		}
		end()
		grace := time.NewTimer(drainGrace)
		defer grace.Stop()
		select {
		case <-run.Done():
		case <-grace.C:
			cancel()
		}
	}()
	return context.WithValue(run, drainedKey{}, drained), func() {
		cancel()
		<-over
	}
}

// isDrained reports whether the run of ctx is being drained.
func isDrained(ctx context.Context) bool {
	drained, ok := ctx.Value(drainedKey{}).(context.Context)
	return ok && drained.Err() != nil
}
