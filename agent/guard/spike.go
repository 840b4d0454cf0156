package guard

import (
	"slices"
	"time"
)

// A call is a spike when it takes longer than spikeFloor and more than
// spikeFactor times the median of the tool's last spikeWindow calls, of which
// there must be at least spikeSamples.
const (
	spikeFloor   = 2 * time.Second
	spikeFactor  = 4
	spikeWindow  = 20
	spikeSamples = 5
)

// Spike distinguishes unusually long tool calls from the rest. It is a signal and stops
// nothing by itself. The zero Spike is ready.
type Spike struct{ tools map[string][]time.Duration }

// Record adds an executed call, regardless of the result, and reports whether it took
// unusually long: more than 2 s and more than 4 times the median of the tool's
// earlier calls, the last 20 of them. With fewer than 5 earlier calls nothing is
// unusual. The median of an even number is the mean of the middle two.
func (s *Spike) Record(tool string, took time.Duration) bool {
	past := s.tools[tool]
	spike := len(past) >= spikeSamples && took > spikeFloor && took > spikeFactor*median(past)
	if s.tools == nil {
		s.tools = map[string][]time.Duration{}
	}
	if len(past) == spikeWindow {
		copy(past, past[1:])
		past = past[:spikeWindow-1]
	}
	s.tools[tool] = append(past, took)
	return spike
}

// median needs at least one duration and changes none.
func median(of []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
