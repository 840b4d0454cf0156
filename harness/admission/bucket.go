package admission

import (
	"math"
	"time"
)

// bucket is a token bucket. That of configured limits holds a minute's worth, as
// those of OpenAI, Anthropic and Azure do: a burst may take a whole minute's worth at
// once. Of a provider that counts fixed minutes instead, the second burst of a minute
// may be refused; its Retry-After is honoured. It may be overdrawn: a charge larger
// than the bucket goes when it is full.
type bucket struct {
	size, level float64 // size 0 never waits
	rate        float64 // per second
	at          time.Time
}

func newBucket(perMinute int64, now time.Time) bucket {
	size := float64(max(0, perMinute))
	return bucket{size: size, level: size, rate: size / 60, at: now}
}

func (b *bucket) fill(now time.Time) {
	if d := now.Sub(b.at); d > 0 {
		b.level = min(b.size, b.level+b.rate*d.Seconds())
		b.at = now
	}
}

// wait is how long it takes until n can be taken.
func (b *bucket) wait(n float64, now time.Time) time.Duration {
	if b.size == 0 {
		return 0
	}
	b.fill(now)
	missing := min(n, b.size) - b.level
	if missing <= 1e-6*b.size {
		return 0 // what floating point leaves over
	}
	return time.Duration(math.Ceil(min(missing/b.rate, maxReset.Seconds()) * float64(time.Second)))
}

// take takes n, or gives it back if it is negative.
func (b *bucket) take(n float64, now time.Time) {
	if b.size > 0 {
		b.fill(now)
		b.level = min(b.size, b.level-n)
	}
}
