package external

import (
	"sync"
	"time"
)

// clock is the virtual time of a session: the real time since its start, without waits for
// admission and people, plus what the world's calls took in simulation. It never decreases.
type clock struct {
	mu      sync.Mutex
	start   time.Time
	skipped time.Duration // by waits that are over, less what was simulated
	waits   int           // in progress
	since   time.Time     // start of the current wait
	last    time.Duration
	limit   time.Duration // 0 means none
	timer   *time.Timer   // fires at the limit
}

// startClock starts a clock that calls over once it reaches the limit, if there is one.
func startClock(limit time.Duration, over func()) *clock {
	c := &clock{start: realNow(), limit: limit}
	if limit > 0 {
		c.timer = time.AfterFunc(limit, over)
	}
	return c
}

func realNow() time.Time {
	return time.Now() //nolint:forbidigo // the seam: a foreign agent acts in real time
}

// now is the virtual time, in whole microseconds.
func (c *clock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at()
}

// at is now for a caller that has locked.
func (c *clock) at() time.Duration {
	real := realNow()
	if c.waits > 0 {
		real = c.since
	}
	c.last = max(c.last, (real.Sub(c.start) - c.skipped).Truncate(time.Microsecond))
	return c.last
}

// advance moves the clock on to a time, if that is later.
func (c *clock) advance(to time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.at(); to > now {
		c.skipped -= to - now
		c.rearm()
	}
}

// pause runs wait while time stands still.
func (c *clock) pause(wait func()) {
	c.mu.Lock()
	if c.waits++; c.waits == 1 {
		c.since = realNow()
	}
	c.rearm()
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.waits--; c.waits == 0 {
			c.skipped += realNow().Sub(c.since)
		}
		c.rearm()
	}()
	wait()
}

// rearm sets the timer to the time that is left; the caller has locked.
func (c *clock) rearm() {
	if c.timer == nil || !c.timer.Stop() && c.waits == 0 && c.at() >= c.limit {
		return
	}
	if c.waits == 0 {
		c.timer.Reset(max(0, c.limit-c.at()))
	}
}

// stop ends the timer.
func (c *clock) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
}
