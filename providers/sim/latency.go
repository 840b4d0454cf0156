package sim

import (
	"context"
	"math"
	"time"
)

// latency is how long a model takes. It is lognormal: median × exp(sigma ×
// N(0,1)), |N| ≤ 3, plus perToken for every estimated output token.
type latency struct {
	median   time.Duration
	sigma    float64
	perToken time.Duration
}

// draw is the time one reply takes, times scale and at most an hour.
func (l latency) draw(normal float64, outputTokens int, scale float64) time.Duration {
	d := float64(l.median)*math.Exp(l.sigma*normal) + float64(l.perToken)*float64(outputTokens)
	return time.Duration(min(d*scale, float64(time.Hour)))
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
