package view

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

func TestAttackSection(t *testing.T) {
	w := reporttest.NewWorld("a", "b")
	for i := range 25 {
		w.Add(1, "t", true, 1, func(e *ledger.Episode, _ []ledger.Turn) {
			e.Candidate, e.TaskID = "a", fmt.Sprintf("t.in%02d", i)
			e.Injection, e.AttackSucceeded = fmt.Sprintf("in%02d <b>", i), new(i == 7)
		})
	}
	w.Add(1, "t", false, 1, func(e *ledger.Episode, _ []ledger.Turn) { e.Candidate = "a" })
	w.Add(1, "t.in07", true, 1, func(e *ledger.Episode, _ []ledger.Turn) {
		e.Candidate, e.Injection, e.AttackSucceeded = "b", "in07 <b>", new(true)
	})
	s := attackSection(build(w.M, w.Rows))
	require.Equal(t, []string{
		"a: utility 0.0% (0 of 1), under attack 100.0% (25 of 25), attack success 4.0% (1 of 25)",
		"b: utility –, under attack 100.0% (1 of 1), attack success 100.0% (1 of 1)",
	}, s.Lines)
	require.Len(t, s.Tables, 2)
	require.Len(t, s.Tables[0].Rows, 2)
	require.Len(t, s.Tables[0].Rows[0], len(s.Tables[0].Columns))
	in := s.Tables[1]
	require.Equal(t, []Cell{{Text: "in07 <b>"}, {Text: "1/1"}, {Text: "1/1"}}, in.Rows[0], "those that succeeded most come first")
	require.Equal(t, []Cell{{Text: "in00 <b>"}, {Text: "0/1"}, {Text: "–"}}, in.Rows[1])
	require.Len(t, in.Rows, maxInjections)
	require.Equal(t, "5 more injections", in.More)

	require.Empty(t, attackSection(build(reporttest.NewWorld("a").M, ledger.Rows{})).Tables, "no attack, no section")
}
