package reports

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Strategies of one model are not pooled: their protocols differ.
func TestStrategiesAreNotPooled(t *testing.T) {
	w := byAgent("contract", "tools", "tools ")
	w.m.Candidates[2].Agent = "tools"
	for k := range w.m.Candidates {
		w.enter(k, "t", 1, true, 2)
	}
	r := Build(w.m, w.rows)
	require.Len(t, r.Groups, 1)
	require.Equal(t, "p/m tools", r.Groups[0].name())
	require.Equal(t, "Protocol-valid first outputs", r.Groups[0].Criteria[1].Title)
	require.Equal(t, "tools", r.Groups[0].Agent)
}
