package cmd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// The ledger is a leaf and has words of its own for what agents write: they are the same.
func TestAgentsAndLedgerShareTheirWords(t *testing.T) {
	for _, c := range [][2]string{
		{turn.RoleMain, ledger.RoleMain}, {turn.RoleRescue, ledger.RoleRescue}, {turn.RoleFallback, ledger.RoleFallback},
		{turn.RolePlanner, ledger.RolePlanner}, {turn.RoleStep, ledger.RoleStep}, {turn.RoleCompress, ledger.RoleCompress},
		{string(agent.Stopped), ledger.StatusStopped}, {string(agent.Interrupted), ledger.StatusCancelled},
	} {
		require.Equal(t, c[0], c[1])
	}
}
