package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
)

func annotations(t *testing.T, r model.Report) []string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Annotations(&b, r))
	require.True(t, strings.HasSuffix(b.String(), "\n"))
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func TestAnnotations(t *testing.T) {
	criterion := func(v stat.Verdict) model.Criterion {
		value := 0.5
		return model.Criterion{Name: "valid_json", Title: "Contract-valid first outputs", Kind: "share", Value: &value, N: 8, Threshold: 0.95, AtLeast: true, Verdict: v, Note: "A note."}
	}
	candidate := func(name string, v stat.Verdict, criteria ...model.Criterion) model.Candidate {
		said := "says why."
		if v != stat.Pass && slices.ContainsFunc(criteria, func(c model.Criterion) bool { return c.Verdict == v }) {
			said = model.SentenceOf(criteria)
		}
		return model.Candidate{Candidate: manifest.Candidate{Name: name}, Verdict: v, Sentence: said, Criteria: criteria}
	}
	for name, c := range map[string]struct {
		report model.Report
		want   []string
	}{
		"pass": {model.Report{Verdict: stat.Pass, Candidates: []model.Candidate{candidate("a", stat.Pass, criterion(stat.Pass))}}, []string{"::notice title=a%3A pass::a says why."}},
		"worst first": {
			model.Report{Candidates: []model.Candidate{
				candidate("a", stat.Pass, criterion(stat.Pass)),
				candidate("b", stat.Inconclusive, criterion(stat.Inconclusive), criterion(stat.Pass)),
				candidate("c", stat.Fail, criterion(stat.Inconclusive), criterion(stat.Fail)),
			}},
			[]string{
				"::error title=c%3A contract-valid first outputs%3A fail::50.0%25 (–), needs ≥ 95%25, n 8. A note.",
				"::warning title=b%3A contract-valid first outputs%3A inconclusive::50.0%25 (–), needs ≥ 95%25, n 8. A note.",
				"::warning title=c%3A contract-valid first outputs%3A inconclusive::50.0%25 (–), needs ≥ 95%25, n 8. A note.",
				"::notice title=a%3A pass::a says why.",
			},
		},
		"too many lost": {
			model.Report{Candidates: []model.Candidate{candidate("a", stat.Inconclusive, criterion(stat.Fail), criterion(stat.Pass))}},
			[]string{
				"::warning title=a%3A inconclusive::a says why.",
				"::warning title=a%3A contract-valid first outputs%3A inconclusive::50.0%25 (–), needs ≥ 95%25, n 8. A note.",
			},
		},
		"unfinished": {model.Report{Candidates: []model.Candidate{candidate("a", stat.Inconclusive, criterion(stat.Pass))}}, []string{"::warning title=a%3A inconclusive::a says why."}},
		"run ended early": {
			model.Report{Verdict: stat.Inconclusive, Headline: "Inconclusive: the run ended early", Candidates: []model.Candidate{candidate("a", stat.Pass)}},
			[]string{"::warning title=cupel::Inconclusive: the run ended early", "::notice title=a%3A pass::a says why."},
		},
		"pooled": {
			model.Report{Verdict: stat.Pass, Groups: []model.Group{{Provider: "p", Model: "m", Verdict: stat.Pass, Sentence: "says why."}}},
			[]string{"::notice title=p/m (pooled)%3A pass::p/m (pooled) says why."},
		},
		"nobody judged": {
			model.Report{Verdict: stat.Inconclusive, Headline: "Nothing to judge", Candidates: []model.Candidate{candidate("s", stat.NotJudged)}},
			[]string{"::warning title=cupel::Nothing to judge"},
		},
		"hostile name": {
			model.Report{Verdict: stat.Pass, Candidates: []model.Candidate{candidate("a,file=x::\n::set-output name=x::y\r##[error]%0A", stat.Pass)}},
			[]string{"::notice title=a%2Cfile=x%3A%3A %3A%3Aset-output name=x%3A%3Ay ##[error]%250A%3A pass::a,file=x:: ::set-output name=x::y ##[error]%250A says why."},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, annotations(t, c.report)) })
	}
}

func TestAnnotationsAreFew(t *testing.T) {
	var r model.Report
	for i := range 30 {
		c := model.Candidate{Candidate: manifest.Candidate{Name: fmt.Sprintf("%02d%s", i, strings.Repeat("\n::error::", 1000))}, Verdict: stat.Pass}
		c.Sentence = strings.Repeat("long\n::error::", 1000)
		if i == 29 {
			c.Verdict = stat.Inconclusive
		}
		r.Candidates = append(r.Candidates, c)
	}
	lines := annotations(t, r)
	require.Len(t, lines, maxAnnotations)
	require.True(t, strings.HasPrefix(lines[0], "::warning title=29"))
	for _, l := range lines[1:] {
		require.True(t, strings.HasPrefix(l, "::notice title="), l)
		require.Less(t, len(l), 2000)
	}
	require.Equal(t, "::notice title=cupel::21 more remarks are in the report", lines[9])

	r.Candidates, r.Verdict = r.Candidates[:maxAnnotations], stat.Pass
	require.NotContains(t, strings.Join(annotations(t, r), "\n"), "more remarks", "ten are all shown")
}

func TestAnnotationsOfARun(t *testing.T) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles(), 40, 1)
	lines := annotations(t, build(m, rows))
	require.Regexp(t, `(?m)^::error title=open-weights-8b%3A contract-valid first outputs%3A fail::8\d\.\d%25 \(`, strings.Join(lines, "\n"))
	require.Error(t, Annotations(reporttest.Broken{}, build(m, rows)))
}
