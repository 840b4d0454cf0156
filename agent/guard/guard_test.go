package guard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBudgets(t *testing.T) {
	caps := Budgets{MaxSteps: 2, MaxToolCalls: 1, MaxTime: time.Second}
	for _, test := range []struct {
		name               string
		budgets            Budgets
		used               Used
		steps, tools, time bool
		left               time.Duration
	}{
		{"fresh", caps, Used{}, false, false, false, time.Second},
		{"one below each cap", caps, Used{Steps: 1, Elapsed: time.Second - 1}, false, false, false, 1},
		{"steps at the cap", caps, Used{Steps: 2}, true, false, false, time.Second},
		{"tool calls at the cap", caps, Used{ToolCalls: 1}, false, true, false, time.Second},
		{"time at the cap is over", caps, Used{Elapsed: time.Second}, false, false, true, 0},
		{"beyond", caps, Used{Steps: 9, ToolCalls: 9, Elapsed: time.Hour}, true, true, true, 0},
		{"tokens and cost have caps of their own", caps, Used{Tokens: 1 << 40, CostNanoUSD: 1 << 40, TokensUnknown: true, CostUnknown: true}, false, false, false, time.Second},
		{"zero means no limit", Budgets{}, Used{Steps: 9, ToolCalls: 9, Elapsed: time.Hour}, false, false, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.steps, test.budgets.OutOfSteps(test.used))
			require.Equal(t, test.tools, test.budgets.OutOfToolCalls(test.used))
			require.Equal(t, test.time, test.budgets.OutOfTime(test.used))
			require.Equal(t, test.left, test.budgets.TimeLeft(test.used))
		})
	}
}

func TestTokenAndCostBudgets(t *testing.T) {
	caps := Budgets{MaxTokens: 100, MaxCostNanoUSD: 50}
	for _, test := range []struct {
		name         string
		budgets      Budgets
		used         Used
		tokens, cost bool
	}{
		{"fresh", caps, Used{}, false, false},
		{"one below", caps, Used{Tokens: 99, CostNanoUSD: 49}, false, false},
		{"tokens at the cap", caps, Used{Tokens: 100}, true, false},
		{"cost at the cap", caps, Used{CostNanoUSD: 50}, false, true},
		{"beyond", caps, Used{Tokens: 1 << 40, CostNanoUSD: 1 << 40}, true, true},
		{"unknown tokens use up their cap", caps, Used{TokensUnknown: true}, true, false},
		{"an unknown cost uses up its cap", caps, Used{CostUnknown: true}, false, true},
		{"zero means no limit, also with unknown values", Budgets{}, Used{Tokens: 9, CostNanoUSD: 9, TokensUnknown: true, CostUnknown: true}, false, false},
		{"steps and time do not count", caps, Used{Steps: 1000, ToolCalls: 1000, Elapsed: time.Hour}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.tokens, test.budgets.OutOfTokens(test.used))
			require.Equal(t, test.cost, test.budgets.OutOfCost(test.used))
		})
	}
}

func TestStall(t *testing.T) {
	for _, test := range []struct {
		name  string
		turns string // q asks, a acts, Q asks and must stall
	}{
		{"two questions in a row", "qQ"},
		{"a third stalls too", "qQQ"},
		{"an action starts over", "qaqaqQ"},
		{"never asked", "aaaa"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s Stall
			for i, turn := range test.turns {
				require.Equal(t, turn == 'Q', s.Turn(turn != 'a'), "turn %d of %s", i+1, test.turns)
			}
		})
	}
}
