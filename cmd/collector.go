package cmd

import "runtime/debug"

// What a run has in use is little and does not grow with it, so that Go's own
// setting collects garbage every few hundred turns, for a fifth of all time.
const (
	// gcPercent is how much garbage a run may leave, in percent of what is in use.
	gcPercent = 400
	// memoryLimit is where garbage is collected more often again, in bytes.
	memoryLimit = 256 << 20
)

// collectLess collects garbage less often until back is called. GOGC and
// GOMEMLIMIT in the environment have the last word.
func (p *process) collectLess() (back func()) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if _, set := p.env(name); set {
			return func() {}
		}
	}
	percent, limit := debug.SetGCPercent(gcPercent), debug.SetMemoryLimit(memoryLimit)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
