package rundir

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// pastOf writes the run of a night below a folder: ten tasks with four trials of strong, of which all
// except failed are solved.
func pastOf(t testing.TB, runs string, night, failed int, edit func(*manifest.Manifest)) manifest.Manifest {
	t.Helper()
	m := manifest.Manifest{
		Format: manifest.Format, RunID: fmt.Sprintf("run%02d", night), Status: "complete", Mode: "live", Suite: "counts", SuiteDigest: "s1", Trials: 4,
		Started:    time.Date(2026, 11, night, 3, 0, 0, 0, time.UTC).Format(time.RFC3339Nano),
		Candidates: []manifest.Candidate{{Name: "strong", Provider: "openai", Model: "m", Planned: 40, Digest: "c1"}},
	}
	for i := range 10 {
		m.Tasks = append(m.Tasks, manifest.Task{ID: fmt.Sprintf("G%02d", i)})
	}
	if edit != nil {
		edit(&m)
	}
	dir := filepath.Join(runs, m.RunID)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	var rows ledger.Rows
	for i := range 40 {
		key := ledger.Key{RunID: m.RunID, EpisodeID: fmt.Sprintf("e%02d", i), Suite: m.Suite, TaskID: fmt.Sprintf("G%02d", i/4), Candidate: "strong", Provider: "openai", Trial: int32(i%4 + 1)}
		rows.Episodes = append(rows.Episodes, ledger.Episode{Key: key, Status: "answered", Solved: i >= failed, Steps: 1})
		rows.Turns = append(rows.Turns, ledger.Turn{Key: key, Turn: 1, Role: "main", ContractValid: true, DurationUs: new(int64(1000 + night))})
	}
	require.NoError(t, ledger.Write(dir, m, rows))
	return m
}

// names are the runs of a history.
func names(t *testing.T, runs string, m manifest.Manifest) (list []string, note string) {
	t.Helper()
	got, note := Past(filepath.Join(runs, m.RunID), m)
	for _, r := range got {
		list = append(list, r.RunID)
	}
	return list, note
}

func TestHistory(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(past *manifest.Manifest) // of the second of three nights
		own  func(m *manifest.Manifest)    // of the third
		want []string
	}{
		"earlier runs":                       {nil, nil, []string{"run01", "run02"}},
		"a partial one counts":               {func(m *manifest.Manifest) { m.Status = "partial" }, nil, []string{"run01", "run02"}},
		"one that has not ended does not":    {func(m *manifest.Manifest) { m.Status = "running" }, nil, []string{"run01"}},
		"a replay has no time":               {func(m *manifest.Manifest) { m.Started = "" }, nil, []string{"run01"}},
		"nor has one with a damaged time":    {func(m *manifest.Manifest) { m.Started = "yesterday" }, nil, []string{"run01"}},
		"a later one":                        {func(m *manifest.Manifest) { m.Started = "2026-11-04T00:00:00Z" }, nil, []string{"run01"}},
		"time zones are read":                {func(m *manifest.Manifest) { m.Started = "2026-11-03T23:00:00+23:00" }, nil, []string{"run01", "run02"}},
		"another suite":                      {func(m *manifest.Manifest) { m.Suite = "other" }, nil, []string{"run01"}},
		"a changed suite is still the suite": {func(m *manifest.Manifest) { m.SuiteDigest = "s2" }, nil, []string{"run01", "run02"}},
		"a shard":                            {func(m *manifest.Manifest) { m.Shard = "1/2" }, nil, []string{"run01"}},
		"a fork":                             {func(m *manifest.Manifest) { m.Fork = &manifest.Fork{} }, nil, []string{"run01"}},
		"nine of ten tasks":                  {func(m *manifest.Manifest) { m.Tasks = m.Tasks[1:] }, nil, []string{"run01", "run02"}},
		"some of the tasks":                  {func(m *manifest.Manifest) { m.Tasks = m.Tasks[2:] }, nil, []string{"run01"}},
		"another candidate":                  {func(m *manifest.Manifest) { m.Candidates[0].Name = "weak" }, nil, []string{"run01"}},
		"part of a merged run":               {func(m *manifest.Manifest) { m.MergedFrom = []string{"run01"} }, nil, []string{"run02"}},
		"part of this one":                   {nil, func(m *manifest.Manifest) { m.MergedFrom = []string{"run01"} }, []string{"run02"}},
		"scored again, by another suite":     {func(m *manifest.Manifest) { m.RescoredFrom, m.SuiteDigest = "run01", "s2" }, nil, []string{"run01"}},
		"scored again, by this one's suite": {
			func(m *manifest.Manifest) { m.RescoredFrom, m.SuiteDigest = "run01", "s2" }, func(m *manifest.Manifest) { m.SuiteDigest = "s2" }, []string{"run02"},
		},
		"what this one scored again":  {nil, func(m *manifest.Manifest) { m.RescoredFrom = "run01" }, []string{"run02"}},
		"this one is a replay":        {nil, func(m *manifest.Manifest) { m.Started = "" }, nil},
		"this one is a shard":         {nil, func(m *manifest.Manifest) { m.Shard = "1/2" }, nil},
		"this one began with another": {nil, func(m *manifest.Manifest) { m.Started = "2026-11-02T03:00:00Z" }, []string{"run01", "run02"}},
	} {
		t.Run(name, func(t *testing.T) {
			runs := t.TempDir()
			pastOf(t, runs, 1, 1, nil)
			pastOf(t, runs, 2, 2, c.edit)
			got, note := names(t, runs, pastOf(t, runs, 3, 3, c.own))
			require.Equal(t, c.want, got)
			require.Empty(t, note)
		})
	}
}

