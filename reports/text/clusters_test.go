package text

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
)

func TestClustersAreBounded(t *testing.T) {
	w := reporttest.NewWorld("a")
	letters := func(n int) string {
		return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%04d", n))
	}
	const most = 1000 // the number of signatures that a report distinguishes
	for i := range most + 20 {
		w.Add(1, "t", false, 30-i%30, reporttest.Says("own_"+letters(i)))
	}
	w.Add(1, "t", false, 1, reporttest.Says("max_steps"))
	w.Add(1, "t", false, 1, reporttest.Says("own_"+letters(3)))
	r := build(w.M, w.Rows)
	require.Len(t, r.Clusters, most+2)
	sizes := map[string]int{}
	for _, c := range r.Clusters {
		sizes[c.Signature] = len(c.Episodes)
	}
	require.Equal(t, []int{20, 1, 2}, []int{sizes["answer: other"], sizes["budget: other"], sizes["answer: own_aaad"]})
	require.Equal(t, "answer: other", r.Episodes[most].Cause.Signature)
	require.Contains(t, r.Notes, "More than 1,000 ways to fail: 21 episodes that failed in yet another way are in one cluster of each kind.")
	require.NotContains(t, strings.Join(build(reporttest.Ways().M, reporttest.Ways().Rows).Notes, "\n"), "yet another way")

	rows := view.Sections(r, nil)[0].Tables[0].Rows
	require.Len(t, rows, 40)
	require.Equal(t, "Other", rows[0][0].Text)
	text := reporttest.Render(t, Markdown, r)
	require.Contains(t, text, "<details><summary>Failures by cause: 1,022 episodes not solved, 1,002 groups</summary>")
	require.Contains(t, text, "and 962 more groups, none of them larger")
}

func TestClustersInText(t *testing.T) {
	r := build(reporttest.Ways().M, reporttest.Ways().Rows)
	text := reporttest.Render(t, Markdown, r)
	for _, line := range []string{
		"| Required text missing from the answer | answer | 4 | 50.0% | t2 ×2, t1, t3 | a ×2, b ×2 | task t3, trial 1, candidate b (3 steps) |",
		"| Wrong number in the answer | answer | 1 | 12.5% | t1 | b | task t1, trial 1, candidate b (9 steps) |",
		"| Overloaded | infrastructure | 1 | 12.5% | t1 | a | task t1, trial 1, candidate a (4 steps) |",
	} {
		require.Contains(t, text, line+"\n")
	}
	plain := reporttest.Render(t, func(b io.Writer, r model.Report) error { return Summary(b, r, Screen{}) }, r)
	require.Regexp(t, `
 failed +cause +shortest example
-+
 +4 +Required text missing from the answer +t3/b
 +1 +Wrong number in the answer +t1/b
 +1 +Wrong day or count in the answer +t1/a
`, plain)
	require.Equal(t, "t3/b", FailedExample(r))
	require.Contains(t, annotations(t, r), "::notice title=cupel%3A most frequent failure::required text missing from the answer: 4 of 8 unsolved episodes, in 3 tasks; shortest t3/b/1, 3 steps")
	var junit junitSuites
	require.NoError(t, xml.Unmarshal([]byte(reporttest.Render(t, JUnit, r)), &junit))
	first := junit.Suites[1].Cases
	require.Equal(t, "trajectory", first[len(first)-1].Failure.Type)
	require.Equal(t, "trajectory: calls out of order or too many\ntrajectory.order: is wrong", first[len(first)-1].Failure.Text)

	solved := reporttest.NewWorld("a")
	solved.Add(3, "t", true, 2, nil)
	r = build(solved.M, solved.Rows)
	require.NotContains(t, reporttest.Render(t, Markdown, r), "Failures by cause")
	require.NotContains(t, reporttest.Render(t, func(b io.Writer, r model.Report) error { return Summary(b, r, Screen{Width: 80}) }, r), "shortest example")
	require.Empty(t, FailedExample(r))
	require.NotContains(t, strings.Join(annotations(t, r), "\n"), "most frequent")
}
