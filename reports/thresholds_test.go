package reports

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/text"
)

// changedReport returns the report of a run that is judged by other thresholds than its
// own.
func changedReport(t *testing.T, thresholds ...string) model.Report {
	t.Helper()
	m, rows := reporttest.Demo(reporttest.DemoProfiles()[:1], 30, 3)
	a, err := m.Acceptance.With(thresholds)
	require.NoError(t, err)
	b := NewBuilder(m)
	b.JudgeBy(a)
	b.AddAll(rows)
	return b.Report()
}

// If thresholds were given for a report, every output names them with both values.
func TestThresholdsChangedAreNamedEverywhere(t *testing.T) {
	r := changedReport(t, "min_solved=0.01", "max_steps=50", "min_valid=0.95")
	require.Equal(t, []manifest.ThresholdChange{{Name: "min_solved", Recorded: 0.8, Used: 0.01}, {Name: "max_steps", Recorded: 5, Used: 50}}, r.ThresholdsChanged)
	require.EqualValues(t, 0.01, r.Run.Acceptance.MinSolved)
	const words = "min_solved 0.8 → 0.01, max_steps 5 → 50"
	for name, render := range map[string]func(io.Writer, model.Report) error{
		"HTML": HTML, "Markdown": text.Markdown, "JSON": text.JSON, "JUnit": text.JUnit, "annotations": text.Annotations,
		"terminal": func(w io.Writer, r model.Report) error { return text.Summary(w, r, text.Screen{}) },
	} {
		var changed, own bytes.Buffer
		require.NoError(t, render(&changed, r))
		require.Contains(t, html.UnescapeString(changed.String()), words, name)
		require.NoError(t, render(&own, changedReport(t)))
		require.NotContains(t, own.String(), "→ 0.01", name)
		require.NotContains(t, own.String(), "hresholds changed", name)
		require.NotContains(t, own.String(), "thresholds_changed", name)
	}
	require.Contains(t, r.Headline, "; 2 thresholds changed at report time")
	var out struct {
		Changed []map[string]any `json:"thresholds_changed"`
	}
	var printed bytes.Buffer
	require.NoError(t, text.JSON(&printed, changedReport(t, "min_solved=off")))
	require.NoError(t, json.Unmarshal(printed.Bytes(), &out))
	require.Equal(t, []map[string]any{{"name": "min_solved", "recorded": 0.8, "used": "off"}}, out.Changed)
}

// The given thresholds also decide what is counted while episodes are added.
func TestThresholdsChangedDecide(t *testing.T) {
	strict, lenient := changedReport(t, "max_steps=0.5"), changedReport(t, "max_steps=100", "min_solved=off", "min_valid=0.01")
	require.Equal(t, stat.Fail, strict.Verdict)
	require.Equal(t, stat.Pass, lenient.Verdict)
}
