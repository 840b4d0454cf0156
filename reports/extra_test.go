package reports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// What an escalation cost is visible, and unknown rather than zero; also of an
// episode without a result.
func TestExtraTurnsAreCountedAndPriced(t *testing.T) {
	price := func(n int64) *int64 { return &n }
	w := newWorld("a")
	w.add(1, "t", true, 3, func(_ *ledger.Episode, turns []ledger.Turn) {
		turns[1].Kind, turns[1].CostNanoUSD = "rescue", price(2_000_000)
		turns[2].Kind = "reflect"
	})
	w.add(1, "t", false, 2, func(e *ledger.Episode, turns []ledger.Turn) {
		e.InfraError = true
		turns[0].Kind, turns[0].CostNanoUSD = "rescue", price(3_000_000)
		turns[1].Kind, turns[1].CostNanoUSD = "reflect", price(5)
	})
	m := Build(w.m, w.rows).Candidates[0].Metrics
	require.Equal(t, []ExtraTurns{{"reflect", 2, nil}, {"rescue", 2, price(5_000_000)}, {"compress", 0, price(0)}}, m.Extra)
	require.Equal(t, []string{"2 for $0.005", "2 for unknown", "0"}, []string{m.extra("rescue"), m.extra("reflect"), m.extra("compress")})
}
