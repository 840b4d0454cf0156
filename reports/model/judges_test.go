package model

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/stat"
)

// judgedEpisode is an episode whose checks are status and a judge's.
func judgedEpisode(i int, status, passed bool) ledger.EpisodeRows {
	e := ledger.Episode{
		Key:    ledger.Key{TaskID: fmt.Sprintf("T%03d", i), EpisodeID: fmt.Sprint(i), Candidate: "mini", Agent: "tools", Provider: "openai", Model: "gpt", Trial: 1},
		Status: "answered", Solved: status && passed, Steps: 1,
		Checks: []ledger.Check{{Name: "status", Passed: status}, {Name: "judge.tone", Passed: passed}},
		Scores: []ledger.Score{{Name: "judge.tone", Pass: passed, Digest: "d"}},
	}
	return ledger.EpisodeRows{Episode: e}
}

func judgedReport(acceptance string, list []judges.Calibration, episodes ...ledger.EpisodeRows) Report {
	m := manifest.Manifest{Acceptance: manifest.Acceptance{Judges: acceptance}, Status: "complete", Trials: 1,
		Candidates: []manifest.Candidate{{Name: "mini", Agent: "tools", Provider: "openai", Model: "GPT", Planned: len(episodes)}},
		Judges:     []manifest.Judge{{Check: "judge.tone", Provider: "azure", Model: "gpt", Digest: "d", Rubric: "r"}}}
	b := NewBuilder(m, nil)
	b.SetJudges(list)
	for _, e := range episodes {
		b.Add(e)
	}
	return b.Report()
}

// calibrated is a judge with a sensitivity of 90% and a specificity of 80%, of so many labels each.
func calibrated(n int, digest string) []judges.Calibration {
	return []judges.Calibration{{
		Judge: manifest.Judge{Check: "judge.tone", Digest: digest, Rubric: "q"}, Labels: 2 * n, Tasks: 2 * n, PassWeight: 1, FailWeight: 1,
		Counts: []judges.Count{{Tasks: n * 9 / 10, PassPass: 1}, {Tasks: n / 10, PassFail: 1}, {Tasks: n * 8 / 10, FailFail: 1}, {Tasks: n * 2 / 10, FailPass: 1}},
	}}
}

// A judge without a calibration decides nothing, a stale one nothing either, and a calibrated one
// is corrected. What other checks decided is never changed.
func TestJudges(t *testing.T) {
	var list []ledger.EpisodeRows
	for i := range 200 {
		list = append(list, judgedEpisode(i, i >= 10, i < 160)) // 150 solved, 10 failed by status, 40 by the judge
	}
	solved := func(r Report) Criterion { return r.Candidates[0].Criteria[0] }

	r := judgedReport("", nil, list...)
	c := solved(r)
	require.Nil(t, c.Value)
	require.Equal(t, stat.Inconclusive, c.Verdict)
	require.InDelta(t, 0, c.Interval.Low, 0.001)
	require.InDelta(t, 0.97, c.Interval.High, 0.02, "ten failed whatever the judge says")
	require.Equal(t, 150, c.Raw.K)
	require.Contains(t, r.Candidates[0].Sentence, "Judge tone is not calibrated. Compare it with labels of people: cupel judge calibrate LABELS.")
	require.Contains(t, r.Notes, "Judge tone uses the model of mini (gpt): a judge tends to prefer what its own model writes. Use another model, or check the labels of this candidate.")
	require.Equal(t, []string{"mini"}, r.Judges[0].SameModel)

	c = solved(judgedReport("", calibrated(400, "other"), list...))
	require.Nil(t, c.Value)
	require.Contains(t, c.Note, "The calibration of judge tone is stale: its rubric changed.")

	r = judgedReport("", calibrated(400, "d"), list...)
	c = solved(r)
	require.InDelta(t, (150.0/200-190.0/200*0.2)/0.7, *c.Value, 1e-12)
	require.Greater(t, c.Interval.High-c.Interval.Low, c.Raw.Interval.High-c.Raw.Interval.Low)
	require.Contains(t, c.Note, "By the verdicts of judges alone: 75.0% (150 of 200)")
	require.True(t, r.Judges[0].Calibrated)

	// Fewer labels: a wider interval.
	require.Greater(t, solved(judgedReport("", calibrated(40, "d"), list...)).Interval.High, c.Interval.High-1e-9)
	require.Less(t, solved(judgedReport("", calibrated(40, "d"), list...)).Interval.Low, c.Interval.Low)

	// As configured otherwise, verdicts count as they are.
	r = judgedReport(manifest.JudgesAny, nil, list...)
	c = solved(r)
	require.InDelta(t, 0.75, *c.Value, 1e-12)
	require.InDelta(t, c.Raw.Interval.Low, c.Interval.Low, 0.01)
	require.Contains(t, r.Headline, "verdicts of judges taken as they are")

	// A candidate that fails whatever the judge said fails, and one that hardly needs it passes.
	var failed, sure []ledger.EpisodeRows
	for i := range 100 {
		failed = append(failed, judgedEpisode(i, i%2 == 0, true))
		e := judgedEpisode(i, true, true)
		if i > 0 {
			e.Episode.Checks = e.Episode.Checks[:1]
		}
		sure = append(sure, e)
	}
	require.Equal(t, stat.Fail, solved(judgedReport("", nil, failed...)).Verdict)
	require.Equal(t, stat.Pass, solved(judgedReport("", nil, sure...)).Verdict)

	// A lost episode is taken at its worst, too.
	lost := judgedEpisode(200, true, true)
	lost.Episode.InfraError, lost.Episode.Solved, lost.Episode.Status, lost.Episode.Checks = true, false, ledger.StatusInfraError, nil
	c = solved(judgedReport("", calibrated(400, "d"), append(list, lost)...))
	require.Less(t, *c.WorstCase.Value, *c.BestCase.Value)
	require.Less(t, c.WorstCase.Interval.Low, c.Interval.Low)
}
