package reports

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// A manifest is not to be trusted with arithmetic.
func TestAbsurdPlan(t *testing.T) {
	w := newWorld("a", "b")
	w.add(1, "t", false, 1, ended(ledger.StatusInfraError, "timeout", "none"))
	w.m.Candidates[0].Planned, w.m.Candidates[1].Planned = math.MaxInt, math.MinInt
	w.m.Candidates[1].Model = w.m.Candidates[0].Model
	r := Build(w.m, w.rows)
	require.Equal(t, Inconclusive, r.Verdict)
	require.Positive(t, planned(r.Outcomes))
}

// What one candidate lost must not reject through the pool either.
func TestPoolsTolerateNoMore(t *testing.T) {
	w := newWorld("a", "b")
	w.m.Candidates[1].Model = w.m.Candidates[0].Model
	w.add(100, "t", true, 1, invalid)
	w.add(100, "t", false, 1, ended(ledger.StatusInfraError, "timeout", "none"))
	w.m.Candidates[0], w.m.Candidates[1] = w.m.Candidates[1], w.m.Candidates[0]
	tasks(w, 100, nil)
	r := Build(w.m, w.rows)
	require.Equal(t, []Verdict{Pass, Inconclusive}, []Verdict{r.Candidates[0].Verdict, r.Candidates[1].Verdict})
	require.Equal(t, Inconclusive, r.Groups[0].Verdict)
	require.Contains(t, r.Groups[0].Sentence, "100 of 300 planned episodes (33.3%) were lost")
	require.Equal(t, Inconclusive, r.Verdict)
}

// Whatever the rows that are left say, a run that ended early is not accepted.
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
			w := passing()
			require.Equal(t, Pass, Build(w.m, w.rows).Verdict)
			edit(&w.m)
			r := Build(w.m, w.rows)
			require.Equal(t, Inconclusive, r.Verdict)
			require.NotContains(t, r.Headline, "Accepted")
			tasks(w, 1, invalid)
			tasks(w, 90, invalid)
			require.Equal(t, Fail, Build(w.m, w.rows).Verdict, "what fails, fails")
		})
	}
}

func TestCandidateTwiceInTheManifest(t *testing.T) {
	w := newWorld("a", "a")
	tasks(w, 5, nil)
	r := Build(w.m, w.rows)
	require.Len(t, r.Candidates, 1)
	require.Equal(t, 5, r.Outcomes.Solved)
}
