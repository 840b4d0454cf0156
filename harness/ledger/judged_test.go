package ledger

import (
	"testing"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/stretchr/testify/require"
)

func TestWhichTurnsCount(t *testing.T) {
	for _, c := range []struct {
		name                   string
		turn                   Turn
		decides, judged, valid bool
	}{
		{"main", Turn{Role: RoleMain, ContractValid: true}, true, true, true},
		{"no reply", Turn{Role: RoleMain, ErrorKind: "overloaded"}, true, false, false},
		{"a second model that stands in", Turn{Role: RoleFallback, ContractValid: true}, true, true, true},
		{"planner", Turn{Role: RolePlanner, ContractValid: true}, true, true, true},
		{"step", Turn{Role: RoleStep}, true, true, false},
		{"a role of somebody's own strategy", Turn{Role: "critic", ContractValid: true}, true, true, true},
		{"no role", Turn{ContractValid: true}, true, true, true},
		{"rescue", Turn{Role: roleRescue, ContractValid: true}, false, false, true},
		{"compress", Turn{Role: RoleCompress, ContractValid: true}, false, false, true},
		{"cut off, by the provider", Turn{Role: RoleMain, ContractValid: true, FinishReason: "length"}, true, true, false},
		{"cut off, by its text", Turn{Role: RoleMain, ContractValid: true, Violations: []string{"x", "truncated"}}, true, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.decides, c.turn.Decides())
			require.Equal(t, c.judged, c.turn.Judged())
			require.Equal(t, c.valid, c.turn.Valid())
		})
	}
}

func TestWhichEpisodesCount(t *testing.T) {
	for _, c := range []struct {
		name     string
		episode  Episode
		excluded string
		success  bool
	}{
		{"solved", Episode{Status: "answered", Solved: true}, "", true},
		{"failed", Episode{Status: "answered"}, "", false},
		{"an expected stop", Episode{Status: "stopped", StopReason: "max_iterations", Solved: true}, "", true},
		{"another stop", Episode{Status: "stopped", StopReason: "max_iterations"}, "", false},
		{"infrastructure", Episode{Status: StatusInfraError}, LostToInfra, false},
		{"infrastructure, by the flag of older ledgers", Episode{Status: "error", InfraError: true}, LostToInfra, false},
		{"harness, whatever the flag", Episode{Status: StatusHarnessError, InfraError: true}, LostToHarness, false},
		{"a cap, whatever the flag", Episode{Status: StatusBudgetStop, InfraError: true}, LostToCap, false},
		{"interrupted", Episode{Status: StatusCancelled}, LostToUser, false},
		{"an error without a cause is a failure", Episode{Status: "error"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.excluded, c.episode.Excluded())
			var o manifest.Outcomes
			c.episode.AddTo(&o)
			require.Equal(t, c.success, o.Solved == 1)
			lost := c.excluded != "" && c.excluded != LostToUser // such an episode has no row
			require.Equal(t, lost, o.WithoutResult() == 1)
		})
	}
}

func TestWhichSolvedEpisodesCount(t *testing.T) {
	for _, c := range []struct {
		name             string
		episode          Episode
		steps, clarifies bool
	}{
		{"solved", Episode{Status: "answered", ExpectedStatus: "answered", Solved: true}, true, true},
		{"failed", Episode{Status: "answered", ExpectedStatus: "answered"}, false, false},
		{"an expected question", Episode{Status: "clarify", ExpectedStatus: "clarify", Solved: true}, true, false},
		{"an expected stop", Episode{Status: "stopped", ExpectedStatus: "stopped", Solved: true}, false, false},
		{"a stop that was accepted, too", Episode{Status: "stopped", ExpectedStatus: "answered", Solved: true}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.steps, c.episode.CountsSteps())
			require.Equal(t, c.clarifies, c.episode.CountsClarifies())
		})
	}
}
