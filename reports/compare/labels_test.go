package compare

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// In every text, two candidates of one run are called by their names, and two runs
// "baseline" and "new". No other labels occur.
func TestLabels(t *testing.T) {
	strong := plan{candidate: "strong", tasks: 30, trials: 2}
	weak := plan{candidate: "weak", tasks: 30, trials: 2, episode: func(task, trial int, rows *ledger.EpisodeRows) {
		switch {
		case task < 10:
			rows.Episode.Solved = false
			rows.Turns = rows.Turns[:2]
		case task == 10 && trial == 1:
			rows.Turns[0].NextActionName = "today_range"
		}
	}}
	of := func(oneRun bool) Comparison {
		b, n := strong.manifest(), weak.manifest()
		if oneRun {
			b.Candidates = append(b.Candidates, n.Candidates...)
			n = b
		}
		builder := NewBuilder([]manifest.Manifest{b}, n, []Names{{"strong", "weak"}}, Rules{})
		strong.each(builder.addBaseline)
		weak.each(builder.AddNew)
		return finished(builder)
	}

	runs := of(false)
	require.False(t, runs.OneRun)
	require.Equal(t, Names{"baseline", "new"}, runs.Pairs[0].Labels)
	require.Equal(t, "Regression: 33.3 points fewer tasks solved", runs.Headline)
	require.Equal(t, "The new run solves 66.7% of its episodes in 30 tasks, the baseline 100.0%: −33.3 points (95% CI −51.2 to −15.4). The loss is significant (adjusted p = 0.0011).", runs.Pairs[0].Sentence)
	require.Equal(t, "solved: baseline 2 of 2, new 0 of 2; too few trials to distinguish a change from flakiness (p = 0.17, adjusted for 30 tasks: 0.5)", runs.Pairs[0].Tasks[0].Evidence)
	require.Equal(t, "baseline answers, new has ended", runs.Pairs[0].Tasks[0].Episodes[0].What)

	one := of(true)
	require.True(t, one.OneRun)
	require.Equal(t, Names{"strong", "weak"}, one.Pairs[0].Labels)
	require.Equal(t, "weak solves 66.7% of its episodes in 30 tasks, strong 100.0%: −33.3 points (95% CI −51.2 to −15.4). The loss is significant (adjusted p = 0.0011).", one.Pairs[0].Sentence)
	require.Equal(t, "solved: strong 2 of 2, weak 0 of 2; too few trials to distinguish a change from flakiness (p = 0.17, adjusted for 30 tasks: 0.5)", one.Pairs[0].Tasks[0].Evidence)
	require.Equal(t, "strong answers, weak has ended", one.Pairs[0].Tasks[0].Episodes[0].What)
	require.Equal(t, "strong calls get_counts, weak calls today_range", one.Pairs[0].Tasks[10].Episodes[0].What)

	for _, c := range []Comparison{runs, one} {
		data, err := json.Marshal(c)
		require.NoError(t, err)
		text := strings.ToLower(string(data))
		for _, word := range []string{" before", " now", "on trial", `"trial_`, "the trial", "valid_json"} {
			require.NotContains(t, text, word)
		}
	}
	said := []string{one.Headline, one.Pairs[0].Sentence}
	for _, task := range one.Pairs[0].Tasks {
		said = append(said, task.Evidence)
		for _, e := range task.Episodes {
			said = append(said, e.What)
		}
	}
	for _, text := range said {
		require.NotRegexp(t, `baseline|\bnew\b`, text)
	}
}

// If a single run is incomplete, the text names the run or the candidate.
func TestLabelsOfAnUnfinishedRun(t *testing.T) {
	for want, edit := range map[string]func(*manifest.Manifest){
		"Inconclusive: the status of the run is running":          func(m *manifest.Manifest) { m.Status = "running" },
		"Inconclusive: the run was stopped early: a cap":          func(m *manifest.Manifest) { m.Stopped = "a cap" },
		"Inconclusive: 7 planned episodes of b have not been run": func(m *manifest.Manifest) { m.Candidates[1].Planned += 7 },
		"Inconclusive: 7 planned episodes of a have not been run": func(m *manifest.Manifest) { m.Candidates[0].Planned += 7 },
		"No regression": nil,
	} {
		a, other := plan{candidate: "a", tasks: 200, trials: 2}, plan{candidate: "b", tasks: 200, trials: 2}
		m := a.manifest()
		m.Candidates = append(m.Candidates, other.manifest().Candidates...)
		if edit != nil {
			edit(&m)
		}
		b := NewBuilder([]manifest.Manifest{m}, m, []Names{{"a", "b"}}, Rules{})
		a.each(b.addBaseline)
		other.each(b.AddNew)
		require.Equal(t, want, finished(b).Headline)
	}
}
