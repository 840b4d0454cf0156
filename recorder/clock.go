package recorder

import (
	"context"
	"math"
	"time"
)

// replayClock delays a replayed exchange. Data recorded at some time after sending is due
// at that time divided by the speed, independently of the reader's own delays. nil does not
// wait.
type replayClock struct {
	o     Options
	ctx   context.Context // of the request, until the exchange has ended
	stop  context.CancelFunc
	start time.Time
}

// newReplayClock starts the clock of one exchange.
func newReplayClock(ctx context.Context, o Options) *replayClock {
	if o.Speed == 0 {
		return nil
	}
	p := &replayClock{o: o, start: o.Now()}
	p.ctx, p.stop = context.WithCancel(ctx)
	return p
}

// until waits until data recorded at this time after sending is due.
func (p *replayClock) until(recorded time.Duration) error {
	if p == nil {
		return nil
	}
	due := time.Duration(min(float64(recorded)/p.o.Speed, math.MaxInt64/2))
	if wait := due - p.o.Now().Sub(p.start); wait > 0 {
		return p.o.Sleep(p.ctx, wait)
	}
	return nil
}

// end stops waiting.
func (p *replayClock) end() {
	if p != nil {
		p.stop()
	}
}
