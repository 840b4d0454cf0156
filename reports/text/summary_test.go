package text

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

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
		// A table that is too wide omits the intervals, and is never omitted itself.
		require.Equal(t, width == 0 || width >= 80, strings.Contains(b.String(), "(66.4–"), width)
		require.Contains(t, b.String(), "\nTime (s) ", width)
		require.Contains(t, b.String(), "\nweak  ", width)
		require.Contains(t, strings.Join(strings.Fields(b.String()), " "), "strategies: all models: Success: no significant difference. Steps, cost and time: tools is best")
	}
}

// If several candidates miss a criterion for the same reason, it is explained once.
func TestWhyExplainsOnce(t *testing.T) {
	var b strings.Builder
	require.NoError(t, Summary(&b, build(reporttest.Research()), Screen{}))
	for _, explanation := range []string{"Valid: all calls are", "Valid: a plan keeps", "A step is a model turn: the planner's"} {
		require.Equal(t, 1, strings.Count(b.String(), explanation), explanation)
	}

	r := build(reporttest.Research())
	r.Candidates[5].Criteria, r.Candidates[5].Verdict = r.Candidates[2].Criteria, r.Candidates[2].Verdict
	b.Reset()
	require.NoError(t, Summary(&b, r, Screen{}))
	require.Contains(t, b.String(), "why: "+r.Candidates[2].Name+" and "+r.Candidates[5].Name+": ")
}

// The verdicts of four candidates fit one screen, with names of any length, and names
// are never cut.
func TestSummaryFits(t *testing.T) {
	r := build(reporttest.Research())
	long := "a-candidate-whose-name-has-sixty-characters-and-not-one-less"
	r.Candidates[0].Name = long
	for _, width := range []int{80, 120, 200} {
		var b strings.Builder
		require.NoError(t, Summary(&b, r, Screen{Width: width}))
		for line := range strings.Lines(b.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, line)
			require.Equal(t, strings.TrimRight(line, " \n")+"\n", line, "no blanks at the end")
		}
		table, _, _ := strings.Cut(b.String(), "\nstrategies")
		require.Equal(t, width >= 120, strings.Contains(table, long), width)
		require.Contains(t, regexp.MustCompile(`( {2,}[^\n]*)?\n *`).ReplaceAllString(table, ""), long)
	}
}
