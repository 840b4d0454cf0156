package reports

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/trend"
)

// timedDemo is a recorded run in ledger order, with all that is left out of rates.
func timedDemo(t testing.TB) (manifest.Manifest, ledger.Rows) {
	t.Helper()
	profiles := demoProfiles()
	script := profiles[0]
	script.Name, script.Provider = "script", Scripted
	m, rows := demo(append(profiles, script), 10, 4)
	m.Mode, m.Started, m.SuiteDigest = "record", "2026-11-03T03:00:00.5Z", "s1"
	for i := range m.Candidates {
		m.Candidates[i].Planned, m.Candidates[i].Digest = 40, "digest of "+m.Candidates[i].Name
	}
	for i := range rows.Episodes {
		e := &rows.Episodes[i]
		switch i % 17 {
		case 3:
			e.Status, e.Solved = ledger.StatusBudgetStop, true
		case 5:
			e.Status = ledger.StatusHarnessError
		case 7:
			e.Status, e.Solved = "stopped", true // a guard's stop with every check passed
		case 9:
			e.Status = "cancelled"
		case 11:
			e.Status, e.InfraError = "error", true
		}
	}
	for i := range rows.Turns {
		switch u := &rows.Turns[i]; i % 23 {
		case 2:
			u.ErrorKind = "overloaded"
		case 4:
			u.Role, u.Kind = "helper", "compress"
		case 6:
			u.FinishReason, u.ContractValid, u.Violations = "length", true, nil
		}
	}
	slices.SortStableFunc(rows.Episodes, func(a, b ledger.Episode) int { return a.Compare(b.Key) })
	slices.SortStableFunc(rows.Turns, func(a, b ledger.Turn) int { return a.Compare(b.Key) })
	slices.SortStableFunc(rows.ToolCalls, func(a, b ledger.ToolCall) int { return a.Compare(b.Key) })
	return m, rows
}

// What the columns of a ledger say of a run is what its report says of it.
func TestFiguresAreThoseOfTheReport(t *testing.T) {
	m, rows := timedDemo(t)
	dir := t.TempDir()
	require.NoError(t, ledger.Write(dir, m, rows))
	got, err := Figures(dir, m)
	require.NoError(t, err)
	r := Build(m, rows)
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

	// The run itself is the last point, by the same arithmetic.
	b := NewBuilder(m)
	past := slices.Clone(got)
	for i := range past {
		past[i].RunID, past[i].Started = "earlier", past[i].Started.Add(-time.Hour)
	}
	b.SetPast(past, "one is left out.")
	addAll(b, rows)
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

func addAll(b *Builder, rows ledger.Rows) {
	turns, _ := groups(rows.Turns, func(t *ledger.Turn) string { return t.EpisodeID })
	calls, _ := groups(rows.ToolCalls, func(c *ledger.ToolCall) string { return c.EpisodeID })
	for _, e := range rows.Episodes {
		b.Add(ledger.EpisodeRows{Episode: e, Turns: turns[e.EpisodeID], ToolCalls: calls[e.EpisodeID]})
	}
}

func TestNoPastNoTrend(t *testing.T) {
	m, rows := timedDemo(t)
	require.Nil(t, Build(m, rows).Trend)
	b := NewBuilder(m)
	b.SetPast([]trend.Run{}, "")
	addAll(b, rows)
	require.Nil(t, b.Report().Trend)
}

// A candidate that was asked some of the tasks only says nothing about all.
func TestFiguresOfWholeCandidates(t *testing.T) {
	m, rows := timedDemo(t)
	dir := t.TempDir()
	require.NoError(t, ledger.Write(dir, m, rows))
	m.Candidates[0].Planned, m.Candidates[1].Planned = 35, 36
	got, err := Figures(dir, m)
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, m.Candidates[1].Name, got[0].Candidate)

	m.Candidates = append(m.Candidates, m.Candidates[1]) // named twice
	got, err = Figures(dir, m)
	require.NoError(t, err)
	require.Len(t, got, 3)
}

func TestFiguresRefuse(t *testing.T) {
	m, rows := timedDemo(t)
	_, err := Figures(t.TempDir(), m)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, m.RunID)
	dir := t.TempDir()
	require.NoError(t, ledger.Write(dir, m, rows))
	path := filepath.Join(dir, "turns.parquet")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	flipped := slices.Clone(whole)
	for i := 100; i < len(whole)/2; i += 100 { // also in columns that are not read
		flipped[i] ^= 0xFF
	}
	for name, data := range map[string][]byte{"cut": whole[:len(whole)/2], "flipped": flipped} {
		require.NoError(t, os.WriteFile(path, data, 0o644))
		_, err = Figures(dir, m)
		require.ErrorContains(t, err, "turns.parquet", name)
	}
}

// Floor: reading eight columns of the episodes and six of the turns, one
// candidate's 50,000 durations sorted. A trend reads up to 199 runs, two at a time.
func BenchmarkFigures(b *testing.B) {
	m, row := stream(10_000, 5)
	dir := b.TempDir()
	w, err := ledger.NewWriter(dir)
	require.NoError(b, err)
	for i := range 10_000 {
		require.NoError(b, w.Append(row(i)))
	}
	_, err = w.Close(func(totals manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(totals)
		return m, nil
	})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if list, err := Figures(dir, m); err != nil || len(list) != 1 || list[0].Scored != 10_000 {
			b.Fatal(list, err)
		}
	}
}
