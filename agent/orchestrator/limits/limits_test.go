package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFaults(t *testing.T) {
	require.Empty(t, Bounds{}.Faults())
	require.Empty(t, Bounds{}.Filled().Faults())
	require.Equal(t, []string{
		"turns must be from 0 to 1000, but is -1", "memory.tokens must be from 0 to 10000000, but is -2",
		"idle must be at most 24h0m0s, in whole microseconds, but is 1ns", "lifetime must be at most 24h0m0s, in whole microseconds, but is 25h0m0s",
	}, Bounds{Turns: -1, Idle: 1, Lifetime: 25 * time.Hour, Memory: Memory{Tokens: -2}}.Faults())
}

func TestDefaults(t *testing.T) {
	require.Equal(t, Bounds{
		Turns: 100, DelegateTurns: 10, BuilderTurns: 30, Background: 5, Idle: 10 * time.Minute, Lifetime: 30 * time.Minute,
		PlanTasks: 50, Memory: Memory{Tokens: 30_000, Observations: 40_000},
	}, Bounds{}.Filled())
	require.Equal(t, 3, Bounds{Background: 3}.Filled().Background)
}
