package model

import "github.com/cupel-eval/cupel/reports/trend"

// SetPast gives the builder the figures of earlier runs of the suite, in the order
// of time, for Report.Trend; its own run is the last. note says what was left out
// of them; it may be empty. Without earlier runs there is no trend.
func (b *Builder) SetPast(runs []trend.Run, note string) {
	b.past, b.pastNote = runs, note
}

// addTrend follows the candidates from the earlier runs to this one.
func (b *Builder) addTrend() {
	r := &b.r
	if len(b.past) == 0 {
		return
	}
	runs := b.past[:len(b.past):len(b.past)]
	for _, a := range b.order {
		if p := &a.pool; whole(r.Run, a.Candidate) {
			g := tracked{by: p.by, steps: p.stepSum, cost: a.meter.scoredCost, latencies: a.meter.latencies}
			runs = append(runs, g.run(r.Run, a.Candidate))
		}
	}
	r.Trend = trend.Of(runs)
}
