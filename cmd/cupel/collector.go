package main

import "runtime/debug"

// gcPercent is how much garbage a run may leave, in percent of what is in use, before
// it is collected. What a run has in use is little and does not grow with it, so
// that Go's 100 has it collect every few hundred turns: that took a fifth of all
// time. At 400 a run takes some 300 MB at most.
const gcPercent = 400

// collectLess collects garbage less often until back is called. GOGC in the
// environment has the last word.
func (p *process) collectLess() (back func()) {
	if _, set := p.env("GOGC"); set {
		return func() {}
	}
	was := debug.SetGCPercent(gcPercent)
	return func() { debug.SetGCPercent(was) }
}
