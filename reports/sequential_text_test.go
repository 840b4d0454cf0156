package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/text"
	"github.com/cupel-eval/cupel/reports/words"
)

// Each candidate is judged at its own look, and every output states this.
func TestReportOfARunInRounds(t *testing.T) {
	m, rows := reporttest.SequentialRun(150, map[string]float64{"good": 1, "bad": 0.2},
		manifest.Stop{Candidate: "bad", Round: 2, Verdict: "fail"}, manifest.Stop{Candidate: "good", Round: 3, Verdict: "pass"})
	r := Build(m, rows)
	for name, at := range map[string]int{"bad": 2, "good": 3} {
		for _, c := range r.Candidates {
			if c.Name != name {
				continue
			}
			want := stat.Look{Rounds: []int{1, 2, 3, 4, 5}, At: at}.Confidence(0.95)
			require.InDelta(t, want, c.Criteria[0].Confidence, 1e-12, name)
			require.Contains(t, c.Criteria[0].Test, fmt.Sprintf("two-sided %s, corrected for stopping after round %d of 5", words.Level(want), at))
			require.Zero(t, c.Unfinished, "its rounds are all there is of it")
		}
	}
	require.Equal(t, []stat.Verdict{stat.Fail, stat.Pass}, []stat.Verdict{r.Candidates[0].Verdict, r.Candidates[1].Verdict})
	notes := strings.Join(r.Notes, "\n")
	require.Contains(t, notes, "Stopped after 3 of 5 rounds: 750 of 1,500 episodes, 50% saved.")
	require.Contains(t, notes, "Intervals of bad have a confidence of 99.92% each, corrected for stopping after round 2 of 5: together, those of all rounds have 95%.")
	require.Contains(t, notes, "its entire repeated 95% confidence interval")
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return text.Summary(b, r, text.Screen{}) },
		"md":   func(b *bytes.Buffer) error { return text.Markdown(b, r) },
		"html": func(b *bytes.Buffer) error { return HTML(b, r) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		require.Contains(t, b.String(), "corrected for stopping after round 2 of 5", name)
		require.Contains(t, b.String(), "50% saved", name)
	}
}
