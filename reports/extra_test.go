package reports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// What an escalation cost is visible, and unknown rather than zero.
func TestExtraTurnsAreCountedAndPriced(t *testing.T) {
	price := func(n int64) *int64 { return &n }
	turn := func(kind string, cost *int64) *ledger.Turn { return &ledger.Turn{Kind: kind, CostNanoUSD: cost} }
	episodes := []*Episode{
		{turns: []*ledger.Turn{turn("act", price(1)), turn("rescue", price(2_000_000)), turn("reflect", nil)}},
		{turns: []*ledger.Turn{turn("rescue", price(3_000_000)), turn("reflect", price(5))}},
	}
	require.Equal(t, ExtraTurns{Kind: "rescue", Turns: 2, Cost: price(5_000_000)}, extraTurns(episodes, "rescue"))
	require.Equal(t, ExtraTurns{Kind: "reflect", Turns: 2}, extraTurns(episodes, "reflect"))
	m := Metrics{Extra: []ExtraTurns{extraTurns(episodes, "rescue"), extraTurns(episodes, "reflect"), extraTurns(episodes, "compress")}}
	require.Equal(t, []string{"2 for $0.005", "2 for unknown", "0"}, []string{m.extra("rescue"), m.extra("reflect"), m.extra("compress")})
}
