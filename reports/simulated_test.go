package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/text"
)

func TestMixedGroupIsNamedEverywhere(t *testing.T) {
	r := Build(reporttest.Demo(reporttest.DemoProfiles(), 6, 1))
	for _, f := range []string{reporttest.Render(t, HTML, r), reporttest.Render(t, text.Markdown, r)} {
		require.True(t, strings.Contains(f, "mixes output mode: json"), "the report says that the pool mixes output modes")
	}
}

func TestSimulatedIsMarked(t *testing.T) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles(), 6, 1)
	page := reporttest.Render(t, HTML, Build(m, rows))
	require.Equal(t, 1+2+2*5, strings.Count(page, `<span class="chip sim">SIMULATED</span>`), "the run, and both candidates in each list")
	only := Build(reporttest.Demo(reporttest.DemoProfiles()[:2], 6, 1))
	require.Equal(t, 1, strings.Count(reporttest.Render(t, HTML, only), "SIMULATED"), "once where all are")
	require.Contains(t, reporttest.Render(t, text.Markdown, Build(m, rows)), "**SIMULATED**")
	m.Simulated = false
	for i := range m.Candidates {
		m.Candidates[i].Simulated = false
	}
	measured := Build(m, rows)
	require.False(t, strings.Contains(reporttest.Render(t, HTML, measured), "SIMULATED"))
	require.False(t, strings.Contains(reporttest.Render(t, text.Markdown, measured), "SIMULATED"))
}
