package reports

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/text"
)

// An agent that solves one task in eight is rejected, and a line states the reason.
func TestFewSolvedTasksReject(t *testing.T) {
	w := reporttest.NewWorld("a")
	for i := range 160 {
		w.Add(1, fmt.Sprint(i), i < 20, 2, nil)
	}
	r := Build(w.M, w.Rows)
	require.Equal(t, "Rejected: the candidate fails", r.Headline)
	require.Equal(t, "fails on tasks solved 12.5% (7.8–18.6%), needs ≥ 80%.", r.Candidates[0].Sentence)

	w.M.Acceptance.MinSolved = manifest.Off
	r = Build(w.M, w.Rows)
	require.Equal(t, "Accepted: the candidate meets every criterion; success not judged", r.Headline)
	require.Equal(t, "meets all 3 criteria (success not judged).", r.Candidates[0].Sentence)
	var printed strings.Builder
	require.NoError(t, text.Summary(&printed, r, text.Screen{}))
	require.Regexp(t, `tasks solved +12.5% +7.8–18.6% +160 +– +reported`, printed.String())
}

// A planned episode without a result never passes, for any other results.
func TestUnfinishedCandidateIsInconclusive(t *testing.T) {
	w := reporttest.Passing()
	w.M.Candidates[0].Planned += 2
	r := Build(w.M, w.Rows)
	require.Equal(t, stat.Inconclusive, r.Candidates[0].Verdict)
	require.Equal(t, "meets all 4 criteria so far, but 2 of 82 planned episodes have no result (2 unfinished).", r.Candidates[0].Sentence)
	require.Equal(t, stat.Inconclusive, r.Verdict)
	var b strings.Builder
	require.NoError(t, text.Summary(&b, r, text.Screen{}))
	require.Contains(t, b.String(), "why: a meets all 4 criteria so far")
}
