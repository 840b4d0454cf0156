package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// The constants of the ledger equal those of the agents, which it cannot import.
func TestAgentsAndLedgerShareTheirWords(t *testing.T) {
	for _, c := range [][2]string{
		{turn.RoleMain, ledger.RoleMain}, {turn.RoleFallback, ledger.RoleFallback},
		{turn.RolePlanner, ledger.RolePlanner}, {turn.RoleStep, ledger.RoleStep}, {turn.RoleCompress, ledger.RoleCompress},
		{string(agent.Stopped), ledger.StatusStopped}, {string(agent.Interrupted), ledger.StatusCancelled},
	} {
		require.Equal(t, c[0], c[1])
	}
}
