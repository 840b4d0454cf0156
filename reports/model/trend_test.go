package model

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/trend"
)

// The figures that are read from the columns of a ledger equal those of the report.
func TestFiguresAreThoseOfTheReport(t *testing.T) {
	m, rows := reporttest.TimedDemo(t)
	dir := t.TempDir()
	require.NoError(t, ledger.Write(dir, m, rows))
	got, err := ReadTrendRuns(dir, m)
	require.NoError(t, err)
	r := build(m, rows)
	require.Len(t, got, 4, "a script is not followed")
	unknown := 0
	for i, f := range got {
		c := r.Candidates[i]
		require.Equal(t, c.Name, f.Candidate)
		require.Equal(t, "digest of "+c.Name, f.Digest)
		require.Equal(t, "s1", f.SuiteDigest)
		require.Equal(t, m.RunID, f.RunID)
		require.Equal(t, time.Date(2026, 11, 3, 3, 0, 0, 5e8, time.UTC), f.Started)
		require.Equal(t, c.Success.K, f.Solved)
		require.Equal(t, c.Success.N, f.Scored)
		require.Less(t, f.Scored, 40)
		require.Equal(t, c.Turns, f.Judged)
		require.Equal(t, "valid_json", c.Criteria[1].Name)
		require.InDelta(t, *c.Criteria[1].Value, float64(f.Valid)/float64(f.Judged), 1e-12)
		require.Equal(t, c.Success.Interval, f.SolvedWithin, "one interval for a share")
		require.Equal(t, c.Criteria[1].Interval, f.ValidWithin)
		require.InDelta(t, *criterionNamed(t, c, "steps_per_solved").Value, *f.Steps, 1e-12)
		require.InDelta(t, c.Latency.P50, *f.LatencyUs, 0)
		sum := int64(0)
		for _, e := range r.Episodes {
			if e.Candidate == c.Name && e.Excluded == "" && e.CostNanoUSD != nil {
				sum += *e.CostNanoUSD
			}
		}
		if f.CostNanoUSD == nil {
			unknown++
			require.Nil(t, c.Cost)
			continue
		}
		require.InDelta(t, float64(sum)/float64(f.Scored), *f.CostNanoUSD, 1e-9)
	}
	require.Equal(t, 1, unknown, "the candidate without a price")

	// The run itself is the last point, computed in the same way.
	b := NewBuilder(m, nil)
	past := slices.Clone(got)
	for i := range past {
		past[i].RunID, past[i].Started = "earlier", past[i].Started.Add(-time.Hour)
	}
	b.SetPast(past, "one is left out.")
	b.AddAll(rows)
	r = b.Report()
	require.NotEmpty(t, r.Trend)
	require.Equal(t, "one is left out.", r.Notes[len(r.Notes)-1])
	for _, s := range r.Trend {
		require.Len(t, s.Points, 2)
		require.Equal(t, s.Points[0].Value, s.Points[1].Value, "%s of %s", s.Metric, s.Candidate)
		require.Equal(t, s.Points[0].Interval, s.Points[1].Interval)
		require.Equal(t, m.RunID, s.Points[1].RunID)
	}
}

func criterionNamed(t *testing.T, c Candidate, name string) Criterion {
	t.Helper()
	i := slices.IndexFunc(c.Criteria, func(k Criterion) bool { return k.Name == name })
	require.GreaterOrEqual(t, i, 0)
	return c.Criteria[i]
}

func TestNoPastNoTrend(t *testing.T) {
	m, rows := reporttest.TimedDemo(t)
	require.Nil(t, build(m, rows).Trend)
	b := NewBuilder(m, nil)
	b.SetPast([]trend.Run{}, "")
	b.AddAll(rows)
	require.Nil(t, b.Report().Trend)
}

// A candidate that ran only some of the tasks has no figures for all.
func TestFiguresOfWholeCandidates(t *testing.T) {
	m, rows := reporttest.TimedDemo(t)
	dir := t.TempDir()
	require.NoError(t, ledger.Write(dir, m, rows))
	m.Candidates[0].Planned, m.Candidates[1].Planned = 35, 36
	got, err := ReadTrendRuns(dir, m)
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, m.Candidates[1].Name, got[0].Candidate)

	m.Candidates = append(m.Candidates, m.Candidates[1]) // listed twice
	got, err = ReadTrendRuns(dir, m)
	require.NoError(t, err)
	require.Len(t, got, 3)
}

func TestFiguresRefuse(t *testing.T) {
	m, rows := reporttest.TimedDemo(t)
	_, err := ReadTrendRuns(t.TempDir(), m)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, m.RunID)
	dir := t.TempDir()
	require.NoError(t, ledger.Write(dir, m, rows))
	path := filepath.Join(dir, "turns.parquet")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	flipped := slices.Clone(whole)
	for i := 100; i < len(whole)/2; i += 100 { // cuts in columns that are not read, too
		flipped[i] ^= 0xFF
	}
	for name, data := range map[string][]byte{"cut": whole[:len(whole)/2], "flipped": flipped} {
		require.NoError(t, os.WriteFile(path, data, 0o644))
		_, err = ReadTrendRuns(dir, m)
		require.ErrorContains(t, err, "turns.parquet", name)
	}
}
