package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

// A pooled claim about two strategies covers the models that both ran with.
func TestStrategiesOfSomeModels(t *testing.T) {
	w := reporttest.ByAgent("contract", "tools", "contract", "tools", "plan")
	for k := range 5 {
		if k > 1 {
			w.M.Candidates[k].Name, w.M.Candidates[k].Model = w.M.Candidates[k].Name+"-n", "n"
		}
		for _, task := range []string{"x", "y"} {
			w.Enter(k, task, 1, true, int32(2+k))
		}
	}
	s := build(w.M, w.Rows).Strategies
	require.Contains(t, strings.Join(s.Notes, " "), "Not every strategy was run with every model")
	require.Equal(t, []int{4, 2}, []int{claim(t, s.Pooled, "elapsed", "contract", "tools").N, claim(t, s.Pooled, "elapsed", "contract", "plan").N})
	require.NotContains(t, strings.Join(build(reporttest.Research()).Strategies.Notes, " "), "Not every strategy")
}
