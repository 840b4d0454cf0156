package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// A simulated user that broke its rules is counted and named; an episode that was not solved has a
// failure of a kind of its own.
func TestUserFaultsAreNamed(t *testing.T) {
	m, rows := attackRun(3, 1, func(_, _, _ int, e *ledger.Episode) { e.Injection, e.AttackSucceeded = "", nil })
	rows.Episodes[0].UserFaults = "left the persona; gave the answer away"
	rows.Episodes[1].UserFaults, rows.Episodes[1].Solved = "disclosed a fact unasked: order", false
	r := build(m, rows)
	require.Equal(t, 2, r.Candidates[0].UserFaults)
	require.Contains(t, strings.Join(r.Notes, "\n"), "In 2 episodes of candidate a the simulated user broke its rules (column user_faults)")
	require.Len(t, r.Clusters, 1)
	require.Equal(t, "user: simulated user: disclosed a fact unasked", r.Clusters[0].Signature)

	m, rows = attackRun(3, 1, func(_, _, _ int, e *ledger.Episode) { e.Injection, e.AttackSucceeded = "", nil })
	require.NotContains(t, strings.Join(build(m, rows).Notes, "\n"), "simulated user")
}
