package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pooled claim about two strategies is of the models that both were run with.
func TestStrategiesOfSomeModels(t *testing.T) {
	w := byAgent("contract", "tools", "contract", "tools", "plan")
	for k := range 5 {
		if k > 1 {
			w.m.Candidates[k].Name, w.m.Candidates[k].Model = w.m.Candidates[k].Name+"-n", "n"
		}
		for _, task := range []string{"x", "y"} {
			w.enter(k, task, 1, true, int32(2+k))
		}
	}
	s := Build(w.m, w.rows).Strategies
	require.Contains(t, strings.Join(s.Notes, " "), "Not every strategy was run with every model")
	require.Equal(t, []int{4, 2}, []int{claim(t, s.Pooled, "elapsed", "contract", "tools").N, claim(t, s.Pooled, "elapsed", "contract", "plan").N})
	require.NotContains(t, strings.Join(Build(research()).Strategies.Notes, " "), "Not every strategy")
}
