package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

func TestBoardFitsATerminal(t *testing.T) {
	r := build(reporttest.Research())
	for _, width := range []int{0, 60, 80, 100, 140} {
		var b strings.Builder
		summaryStrategies(&b, r, Screen{Width: width})
		for line := range strings.Lines(b.String()) {
			if width > 0 {
				require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), width, line)
			}
		}
		// Where no table fits, each model has a line.
		require.Equal(t, width == 0 || width >= 100, strings.Contains(b.String(), "time, s"), width)
		require.Equal(t, width > 0 && width < 100, strings.Contains(b.String(), "sim-weak/weak: "), width)
		require.Contains(t, b.String(), "strategies: all models: tools wins on steps, cost and")
	}
}

// What several candidates miss for the same reason is explained once.
func TestWhyExplainsOnce(t *testing.T) {
	var b strings.Builder
	require.NoError(t, Summary(&b, build(reporttest.Research()), Screen{}))
	for _, explanation := range []string{"Valid: all calls are", "Valid: a plan keeps", "A step is a model turn: the planner's"} {
		require.Equal(t, 1, strings.Count(b.String(), explanation), explanation)
	}
	require.Equal(t, 2, strings.Count(b.String(), "1 episode without a result left out. Valid"))
	require.Contains(t, b.String(), "why: weak-contract: tasks solved ")
}
