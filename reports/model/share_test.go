package model

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// sharesOf returns the share of solved episodes from all places of a report.
func sharesOf(t *testing.T, r Report) (intervals []stat.Interval) {
	t.Helper()
	c := r.Candidates[0]
	for _, iv := range []*stat.Interval{c.Success.Interval, c.Criteria[0].Interval, named(t, c.Criteria, "mine").Interval} {
		require.NotNil(t, iv)
		intervals = append(intervals, *iv)
	}
	return intervals
}

// There are twelve tasks of five trials each, and the trials of a task are equal. All
// places show the same interval for the share, that of twelve observations.
func TestTrialsOfATaskAreOneCluster(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.M.Acceptance.Criteria = []manifest.Criterion{{Name: "mine", Expr: `share(solved) >= 80%`}}
	for i := range 12 {
		w.Add(5, fmt.Sprint(i), i < 9, 1, func(e *ledger.Episode, _ []ledger.Turn) { e.ThrashEvents = int32(i / 11) })
	}
	want, _ := stat.ClopperPearson(9, 12, 0.95)
	r := build(w.M, w.Rows)
	require.Equal(t, []stat.Interval{want, want, want}, sharesOf(t, r))
	c := r.Candidates[0]
	require.InDelta(t, 59.0/11, *c.Success.DesignEffect, 1e-12)
	require.InDelta(t, 59.0/11, *c.Criteria[0].DesignEffect, 1e-12)
	require.Equal(t, "interval of the share, clustered by task, two-sided 95%", c.Criteria[0].Test)
	require.Contains(t, c.Criteria[0].Note, "Design effect 5.36 (60 episodes of 12 tasks).")
	require.Contains(t, named(t, c.Criteria, "mine").Note, "Design effect 5.36 (60 episodes of 12 tasks).")
	rare, _ := stat.ClopperPearson(1, 12, 0.95)
	require.Equal(t, rare, *c.Thrash.Interval)
	none, _ := stat.ClopperPearson(0, 12, 0.95)
	require.Equal(t, none, *c.Stall.Interval)
	require.Nil(t, c.Stall.DesignEffect)
}

// Tasks of one session are one cluster, because later tasks see the result of the first
// one.
func TestTasksOfASessionAreOneCluster(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.M.Acceptance.Criteria = []manifest.Criterion{{Name: "mine", Expr: `share(solved) >= 80%`}}
	for i := range 12 {
		task := manifest.Task{ID: fmt.Sprint(i)}
		if i >= 4 {
			task.Session = fmt.Sprint("s", i/4)
		}
		w.M.Tasks = append(w.M.Tasks, task)
		w.Add(1, task.ID, i < 8, 1, nil)
	}
	want, _ := stat.ShareInterval([]stat.Cluster{{Num: 1, Den: 1}, {Num: 1, Den: 1}, {Num: 1, Den: 1}, {Num: 1, Den: 1}, {Num: 4, Den: 4}, {Num: 0, Den: 4}}, 0.95)
	r := build(w.M, w.Rows)
	require.Equal(t, []stat.Interval{want, want, want}, sharesOf(t, r))
	require.Contains(t, r.Candidates[0].Criteria[0].Note, "(12 episodes of 6 tasks)")
}

// For a custom criterion about a rare event, the other end of the interval decides.
func TestTooFewTasksForARareEvent(t *testing.T) {
	for tasks, want := range map[int]stat.Verdict{35: stat.Inconclusive, 36: stat.Pass} {
		o := ownCriteria([]manifest.Criterion{{Name: "harm", Expr: `share(not solved) <= 10%`}})[0]
		tally := o.expr.NewTally()
		for i := range tasks {
			for range 3 {
				tally.Add(&ledger.EpisodeRows{Episode: ledger.Episode{Solved: true, Status: "answered"}}, fmt.Sprint(i))
			}
		}
		c := o.judge(tally, manifest.Acceptance{Confidence: 0.95, MaxInfra: 0.05})
		require.Equal(t, want, c.Verdict, c.Note)
		if want == stat.Inconclusive {
			require.Contains(t, c.Note, "Too few tasks: 35 cannot establish 10%, however many episodes they have. If the rate stays the same, 1 more task (3 episodes) would make this a pass.")
		}
	}
}

// The documentation says how many tasks establish a share. The interval confirms each
// statement.
func TestDocumentedSizes(t *testing.T) {
	page := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		require.NoError(t, err)
		return string(text)
	}
	perfect := func(threshold float64) int {
		n, ok := stat.PerfectClusters(threshold, 0.95)
		require.True(t, ok)
		return n
	}
	oneFailed := func(threshold float64) (n int) {
		for n = 2; ; n++ {
			if iv, _ := stat.ClopperPearson(n-1, n, 0.95); iv.Low >= threshold {
				return n
			}
		}
	}
	var rows []string
	for _, threshold := range []float64{0.8, 0.9, 0.95, 0.99} {
		rows = append(rows, fmt.Sprintf("| %s | %d | %d |", words.Setting(threshold), perfect(threshold), oneFailed(threshold)))
	}
	configuration := page("docs", "configuration.md")
	require.Contains(t, configuration, strings.Join(rows, "\n"))
	rows = nil
	for _, steps := range []float64{1, 2, 3, 4} {
		n, ok := stat.MeanClusters([]stat.Cluster{{Num: steps, Den: 1}}, limits(nil, 5), 5, 0.95)
		require.True(t, ok)
		rows = append(rows, fmt.Sprintf("| %v | %d |", steps, n))
	}
	require.Contains(t, configuration, strings.Join(rows, "\n"))
	twenty, _ := stat.ClopperPearson(20, 20, 0.95)
	require.Contains(t, configuration, fmt.Sprintf("%d perfect tasks establish 80%%, and 20 have a lower bound of %s", perfect(0.8), words.Percent(twenty.Low)))
	require.Contains(t, page("cmd", "scaffold", "cupel.yaml"), fmt.Sprintf("%d perfect tasks establish 80%%", perfect(0.8)))
}
