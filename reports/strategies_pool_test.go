package reports

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/view"
)

// Strategies of one model are not pooled: their protocols differ.
func TestStrategiesAreNotPooled(t *testing.T) {
	w := reporttest.ByAgent("contract", "tools", "tools ")
	w.M.Candidates[2].Agent = "tools"
	for k := range w.M.Candidates {
		w.Enter(k, "t", 1, true, 2)
	}
	r := Build(w.M, w.Rows)
	require.Len(t, r.Groups, 1)
	require.Equal(t, "p/m tools", view.Judgements(r)[len(r.Candidates)].Name)
	require.Equal(t, "Protocol-valid first outputs", r.Groups[0].Criteria[1].Title)
	require.Equal(t, "tools", r.Groups[0].Agent)
}
