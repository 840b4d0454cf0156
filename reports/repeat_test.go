package reports

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// passRun is a candidate on tasks whose trials went as the strings say: + solved,
// - not, x lost.
func passRun(trials int, tasks ...string) Report {
	m := manifest.Manifest{Trials: trials, Candidates: []manifest.Candidate{{Name: "c", Provider: "p", Model: "m"}}}
	var rows ledger.Rows
	for i, outcomes := range tasks {
		id := string(rune('A' + i))
		m.Tasks = append(m.Tasks, manifest.Task{ID: id})
		for k, o := range outcomes {
			e := ledger.Episode{Key: ledger.Key{EpisodeID: id + string(rune('1'+k)), TaskID: id, Candidate: "c", Trial: int32(k + 1)}, Status: "answered", Solved: o == '+'}
			if o == 'x' {
				e.Status, e.InfraError = ledger.StatusInfraError, true
			}
			rows.Episodes = append(rows.Episodes, e)
		}
	}
	return Build(m, rows)
}

func TestPassAtAndAll(t *testing.T) {
	c := passRun(3, "+++", "+-+", "---", "++x").Candidates[0]
	require.Equal(t, 3, c.PassAt.K)
	require.Equal(t, 3, c.PassAt.Tasks, "a task with a lost trial says nothing about three")
	// Of three trials of three there is one subset: at least one solved in two of
	// three tasks, all in one.
	require.InDelta(t, 2./3, c.PassAt.Value, 1e-12)
	require.InDelta(t, 1./3, c.PassAll.Value, 1e-12)
	// Tasks 1, 1, 0: the exact interval of two of three.
	want, ok := stat.ClopperPearson(2, 3, 0.95)
	require.True(t, ok)
	require.InDelta(t, want.Low, c.PassAt.Interval.Low, 1e-9)
	require.InDelta(t, want.High, c.PassAt.Interval.High, 1e-9)
	require.InDelta(t, 1-want.High, c.PassAll.Interval.Low, 1e-9, "one of three mirrors two of three")
	require.False(t, math.IsNaN(c.PassAll.Interval.High))
}

func TestPassIsLeftOut(t *testing.T) {
	for name, r := range map[string]Report{
		"one trial":             passRun(1, "+", "-"),
		"no task has them all":  passRun(3, "+x+", "x--"),
		"nothing was run":       passRun(3),
		"fewer rows than trial": passRun(4, "+++"),
	} {
		c := r.Candidates[0]
		require.Nil(t, c.PassAt, name)
		require.Nil(t, c.PassAll, name)
		lacks(t, render(t, JSON, r), "pass_at_k")
		lacks(t, render(t, Markdown, r), "pass@k")
	}
	one := passRun(2, "+-").Candidates[0]
	require.InDelta(t, 1, one.PassAt.Value, 0)
	require.InDelta(t, 0, one.PassAll.Value, 0)
	require.Equal(t, "100% (2.5–100%) of 1 task in 2 trials", one.PassAt.text(), "one task says next to nothing")
}

func TestPassIsShown(t *testing.T) {
	r := Build(demo(demoProfiles()[:2], 12, 3))
	text := r.Candidates[0].PassAll.text()
	require.Regexp(t, `^\d+\.?\d?% \(\d+\.?\d?–\d+\.?\d?%\) of 12 tasks in 3 trials$`, text)
	require.Contains(t, render(t, Markdown, r), "| Solved every time (pass^k) | "+md(text)+" |")
	require.Contains(t, render(t, HTML, r), text)
	require.Contains(t, render(t, JSON, r), `"pass_all_k": {`)
}
