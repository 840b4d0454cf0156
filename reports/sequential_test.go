package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/stat"
)

// sequentialRun is a run of at most five trials of each task; solved says of each
// candidate which share of tasks it solves, and stops in which round it was stopped.
func sequentialRun(tasks int, solved map[string]float64, stops ...manifest.Stop) (manifest.Manifest, ledger.Rows) {
	m := manifest.Manifest{
		Format: 2, RunID: "R", Status: "complete", Mode: "replay", Suite: "s", Trials: 5, Acceptance: manifest.Acceptance{}.Resolved(),
		Decide: &manifest.Decide{Rounds: []int{1, 2, 3, 4, 5}, Stops: stops},
	}
	for _, s := range stops {
		m.Decide.Finished = max(m.Decide.Finished, s.Round)
	}
	var rows ledger.Rows
	for i := range tasks {
		id := fmt.Sprintf("T%03d", i)
		m.Tasks = append(m.Tasks, manifest.Task{ID: id, Title: id, Digest: "d"})
		for _, s := range stops {
			for trial := 1; trial <= m.TrialsOf(s.Candidate); trial++ {
				key := ledger.Key{RunID: "R", EpisodeID: fmt.Sprint(id, s.Candidate, trial), TaskID: id, Candidate: s.Candidate, Agent: "contract", Provider: "p", Model: s.Candidate, Trial: int32(trial)}
				ok := float64(i) < solved[s.Candidate]*float64(tasks)
				rows.Episodes = append(rows.Episodes, ledger.Episode{Key: key, Status: "answered", Solved: ok, Steps: 1, Checks: []ledger.Check{{Name: "numbers", Passed: ok}}})
				rows.Turns = append(rows.Turns, ledger.Turn{Key: key, Turn: 1, Role: "main", Kind: "act", ValidJSON: true, Actionable: true, ContractValid: true, NextActionType: "respond"})
			}
		}
	}
	for _, s := range stops {
		m.Candidates = append(m.Candidates, manifest.Candidate{Name: s.Candidate, Agent: "contract", Provider: "p", Model: s.Candidate, Planned: tasks * m.TrialsOf(s.Candidate)})
	}
	return m, rows
}

// Each candidate is judged at its own look, and every text says so.
func TestReportOfARunInRounds(t *testing.T) {
	m, rows := sequentialRun(150, map[string]float64{"good": 1, "bad": 0.2},
		manifest.Stop{Candidate: "bad", Round: 2, Verdict: "fail"}, manifest.Stop{Candidate: "good", Round: 3, Verdict: "pass"})
	r := Build(m, rows)
	for name, at := range map[string]int{"bad": 2, "good": 3} {
		for _, c := range r.Candidates {
			if c.Name != name {
				continue
			}
			want := stat.Look{Rounds: []int{1, 2, 3, 4, 5}, At: at}.Confidence(0.95)
			require.InDelta(t, want, c.Criteria[0].Confidence, 1e-12, name)
			require.Contains(t, c.Criteria[0].Test, fmt.Sprintf("two-sided %s, corrected for stopping after round %d of 5", level(want), at))
			require.Zero(t, c.Unfinished, "its rounds are all there is of it")
		}
	}
	require.Equal(t, []Verdict{Fail, Pass}, []Verdict{r.Candidates[0].Verdict, r.Candidates[1].Verdict})
	notes := strings.Join(r.Notes, "\n")
	require.Contains(t, notes, "Stopped after 3 of 5 rounds: 750 of 1,500 episodes, 50% saved.")
	require.Contains(t, notes, "Intervals of bad have a confidence of 99.92% each, corrected for stopping after round 2 of 5: together, those of all rounds have 95%.")
	require.Contains(t, notes, "its entire repeated 95% confidence interval")
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return Summary(b, r, 0) },
		"md":   func(b *bytes.Buffer) error { return Markdown(b, r) },
		"html": func(b *bytes.Buffer) error { return HTML(b, r) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		require.Contains(t, b.String(), "corrected for stopping after round 2 of 5", name)
		require.Contains(t, b.String(), "50% saved", name)
	}
}

// The same rows fail in a run of fixed size, and are not enough at an early look: that
// nothing was solved decides at the last look only.
func TestReportOfAnEarlyLook(t *testing.T) {
	none := map[string]float64{"m": 0}
	for at, want := range map[int]Verdict{1: Inconclusive, 5: Fail} {
		m, rows := sequentialRun(1, none, manifest.Stop{Candidate: "m", Round: at})
		require.Equal(t, want, Build(m, rows).Candidates[0].Criteria[0].Verdict, "look %d", at)
		m.Decide, m.Trials = nil, at
		require.Equal(t, Fail, Build(m, rows).Candidates[0].Criteria[0].Verdict, "%d trials", at)
	}
	m, rows := sequentialRun(30, map[string]float64{"m": 0.5}, manifest.Stop{Candidate: "m", Round: 1})
	require.Equal(t, Inconclusive, Build(m, rows).Candidates[0].Verdict)
	m.Decide, m.Trials = nil, 1
	require.Equal(t, Fail, Build(m, rows).Candidates[0].Verdict, "looking once needs less")
}

// Pooled candidates are judged at the earliest look of theirs.
func TestReportOfPooledRounds(t *testing.T) {
	m, rows := sequentialRun(40, map[string]float64{"a": 1, "b": 1}, manifest.Stop{Candidate: "a", Round: 2}, manifest.Stop{Candidate: "b", Round: 4})
	for i := range m.Candidates {
		m.Candidates[i].Model = "same"
	}
	r := Build(m, rows)
	require.Len(t, r.Groups, 1)
	require.InDelta(t, stat.Look{Rounds: m.Decide.Rounds, At: 2}.Confidence(0.95), r.Groups[0].Criteria[0].Confidence, 1e-12)
}

func TestSpent(t *testing.T) {
	m, _ := sequentialRun(10, nil, manifest.Stop{Candidate: "a", Round: 5}, manifest.Stop{Candidate: "b", Round: 1})
	require.Equal(t, "Stopped after 5 of 5 rounds: 60 of 100 episodes, 40% saved.", Spent(m))
	m.Decide.Finished, m.Decide.Stops = 1, nil
	m.Candidates[0].Planned, m.Candidates[1].Planned, m.Episodes, m.Stopped = 20, 20, 23, "interrupted"
	require.Equal(t, "Finished 1 of 5 rounds: 23 of at most 100 episodes.", Spent(m))
	m.Decide = nil
	require.Empty(t, Spent(m))
}

func TestLevelText(t *testing.T) {
	for v, want := range map[float64]string{0.95: "95%", 0.95775: "95.8%", 0.99: "99%", 0.9992: "99.92%", 0.9999989: "99.99989%", 1: "100%"} {
		require.Equal(t, want, level(v))
	}
}
