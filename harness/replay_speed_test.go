package harness_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// A replay with a speed takes the recorded time divided by the speed, and writes the same rows as
// one without delays.
func TestReplaySpeed(t *testing.T) {
	o := countsOptions(t)
	o.Select = harness.Selection{Tasks: []string{"G01"}, Candidates: []string{"strong"}}
	want, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	recorded := time.Duration(0)
	for _, turn := range want.Rows.Turns {
		recorded += time.Duration(*turn.DurationUs) * time.Microsecond
	}
	require.Positive(t, recorded)

	const least = 50 * time.Millisecond
	o.ReplaySpeed = recorded.Seconds() / least.Seconds()
	start := time.Now()
	got, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(start), least-time.Millisecond)
	require.Equal(t, want.Manifest, got.Manifest)
	require.Equal(t, want.Rows, got.Rows)

	o.ReplaySpeed = 1e-6 // would take days
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel) // as a second Ctrl-C does
	got, err = harness.Run(ctx, o)
	require.NoError(t, err)
	require.True(t, got.Interrupted)
	require.Empty(t, got.Rows.Episodes)
}

func TestReplaySpeedIsRefused(t *testing.T) {
	for _, speed := range []float64{-1, math.NaN(), math.Inf(1)} {
		o := countsOptions(t)
		o.ReplaySpeed = speed
		_, err := harness.Run(context.Background(), o)
		var config *harness.ConfigError
		require.ErrorAs(t, err, &config)
		require.ErrorContains(t, err, "1 is the recorded pace")
	}
	o := recordOptions(t, "G01")
	o.ReplaySpeed = 1
	_, err := harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "mode "+string(recorder.Record)+" goes at the network's pace")
}
