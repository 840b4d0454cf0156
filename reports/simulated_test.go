package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMixedGroupIsNamedEverywhere(t *testing.T) {
	r := Build(demo(demoProfiles(), 6, 1))
	for _, f := range []string{render(t, HTML, r), render(t, Markdown, r)} {
		require.True(t, strings.Contains(f, "mixes output mode: json"), "the report says that the pool mixes output modes")
	}
}

func TestSimulatedIsMarked(t *testing.T) {
	m, rows := demo(demoProfiles(), 6, 1)
	page := render(t, HTML, Build(m, rows))
	require.Equal(t, 1+2+2, strings.Count(page, `<span class="chip sim">SIMULATED</span>`), "the run, and both candidates in each list")
	require.Contains(t, render(t, Markdown, Build(m, rows)), "**SIMULATED**")
	m.Simulated = false
	for i := range m.Candidates {
		m.Candidates[i].Simulated = false
	}
	measured := Build(m, rows)
	require.False(t, strings.Contains(render(t, HTML, measured), "SIMULATED"))
	require.False(t, strings.Contains(render(t, Markdown, measured), "SIMULATED"))
}
