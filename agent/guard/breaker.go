package guard

import "time"

// The circuit breaker's constants: a tool is cut off while more than half of
// its last breakerWindow calls, but at least breakerSamples, failed.
const (
	breakerWindow  = 10
	breakerSamples = 4
	breakerPause   = 60 * time.Second
)

// Breaker stops calls to a tool that keeps failing. The zero Breaker is ready.
type Breaker struct{ tools map[string]*circuit }

// circuit is the recent past of one tool.
type circuit struct {
	failed []bool // newest last, at most breakerWindow
	open   bool
	// retry is when an open circuit lets a probe through.
	retry time.Time
}

// Allows reports whether the tool may be called at time at. After a pause of 60
// seconds an open circuit allows calls again, until one is recorded.
func (b *Breaker) Allows(tool string, at time.Time) bool {
	c := b.tools[tool]
	return c == nil || !c.open || !at.Before(c.retry)
}

// Record adds the outcome of an executed call that ended at time at. The first
// outcome after a pause decides alone: a success closes the circuit and forgets
// the past, a failure opens it for another pause.
func (b *Breaker) Record(tool string, failed bool, at time.Time) {
	if b.tools == nil {
		b.tools = map[string]*circuit{}
	}
	c := b.tools[tool]
	if c == nil {
		c = &circuit{}
		b.tools[tool] = c
	}
	if c.open && !failed {
		*c = circuit{}
		return
	}
	c.failed = append(c.failed, failed)
	c.failed = c.failed[max(0, len(c.failed)-breakerWindow):]
	failures := 0
	for _, f := range c.failed {
		if f {
			failures++
		}
	}
	if c.open || len(c.failed) >= breakerSamples && 2*failures > len(c.failed) {
		c.open, c.retry = true, at.Add(breakerPause)
	}
}
