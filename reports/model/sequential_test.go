package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// The same rows fail in a run of fixed size, and are inconclusive at an early look:
// that no task was solved decides at the last look only.
func TestReportOfAnEarlyLook(t *testing.T) {
	none := map[string]float64{"m": 0}
	for at, want := range map[int]stat.Verdict{1: stat.Inconclusive, 5: stat.Fail} {
		m, rows := reporttest.SequentialRun(1, none, manifest.Stop{Candidate: "m", Round: at})
		require.Equal(t, want, build(m, rows).Candidates[0].Criteria[0].Verdict, "look %d", at)
		m.Decide, m.Trials = nil, at
		require.Equal(t, stat.Fail, build(m, rows).Candidates[0].Criteria[0].Verdict, "%d trials", at)
	}
	m, rows := reporttest.SequentialRun(30, map[string]float64{"m": 0.5}, manifest.Stop{Candidate: "m", Round: 1})
	require.Equal(t, stat.Inconclusive, build(m, rows).Candidates[0].Verdict)
	m.Decide, m.Trials = nil, 1
	require.Equal(t, stat.Fail, build(m, rows).Candidates[0].Verdict, "looking once needs less")
}

// Pooled candidates are judged at the earliest of their looks.
func TestReportOfPooledRounds(t *testing.T) {
	m, rows := reporttest.SequentialRun(40, map[string]float64{"a": 1, "b": 1}, manifest.Stop{Candidate: "a", Round: 2}, manifest.Stop{Candidate: "b", Round: 4})
	for i := range m.Candidates {
		m.Candidates[i].Model = "same"
	}
	r := build(m, rows)
	require.Len(t, r.Groups, 1)
	require.InDelta(t, stat.Look{Rounds: m.Decide.Rounds, At: 2}.Confidence(0.95), r.Groups[0].Criteria[0].Confidence, 1e-12)
}

func TestSpent(t *testing.T) {
	m, _ := reporttest.SequentialRun(10, nil, manifest.Stop{Candidate: "a", Round: 5}, manifest.Stop{Candidate: "b", Round: 1})
	require.Equal(t, "Stopped after 5 of 5 rounds: 60 of 100 episodes, 40% saved.", spent(m))
	m.Decide.Finished, m.Decide.Stops = 1, nil
	m.Candidates[0].Planned, m.Candidates[1].Planned, m.Episodes, m.Stopped = 20, 20, 23, "interrupted"
	require.Equal(t, "Finished 1 of 5 rounds: 23 of at most 100 episodes.", spent(m))
	m.Decide = nil
	require.Empty(t, spent(m))
}
