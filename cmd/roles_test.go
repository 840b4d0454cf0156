package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// The ledger is a leaf and has words of its own for what agents write: they are the same.
func TestAgentsAndLedgerShareTheirWords(t *testing.T) {
	for _, c := range [][2]string{
		{agent.RoleMain, ledger.RoleMain}, {agent.RoleRescue, ledger.RoleRescue}, {agent.RoleFallback, ledger.RoleFallback},
		{agent.RolePlanner, ledger.RolePlanner}, {agent.RoleStep, ledger.RoleStep}, {agent.RoleCompress, ledger.RoleCompress},
		{string(agent.Stopped), ledger.StatusStopped}, {string(agent.Interrupted), ledger.StatusCancelled},
	} {
		require.Equal(t, c[0], c[1])
	}
}
