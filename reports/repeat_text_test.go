package reports

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/text"
)

func TestPassIsLeftOut(t *testing.T) {
	for name, r := range map[string]model.Report{
		"one trial":             Build(reporttest.PassRun(1, "+", "-")),
		"no task has them all":  Build(reporttest.PassRun(3, "+x+", "x--")),
		"nothing was run":       Build(reporttest.PassRun(3)),
		"fewer rows than trial": Build(reporttest.PassRun(4, "+++")),
	} {
		c := r.Candidates[0]
		require.Nil(t, c.PassAt, name)
		require.Nil(t, c.PassAll, name)
		reporttest.Lacks(t, reporttest.Render(t, text.JSON, r), "pass_at_k")
		reporttest.Lacks(t, reporttest.Render(t, text.Markdown, r), "pass@k")
	}
	one := Build(reporttest.PassRun(2, "+-")).Candidates[0]
	require.InDelta(t, 1, one.PassAt.Value, 0)
	require.InDelta(t, 0, one.PassAll.Value, 0)
	require.Contains(t, reporttest.Render(t, text.Markdown, Build(reporttest.PassRun(2, "+-"))), "100.0% (2.5–100.0%) of 1 task in 2 trials", "one task says next to nothing")
}

func TestPassIsShown(t *testing.T) {
	r := Build(reporttest.Demo(reporttest.DemoProfiles()[:2], 12, 3))
	row := regexp.MustCompile(`(?s)Solved every time \(pass(?:\^|&#94;)k\) \|.*? tasks in 3 trials \| (\d+\.?\d?% \(\d+\.?\d?–\d+\.?\d?%\) of 12 tasks in 3 trials; k = 1: \d+\.?\d?%; k = 2: \d+\.?\d?%) \|`).FindStringSubmatch(reporttest.Render(t, text.Markdown, r))
	require.NotNil(t, row)
	require.Contains(t, reporttest.Render(t, HTML, r), row[1])
	require.Contains(t, reporttest.Render(t, text.JSON, r), `"pass_all_k": {`)
}
