package reports

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/text"
)

// If a custom criterion fails, so do the candidate and the run, and every output shows
// the criterion.
func TestOwnCriterionDecides(t *testing.T) {
	base := Build(reporttest.OwnRun(t, 90, 2, nil))
	require.Equal(t, stat.Pass, base.Candidates[0].Verdict, base.Candidates[0].Sentence)
	r := Build(reporttest.OwnRun(t, 90, 2, nil, manifest.Criterion{Name: "quick", Expr: `p95(duration_us) <= 500ms where role == "main"`}))
	c := r.Candidates[0]
	require.Equal(t, stat.Fail, c.Verdict)
	require.Regexp(t, `^fails on quick 1\.243s \(1\.\d+s–1\.\d+s\), needs ≤ 500ms\.$`, c.Sentence)
	for name, render := range map[string]func(*bytes.Buffer) error{
		"HTML": func(b *bytes.Buffer) error { return HTML(b, r) }, "Markdown": func(b *bytes.Buffer) error { return text.Markdown(b, r) },
		"JUnit": func(b *bytes.Buffer) error { return text.JUnit(b, r) }, "JSON": func(b *bytes.Buffer) error { return text.JSON(b, r) },
		"summary": func(b *bytes.Buffer) error { return text.Summary(b, r, text.Screen{Width: 100}) },
	} {
		var b bytes.Buffer
		require.NoError(t, render(&b), name)
		require.Contains(t, b.String(), "quick", name)
	}
	var b bytes.Buffer
	require.NoError(t, text.JSON(&b, r))
	var got model.Report
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	k := got.Candidates[0].Criteria[slices.IndexFunc(got.Candidates[0].Criteria, func(c model.Criterion) bool { return c.Name == "quick" })]
	require.Equal(t, 500_000.0, k.Threshold)
	require.Equal(t, `p95(duration_us) <= 500ms where role == "main"`, k.Expr)
}
