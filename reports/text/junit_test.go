package text

import (
	"encoding/xml"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
)

func TestLargeRunSaysWhatItShows(t *testing.T) {
	b := model.NewBuilder(manifest.Manifest{RunID: "r"}, nil)
	reporttest.AddLong(b.Add, 6000, 1)
	r := b.Report()
	for i := range r.Episodes {
		if i > 5000 {
			r.Episodes[i].Kept, r.Episodes[i].Anchor = nil, ""
		}
	}
	page := reporttest.Render(t, page, r)
	require.Regexp(t, `Here are transcripts of [\d,]+ of 6,000 episodes: to keep this page small, [\d,]+ transcripts are left out, solved ones first\.`, page)
	require.Contains(t, page, "<code>cupel show r EPISODE</code>")
	var got junitSuites
	require.NoError(t, xml.Unmarshal([]byte(reporttest.Render(t, JUnit, r)), &got))
	require.Equal(t, "answer: one\none: no\ntwo: no", got.Suites[0].Cases[1].Failure.Text)
	require.Equal(t, "answer: one\none: no", got.Suites[0].Cases[5991].Failure.Text, "without its transcript an episode has its first failing check")
	require.Equal(t, []int{6000, 600, 600}, []int{got.Tests, got.Failures, got.Errors})
}

// CI shows errors in red and skipped cases in grey: a cap is a decision, and not an
// error.
func TestJUnitTellsKindsApart(t *testing.T) {
	var got junitSuites
	require.NoError(t, xml.Unmarshal([]byte(reporttest.Render(t, JUnit, build(reporttest.Sorted().M, reporttest.Sorted().Rows))), &got))
	s := got.Suites[0]
	require.Equal(t, []int{69, 1, 3, 5}, []int{s.Tests, s.Failures, s.Errors, s.Skipped})
	require.Equal(t, []int{69, 1, 3}, []int{got.Tests, got.Failures, got.Errors})
	require.Len(t, s.Cases, 69)
	require.Equal(t, "infrastructure error", s.Cases[61].Error.Type)
	require.Equal(t, "harness error", s.Cases[63].Error.Type)
	require.Equal(t, "tool: get_counts panicked", s.Cases[63].Error.Message)
	require.Equal(t, "budget stop: run_budget: the cap of $5 is spent", s.Cases[64].Skipped.Message)
	require.Equal(t, "interrupted: cancelled", s.Cases[67].Skipped.Message)
	require.Equal(t, "unfinished", s.Cases[68].Name)
	require.Equal(t, "2 planned episodes without a row: the cap of $5 is spent", s.Cases[68].Skipped.Message)
}

func TestJUnitCounts(t *testing.T) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles(), 60, 2)
	var got junitSuites
	require.NoError(t, xml.Unmarshal([]byte(reporttest.Render(t, JUnit, build(m, rows))), &got))
	require.Equal(t, 480, got.Tests)
	failures, infra := 0, 0
	for _, e := range rows.Episodes {
		if e.InfraError {
			infra++
		} else if !e.Solved {
			failures++
		}
	}
	require.Equal(t, failures, got.Failures)
	require.Equal(t, infra, got.Errors)
	require.Len(t, got.Suites, 4)
	for _, s := range got.Suites {
		require.Len(t, s.Cases, 120)
		for _, c := range s.Cases {
			require.False(t, c.Failure != nil && c.Error != nil)
		}
	}
}
