package guard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSpike(t *testing.T) {
	for _, test := range []struct {
		name string
		ms   []int // a negative duration must be a spike
	}{
		{"too few to tell", []int{10, 10, 10, 10, 60_000}},
		{"the sixth call can be one", []int{10, 10, 10, 10, 10, -2001}},
		{"2 s are never one", []int{10, 10, 10, 10, 10, 2000}},
		{"four times the median is not a spike", []int{1000, 1000, 1000, 1000, 1000, 4000}},
		{"more is", []int{1000, 1000, 1000, 1000, 1000, -4001}},
		{"slow tools are slow", []int{9000, 9000, 9000, 9000, 9000, 30_000}},
		{"the median, not the mean", []int{1000, 1000, 1000, 90_000, 90_000, -4001}},
		{"an even number: the mean of the middle two", []int{1000, 1000, 1000, 2000, 2000, 2000, 6000}},
		{"an even number, above it", []int{1000, 1000, 1000, 2000, 2000, 2000, -6001}},
		{"a spike counts later on", []int{10, 10, 10, 10, 10, -2001, -2001, -2001, -2001, -2001, 2001}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s Spike
			for i, ms := range test.ms {
				require.Equal(t, ms < 0, s.Record("t", time.Duration(max(ms, -ms))*time.Millisecond), "call %d of %v", i+1, test.ms)
			}
		})
	}
}

func TestSpikeIsPerTool(t *testing.T) {
	var s Spike
	for range 5 {
		s.Record("fast", time.Millisecond)
	}
	require.False(t, s.Record("slow", time.Minute), "another tool's first call")
	require.True(t, s.Record("fast", time.Minute))
}

// TestSpikeAgainstSlow compares with a list of all calls and a median that is found by
// counting.
func TestSpikeAgainstSlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Spike
		var all []time.Duration
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			took := time.Duration(rapid.SampledFrom([]int{0, 1, 499, 500, 501, 1000, 2000, 2001, 4001, 9000}).Draw(t, "ms")) * time.Millisecond
			want := false
			if last := all[max(0, len(all)-spikeWindow):]; len(last) >= spikeSamples {
				want = took > spikeFloor && took > spikeFactor*slowMedian(last)
			}
			require.Equal(t, want, s.Record("t", took))
			all = append(all, took)
			require.LessOrEqual(t, len(s.tools["t"]), spikeWindow)
			require.LessOrEqual(t, cap(s.tools["t"]), 2*spikeWindow)
		}
	})
}

// slowMedian returns the mean of two values: the smallest one that at least half of the
// values do not exceed, and the largest one that at least half reach.
func slowMedian(of []time.Duration) time.Duration {
	var low, high time.Duration = 1 << 62, 0
	for _, v := range of {
		below, above := 0, 0
		for _, w := range of {
			if w <= v {
				below++
			}
			if w >= v {
				above++
			}
		}
		if 2*below >= len(of) {
			low = min(low, v)
		}
		if 2*above >= len(of) {
			high = max(high, v)
		}
	}
	return (low + high) / 2
}

// BenchmarkSpike records one call with a full window. The floor is sorting 20
// numbers.
func BenchmarkSpike(b *testing.B) {
	var s Spike
	b.ReportAllocs()
	for b.Loop() {
		s.Record("t", 3*time.Second)
	}
}
