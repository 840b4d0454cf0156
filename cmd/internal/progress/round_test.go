package progress

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

func TestRoundLine(t *testing.T) {
	m := manifest.Manifest{
		Candidates: []manifest.Candidate{{Name: "a", Planned: 10}, {Name: "b", Planned: 20}, {Name: "c", Planned: 20}, {Name: "d", Planned: 20}},
		Decide:     &manifest.Decide{Rounds: []int{1, 2, 3}, Finished: 2, Stops: []manifest.Stop{{Candidate: "a", Round: 1, Verdict: "fail"}}},
	}
	e := newRound(m, []manifest.Stop{{Candidate: "b", Round: 2, Verdict: "pass"}, {Candidate: "d", Round: 2, Verdict: "no_significant_regression"}})
	require.Equal(t, "round 2 of 3: b passes; d has no significant regression; undecided: c", e.line())
	require.Equal(t, 70, e.Episodes)
	require.Equal(t, []string{"c"}, e.Continue)
}
