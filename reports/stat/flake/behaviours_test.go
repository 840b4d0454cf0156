package flake_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
)

// classified is what is said of so many passes of so many trials before and after.
func classified(t *testing.T, passedBefore, before, passedAfter, after int) flake.Evidence {
	e, ok := flake.Classify(stat.Trials{Passed: passedBefore, N: before}, stat.Trials{Passed: passedAfter, N: after}, 0.05)
	require.True(t, ok)
	return e
}

// behaviours are those of comparisons, by their ids.
var behaviours = map[string]func(t *testing.T){
	"B141": func(t *testing.T) { require.InDelta(t, 0.03846, classified(t, 10, 10, 1, 3).P, 5e-6) },
	"B142": func(t *testing.T) {
		for _, e := range []flake.Evidence{classified(t, 0, 0, 3, 3), classified(t, 3, 3, 0, 0), classified(t, 4, 4, 9, 9), classified(t, 0, 4, 0, 9)} {
			require.InDelta(t, 1, e.P, 0)
		}
	},
	// Differs on purpose: intervals are exact, and so contain Wilson's, which may cover less
	// than 95%.
	"B143": func(t *testing.T) {
		half, ok := stat.ClopperPearson(5, 10, 0.95)
		require.True(t, ok)
		require.Less(t, half.Low, 0.237)
		require.Greater(t, half.High, 0.763)
		require.Equal(t, stat.Interval{Low: 0, High: 1}, classified(t, 0, 0, 0, 0).Share)
	},
	"B144": func(t *testing.T) { require.Equal(t, flake.NewlyBroken, classified(t, 10, 10, 0, 10).Class) },
	// The p is 1/20, computed as a fraction, and 0.05 is enough.
	"B145": func(t *testing.T) { require.Equal(t, flake.NewlyBroken, classified(t, 3, 3, 0, 3).Class) },
	// Differs on purpose: a baseline that passes at times is no reason to pass over a loss that
	// is significant. A loss that is not significant leaves the task flaky.
	"B146": func(t *testing.T) {
		e := classified(t, 4, 10, 0, 10)
		require.Equal(t, flake.NewlyBroken, e.Class)
		require.InDelta(t, 210.0/4845, e.P, 1e-12)
		require.Equal(t, flake.Flaky, classified(t, 3, 10, 0, 10).Class)
	},
	"B147": func(t *testing.T) { require.Equal(t, flake.NewlyFixed, classified(t, 0, 10, 8, 10).Class) },
	"B148": func(t *testing.T) {
		require.Equal(t, flake.Unknown, classified(t, 0, 0, 3, 10).Class)
		require.Equal(t, flake.Unknown, classified(t, 3, 10, 0, 0).Class)
	},
}

func TestBehaviours(t *testing.T) {
	for id, test := range behaviours {
		t.Run(id, test)
	}
}

// Each behaviour of the data is tested above.
func TestBehavioursAreComplete(t *testing.T) {
	for _, id := range testkit.Behaviours(t, "reports") {
		require.Contains(t, behaviours, id)
	}
}
