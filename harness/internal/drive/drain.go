package drive

import (
	"context"
	"time"
)

// drainGrace is how long what is in flight may take to end once a run is drained.
const drainGrace = time.Second

// drainedKey is that of a context, in the one of a run, that ends once it is drained.
type drainedKey struct{}

// Drainable returns the context of a run that ends some time after drain is closed; the
// waits of the run end at once. Call stop in the end.
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

// isDrained reports whether the run that ctx is of is being ended.
func isDrained(ctx context.Context) bool {
	drained, ok := ctx.Value(drainedKey{}).(context.Context)
	return ok && drained.Err() != nil
}
