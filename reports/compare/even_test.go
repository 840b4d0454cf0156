package compare

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// 39 of 97 tasks break and 38 are fixed. The p-value of the swaps is 1; a rounding
// error once made it larger, and the adjustment refused it.
func TestEvenSplit(t *testing.T) {
	for _, c := range [][3]int{{97, 39, 38}, {77, 38, 39}, {300, 100, 99}, {300, 100, 100}, {1000, 333, 334}} {
		base := plan{candidate: "a", tasks: c[0], trials: 1, episode: fails(func(task, _ int) bool { return task >= c[1] && task < c[1]+c[2] })}
		trial := plan{candidate: "b", tasks: c[0], trials: 1, episode: fails(func(task, _ int) bool { return task < c[1] })}
		p := compared(base, trial, Rules{}).Pairs[0]
		m := metric(p, "solved")
		require.NotNil(t, m.Adjusted)
		require.GreaterOrEqual(t, *m.Adjusted, *m.P)
		require.LessOrEqual(t, *m.Adjusted, 1.0)
		for _, d := range p.FailureChanges {
			require.NotNil(t, d.Adjusted, "%s", d.Kind)
		}
	}
}

// An invalid p-value stops the comparison, so that no metric lacks its adjusted one.
func TestAdjustmentIsNotDropped(t *testing.T) {
	for name, method := range map[string]func([]float64) ([]float64, error){"Holm": multiple.Holm, "Benjamini and Hochberg": multiple.BenjaminiHochberg} {
		family := []*measured{{Metric: Metric{P: new(0.1)}}, {Metric: Metric{P: new(1.0000000000000002)}}}
		require.ErrorContains(t, adjust(family, func(m *measured) *measured { return m }, method), "compare metrics: adjust by "+name+": p-value 2 of 2 is 1.0000000000000002")
	}
	all := []comparing{{gating: []measured{{Metric: Metric{P: new(-1.0)}}}}}
	require.ErrorContains(t, decide(all, Rules{Alpha: 0.05}), "p-value 1 of 1 is -1")
}

// If more than 1,000 tasks all change by the same amount, they have no spread and the t
// test has no result. The swaps have one.
func TestEqualChangeOfManyTasks(t *testing.T) {
	base := plan{candidate: "a", tasks: 1200, trials: 1}
	trial := plan{candidate: "b", tasks: 1200, trials: 1, episode: func(_, _ int, rows *ledger.EpisodeRows) { rows.Episode.CostNanoUSD = new(int64(3_000_001)) }}
	m := metric(compared(base, trial, Rules{MaxCost: 0.1}).Pairs[0], "cost")
	require.Contains(t, m.Test, "paired permutation")
	require.Equal(t, 0.5e-300, *m.P, "never 0")
}
