package model

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// A manifest with extreme numbers does not make the arithmetic overflow.
func TestAbsurdPlan(t *testing.T) {
	w := reporttest.NewWorld("a", "b")
	w.Add(1, "t", false, 1, reporttest.Ended(ledger.StatusInfraError, "timeout", "none"))
	w.M.Candidates[0].Planned, w.M.Candidates[1].Planned = math.MaxInt, math.MinInt
	w.M.Candidates[1].Model = w.M.Candidates[0].Model
	r := build(w.M, w.Rows)
	require.Equal(t, stat.Inconclusive, r.Verdict)
	require.Positive(t, planned(r.Outcomes))
}

// Pooling does not change that lost episodes of one candidate do not reject.
func TestPoolsTolerateNoMore(t *testing.T) {
	w := reporttest.NewWorld("a", "b")
	w.M.Candidates[1].Model = w.M.Candidates[0].Model
	w.Add(100, "t", true, 1, reporttest.Invalid)
	w.Add(100, "t", false, 1, reporttest.Ended(ledger.StatusInfraError, "timeout", "none"))
	w.M.Candidates[0], w.M.Candidates[1] = w.M.Candidates[1], w.M.Candidates[0]
	reporttest.Tasks(w, 100, nil)
	r := build(w.M, w.Rows)
	require.Equal(t, []stat.Verdict{stat.Pass, stat.Inconclusive}, []stat.Verdict{r.Candidates[0].Verdict, r.Candidates[1].Verdict})
	require.Equal(t, stat.Inconclusive, r.Groups[0].Verdict)
	require.Contains(t, r.Groups[0].Sentence, "100 of 300 planned episodes (33.3%) were lost")
	require.Equal(t, stat.Inconclusive, r.Verdict)
}

// A run that ended early is not accepted, for any results in the remaining rows.
func TestRunCutShortIsNeverAccepted(t *testing.T) {
	for name, edit := range map[string]func(*manifest.Manifest){
		"stopped":             func(m *manifest.Manifest) { m.Stopped = "interrupted" },
		"budget stops":        func(m *manifest.Manifest) { m.Outcomes.BudgetStops = 1 },
		"unfinished":          func(m *manifest.Manifest) { m.Outcomes.Unfinished = 1 },
		"running":             func(m *manifest.Manifest) { m.Status = "running" },
		"failed":              func(m *manifest.Manifest) { m.Status = "failed" },
		"planned but not run": func(m *manifest.Manifest) { m.Candidates[0].Planned = 81 },
	} {
		t.Run(name, func(t *testing.T) {
			w := reporttest.Passing()
			require.Equal(t, stat.Pass, build(w.M, w.Rows).Verdict)
			edit(&w.M)
			r := build(w.M, w.Rows)
			require.Equal(t, stat.Inconclusive, r.Verdict)
			require.NotContains(t, r.Headline, "Accepted")
			reporttest.Tasks(w, 1, reporttest.Invalid)
			reporttest.Tasks(w, 90, reporttest.Invalid)
			require.Equal(t, stat.Fail, build(w.M, w.Rows).Verdict, "what fails, fails")
		})
	}
}

func TestCandidateTwiceInTheManifest(t *testing.T) {
	w := reporttest.NewWorld("a", "a")
	reporttest.Tasks(w, 5, nil)
	r := build(w.M, w.Rows)
	require.Len(t, r.Candidates, 1)
	require.Equal(t, 5, r.Outcomes.Solved)
}
