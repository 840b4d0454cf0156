package forecast

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/retry"
)

func TestRunningStats(t *testing.T) {
	var m runningStats
	require.True(t, math.IsNaN(m.variance()))
	m.add(math.NaN()) // what is unknown is not counted
	for _, x := range []float64{1e12 + 4, 1e12 + 7, 1e12 + 13, 1e12 + 16} {
		m.add(x)
	}
	require.Equal(t, 4e12+40, m.sum)
	require.InDelta(t, 30, m.variance(), 1e-3) // (36+9+9+36)/3, of numbers a trillion times as large
	g := m.times(2, math.NaN())
	require.Equal(t, 2e12+20, g.expected)
	require.InDelta(t, 2*30+4*30/4.0, g.variance, 1e-2)
}

func TestNarrow(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct{ in, want estimate }{
		"free":                       {estimate{-inf, 100, inf, 25}, estimate{90.2, 100, 109.8, 25}},
		"never below nothing":        {estimate{-inf, 1, inf, 25}, estimate{0, 1, 10.8, 25}},
		"never beyond the bounds":    {estimate{95, 100, 105, 25}, estimate{95, 100, 105, 25}},
		"what is expected is within": {estimate{110, 100, 90, 25}, estimate{100, 100, 100, 25}},
		"no spread is known":         {estimate{1, 100, 900, nan}, estimate{1, 100, 900, nan}},
		"nothing is expected":        {estimate{1, nan, 900, 25}, estimate{1, nan, 900, 25}},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.narrow()
			for _, pair := range [][2]float64{{c.want.low, c.in.low}, {c.want.expected, c.in.expected}, {c.want.high, c.in.high}} {
				if math.IsNaN(pair[0]) {
					require.True(t, math.IsNaN(pair[1]))
				} else {
					require.InDelta(t, pair[0], pair[1], 1e-9)
				}
			}
		})
	}
	for _, none := range []float64{nan, inf, -inf, 1 << 62} {
		require.Nil(t, whole(none))
	}
}

// The range means about what it says. Of sums that are skewed and differ by task,
// 90, 93 and 94 in 100 lie in it: the less past, the fewer. docs/configuration.md says so.
func TestRangesHoldWhatTheySay(t *testing.T) {
	for name, c := range map[string]struct {
		past        int
		least, most float64
	}{
		"two episodes of each task": {2, 0.85, 0.97},
		"five":                      {5, 0.91, 0.98},
		"twenty":                    {20, 0.93, 0.98},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(c.past)))
			const tasks, rounds = 20, 2000
			held := 0
			for range rounds {
				sum, total := unbounded, 0.0
				for i := range tasks {
					draw := func() float64 { return 100 * float64(i+1) * (1 + rng.ExpFloat64()) }
					var m runningStats
					for range c.past {
						m.add(draw())
					}
					sum = sum.plus(m.times(3, math.NaN()))
					for range 3 {
						total += draw()
					}
				}
				sum.narrow()
				held += drive.Count(sum.low <= total && total <= sum.high)
			}
			share := float64(held) / rounds
			require.GreaterOrEqual(t, share, c.least)
			require.LessOrEqual(t, share, c.most)
		})
	}
}

// failing refuses every call for its load.
type failing struct{ calls *int }

func (m failing) Call(context.Context, providers.Call) (providers.Reply, error) {
	*m.calls++
	return providers.Reply{}, &fault.Error{Kind: fault.Overloaded}
}

func TestDefaultAttemptsAreThoseOfRetry(t *testing.T) {
	calls := 0
	noSleep := func(context.Context, time.Duration) error { return nil }
	_, err := retry.New(failing{&calls}, retry.Policy{Sleep: noSleep}).Call(context.Background(), providers.Call{})
	require.Error(t, err)
	require.Equal(t, defaultAttempts, calls)
}
