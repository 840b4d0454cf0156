package transcript

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// The facts of a turn name the attempts of cupel's own agents, and the retries of others.
func TestTurnFacts(t *testing.T) {
	require.Empty(t, turnFacts(&ledger.Turn{Attempts: 1}))
	require.Equal(t, "2 attempts", turnFacts(&ledger.Turn{Attempts: 2}))
	require.Equal(t, "1.50 s · retry 2 · 1 warning", turnFacts(&ledger.Turn{DurationUs: new(int64(1_500_000)), Attempts: 1, RetryIndex: 2, Warnings: []string{"w"}}))
}