func TestHistoryReadsFigures(t *testing.T) {
	runs := t.TempDir()
	pastOf(t, runs, 1, 3, nil)
	got, _ := Past(runs+"/run02", pastOf(t, runs, 2, 0, nil))
	require.Len(t, got, 1)
	require.Equal(t, [4]int{37, 40, 40, 40}, [4]int{got[0].Solved, got[0].Scored, got[0].Valid, got[0].Judged})
	require.InDelta(t, 1001, *got[0].LatencyUs, 0)
	require.Equal(t, time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC), got[0].Started)
	// The folder of a run may be the working directory.
	t.Chdir(filepath.Join(runs, "run02"))
	again, _ := Past(".", pastOf(t, "..", 2, 0, nil))
	require.Equal(t, got, again)
}

// The newest runs are read, independently of the order in which their folders were written. Older
// ones are omitted.
func TestHistoryIsBounded(t *testing.T) {
	runs := t.TempDir()
	when := func(i int) func(m *manifest.Manifest) {
		return func(m *manifest.Manifest) {
			m.RunID, m.Started = fmt.Sprintf("r%03d", 999-i), time.Date(2026, 1, i, 0, 0, 0, 0, time.UTC).Format(time.RFC3339Nano)
		}
	}
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(historyRuns + 5) {
		pastOf(t, runs, 1, 1, when(i))
	}
	for night, first := range map[int]string{1: "r999", historyRuns: "r999", historyRuns + 1: "r949", historyRuns + 4: "r949"} {
		got, _ := names(t, runs, pastOf(t, t.TempDir(), 1, 1, when(night-1)))
		if night == 1 {
			require.Empty(t, got)
			continue
		}
		require.Equal(t, first, got[0], "night %d", night)
		require.Equal(t, fmt.Sprintf("r%03d", 1001-night), got[len(got)-1], "night %d", night)
	}
}

// Unreadable runs are named in the note and omitted.
func TestHistoryOfDamagedRuns(t *testing.T) {
	runs := t.TempDir()
	for i := 1; i <= 5; i++ {
		pastOf(t, runs, i, i, nil)
	}
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(runs, path), []byte(text), 0o644))
	}
	write("run01/run.json", `{"format":9}`)
	write("run02/turns.parquet", "PAR1")
	write("run03/run.json", "{")
	require.NoError(t, os.Remove(filepath.Join(runs, "run04", "episodes.parquet")))
	require.NoError(t, os.Mkdir(filepath.Join(runs, "no run"), 0o755))
	write("file", "")
	got, note := names(t, runs, pastOf(t, runs, 6, 6, nil))
	require.Equal(t, []string{"run05"}, got)
	require.True(t, strings.HasPrefix(note, "Past runs left out of the trend because they cannot be read: 4. The first: run0"), note)
	require.NotContains(t, note, runs, "a report does not say where it was made")
}

// BenchmarkHistory reads 199 runs of 10,000 episodes with 2.4 turns. The lower bound is reading 14
// columns of 2 million rows.
func BenchmarkHistory(b *testing.B) {
	runs := b.TempDir()
	m := pastOf(b, runs, 1, 0, nil)
	require.NoError(b, os.RemoveAll(filepath.Join(runs, m.RunID)))
	m.Trials, m.Candidates[0].Planned = 1000, 10_000
	for i := 1; i <= historyRuns; i++ {
		m.RunID, m.Started = fmt.Sprintf("past%02d", i), time.Date(2026, 1, i, 0, 0, 0, 0, time.UTC).Format(time.RFC3339Nano)
		writeLong(b, filepath.Join(runs, m.RunID), m)
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, note := Past(filepath.Join(runs, m.RunID), m); len(list) != historyRuns-1 || note != "" {
			b.Fatal(len(list), note)
		}
	}
}

// writeLong writes a run of 10,000 episodes of 2.4 turns.
func writeLong(b *testing.B, dir string, m manifest.Manifest) {
	require.NoError(b, os.Mkdir(dir, 0o755))
	w, err := ledger.NewWriter(dir)
	require.NoError(b, err)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 10_000 {
		key := ledger.Key{RunID: m.RunID, EpisodeID: fmt.Sprintf("e%05d", i), Suite: m.Suite, TaskID: fmt.Sprintf("G%02d", i/1000), Candidate: "strong", Provider: "openai", Trial: int32(i%1000 + 1)}
		rec := ledger.EpisodeRows{Episode: ledger.Episode{Key: key, Status: "answered", Solved: i%9 > 0, InfraError: i%100 == 0, Steps: 1}}
		for k := range int32(2 + i%5/3) {
			rec.Turns = append(rec.Turns, ledger.Turn{Key: key, Turn: k + 1, Role: "main", ContractValid: true, DurationUs: new(rng.Int64N(1e6))})
		}
		require.NoError(b, w.Append(rec))
	}
	_, err = w.Close(func(totals manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(totals)
		return m, nil
	})
	require.NoError(b, err)
}
