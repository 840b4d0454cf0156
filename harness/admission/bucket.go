package admission

import (
	"math"
	"time"
)

// bucket is a token bucket. For configured limits its size is one minute's allowance, as
// with OpenAI, Anthropic and Azure, so a burst may use a minute's allowance immediately. A
// provider that counts fixed minutes may refuse the second burst of a minute; its
// Retry-After is honoured. A charge larger than the bucket is admitted when the bucket is
// full and overdraws it.
type bucket struct {
	size, level float64 // size 0 never waits
	rate        float64 // per second
	at          time.Time
	until       time.Time // it is not filled afterwards; zero means always
}

func newBucket(perMinute int64, now time.Time) bucket {
	size := float64(max(0, perMinute))
	return bucket{size: size, level: size, rate: size / 60, at: now}
}

func (b *bucket) fill(now time.Time) {
	if !b.until.IsZero() && now.After(b.until) {
		now = b.until
	}
	if d := now.Sub(b.at); d > 0 {
		b.level = min(b.size, b.level+b.rate*d.Seconds())
		b.at = now
	}
}

// wait is the time until n can be taken.
func (b *bucket) wait(n float64, now time.Time) time.Duration {
	if b.size == 0 {
		return 0
	}
	b.fill(now)
	missing := min(n, b.size) - b.level
	if missing <= 1e-6*b.size {
		return 0 // a floating-point remainder
	}
	return time.Duration(math.Ceil(min(missing/b.rate, maxReset.Seconds()) * float64(time.Second)))
}

// take removes n, or returns it if n is negative.
func (b *bucket) take(n float64, now time.Time) {
	if b.size > 0 {
		b.fill(now)
		b.level = min(b.size, b.level-n)
	}
}
