package reports

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPassIsLeftOut(t *testing.T) {
	for name, r := range map[string]Report{
		"one trial":             Build(passRun(1, "+", "-")),
		"no task has them all":  Build(passRun(3, "+x+", "x--")),
		"nothing was run":       Build(passRun(3)),
		"fewer rows than trial": Build(passRun(4, "+++")),
	} {
		c := r.Candidates[0]
		require.Nil(t, c.PassAt, name)
		require.Nil(t, c.PassAll, name)
		lacks(t, render(t, JSON, r), "pass_at_k")
		lacks(t, render(t, Markdown, r), "pass@k")
	}
	one := Build(passRun(2, "+-")).Candidates[0]
	require.InDelta(t, 1, one.PassAt.Value, 0)
	require.InDelta(t, 0, one.PassAll.Value, 0)
	require.Contains(t, render(t, Markdown, Build(passRun(2, "+-"))), "100% (2.5–100%) of 1 task in 2 trials", "one task says next to nothing")
}

func TestPassIsShown(t *testing.T) {
	r := Build(demo(demoProfiles()[:2], 12, 3))
	row := regexp.MustCompile(`\| Solved every time \(pass(?:\^|&#94;)k\) \| (\d+\.?\d?% \(\d+\.?\d?–\d+\.?\d?%\) of 12 tasks in 3 trials) \|`).FindStringSubmatch(render(t, Markdown, r))
	require.NotNil(t, row)
	require.Contains(t, render(t, HTML, r), row[1])
	require.Contains(t, render(t, JSON, r), `"pass_all_k": {`)
}
