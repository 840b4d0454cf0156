package text

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/html"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/view/compared"
)

type compareRenderer struct {
	name   string
	render func(io.Writer, compare.Comparison) error
}

func compareRenderers() []compareRenderer {
	return []compareRenderer{
		{"compare.md", CompareMarkdown}, {"compare.xml", CompareJUnit}, {"compare.json", CompareJSON}, {"compare.annotations", compareAnnotations},
		{"compare.txt", func(w io.Writer, c compare.Comparison) error { return CompareSummary(w, c, Screen{Width: 80}) }},
		{"compare.plain", func(w io.Writer, c compare.Comparison) error { return CompareSummary(w, c, Screen{}) }},
	}
}

// Rewrite the goldens with: go test ./reports/text -run CompareGolden -update
func TestCompareGolden(t *testing.T) {
	for _, r := range compareRenderers() {
		t.Run(r.name, func(t *testing.T) {
			got, path := reporttest.Render(t, r.render, reporttest.ComparisonFixture()), filepath.Join("testdata", r.name)
			if testkit.Update() {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
			require.Error(t, r.render(reporttest.Broken{}, reporttest.ComparisonFixture()))
		})
	}
}

func TestCompareJSONReadsBack(t *testing.T) {
	var c compare.Comparison
	require.NoError(t, json.Unmarshal([]byte(reporttest.Render(t, CompareJSON, reporttest.ComparisonFixture())), &c))
	require.Equal(t, reporttest.ComparisonFixture(), c)
}

// If two candidates of one run are compared, every output calls them by their names. If
// two runs are compared, it calls them baseline and new.
func TestCompareNamesTheSides(t *testing.T) {
	renderers := append(compareRenderers(), compareRenderer{"compare.html", func(w io.Writer, c compare.Comparison) error { return html.Comparison(w, c, reporttest.SidesFixture) }})
	for _, r := range renderers {
		if r.name == "compare.json" { // its keys do not depend on the labels
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			one := saidIn(reporttest.Render(t, r.render, reporttest.OneRunFixture()))
			require.Contains(t, one, "strong")
			require.Contains(t, one, "weak")
			require.NotRegexp(t, `(?i)baseline|\bnew\b|on trial|\bbefore\b|\bnow\b`, one)
			two := saidIn(reporttest.Render(t, r.render, reporttest.ComparisonFixture()))
			require.Contains(t, strings.ToLower(two), "baseline")
			require.NotRegexp(t, `(?i)on trial|the trial\b|\bbefore\b|\bnow\b|valid_json`, two)
		})
	}
	for _, one := range []string{
		reporttest.Render(t, func(w io.Writer, c compare.Comparison) error { return CompareSummary(w, c, Screen{Width: 80}) }, reporttest.OneRunFixture()),
		reporttest.Render(t, CompareMarkdown, reporttest.OneRunFixture()),
	} {
		require.Regexp(t, `(?m)([Mm]etric).* strong.* weak.* [cC]hange`, one)
	}

	require.Equal(t, []string{"contract_valid", "contract_\n  valid", "solv…\n  x"}, []string{metricName("contract_valid", 14), metricName("contract_valid", 10), metricName("solved_x", 5)})
	alike := reporttest.OneRunFixture()
	alike.Pairs[0].Labels = compare.Names{Baseline: "provider-model-contract", New: "provider-model-tools"}
	require.Equal(t, compare.Names{Baseline: "first", New: "second"}, compared.SideNames(alike, 14))
	require.Equal(t, alike.Pairs[0].Labels, compared.Headings(alike))
	several := reporttest.OneRunFixture()
	several.Pairs = append(several.Pairs, several.Pairs[0])
	several.Pairs[1].Labels, several.Pairs[1].Baseline.Name, several.Pairs[1].New.Name = compare.Names{Baseline: "a", New: "b"}, "a", "b"
	require.Equal(t, compare.Names{Baseline: "First", New: "Second"}, compared.Headings(several))
	require.Contains(t, reporttest.Render(t, CompareMarkdown, several), "| First | Second | Change |")
}

var (
	pageCode = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>`)
	pageTags = regexp.MustCompile(`<[^>]*>`)
)

// saidIn returns an output without the code and the tags of a page.
func saidIn(out string) string {
	if !strings.HasPrefix(out, "<!doctype html>") {
		return out
	}
	text := pageTags.ReplaceAllString(pageCode.ReplaceAllString(out, ""), " ")
	return strings.ReplaceAll(text, "1 new message", "1 message") // a message of a prompt
}

// The output fits a terminal of 80 columns.
func TestCompareSummaryFits(t *testing.T) {
	for line := range strings.Lines(reporttest.Render(t, func(w io.Writer, c compare.Comparison) error { return CompareSummary(w, c, Screen{Width: 80}) }, reporttest.ComparisonFixture())) {
		require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 80, line)
	}
}

// The class of a task decides its result in JUnit. The list of known flaky tasks
// excuses it until the entry expires.
func TestCompareJUnitCases(t *testing.T) {
	for name, c := range map[string]struct {
		task             compare.Task
		failure, skipped string
	}{
		"broken":         {compare.Task{Class: flake.NewlyBroken}, "newly broken", ""},
		"known":          {compare.Task{Class: flake.NewlyBroken, Known: &compare.KnownFlaky{Owner: "ann", Expires: "2026-12-31"}}, "", "known to be flaky (ann, until 2026-12-31)"},
		"known, expired": {compare.Task{Class: flake.NewlyBroken, Known: &compare.KnownFlaky{Owner: "ann", Expires: "2025-12-31", Expired: true}}, "newly broken", ""},
		"known, passing": {compare.Task{Class: flake.StablePass, Known: &compare.KnownFlaky{Owner: "ann", Expires: "2026-12-31"}}, "", "known to be flaky"},
		"flaky":          {compare.Task{Class: flake.Flaky}, "", ""},
		"always failing": {compare.Task{Class: flake.StableFail}, "", ""},
		"no trial":       {compare.Task{Class: flake.Unknown}, "", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			var s junitSuite
			s.task(c.task)
			require.Equal(t, 1, s.Tests)
			if got := s.Cases[0]; c.failure != "" {
				require.Equal(t, c.failure, got.Failure.Type)
				require.Equal(t, 1, s.Failures)
			} else {
				require.Nil(t, got.Failure)
			}
			if got := s.Cases[0]; c.skipped != "" {
				require.Contains(t, got.Skipped.Message, c.skipped)
				require.Equal(t, 1, s.Skipped)
			} else {
				require.Nil(t, got.Skipped)
			}
		})
	}
}

// hostileComparison has attacks in all texts, and more of everything than fits.
func hostileComparison(payload string, many int) compare.Comparison {
	c := reporttest.ComparisonFixture()
	c.Headline, c.Baseline.RunID, c.New.RunID, c.Baseline.Suite, c.New.Suite, c.New.Mode, c.New.Started, c.New.CodeVersion, c.New.Status = payload, payload, payload, payload, payload, payload, payload, payload, payload
	c.Notes = []string{payload}
	for i := range c.Differences {
		c.Differences[i].Where, c.Differences[i].Baseline, c.Differences[i].New = payload, payload, payload
	}
	known := &compare.KnownFlaky{Task: payload, Candidate: payload, Owner: payload, Expires: payload, Reason: payload}
	p := &c.Pairs[0]
	p.Baseline.Name, p.New.Name, p.Sentence, p.Labels = payload, payload, payload, compare.Names{Baseline: payload, New: payload}
	for i := range p.Metrics {
		p.Metrics[i].Name, p.Metrics[i].Title, p.Metrics[i].Note, p.Metrics[i].Power, p.Metrics[i].Test = payload, payload, payload, payload, payload
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.ID, t.Title, t.Evidence = payload, payload, payload
		if t.Known != nil {
			t.Known = known
		}
		for j := range t.Episodes {
			t.Episodes[j] = compare.EpisodePair{Trial: 1, BaselineID: payload, NewID: payload, BaselineEnded: payload, NewEnded: payload, Turn: 1, What: payload}
		}
	}
	for range many {
		p.Tasks = append(p.Tasks, p.Tasks[1], p.Tasks[4])
		c.Differences = append(c.Differences, c.Differences[1])
		c.Notes = append(c.Notes, payload)
	}
	for range many / 100 {
		c.Pairs = append(c.Pairs, *p)
	}
	return c
}

func TestCompareHostileText(t *testing.T) {
	const payload = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202Egnp.exe\x1b[2J\x00\"'`|*_[x](javascript:alert(3)) @everyone #1 www.evil.example http://evil.example ]]> \n::error::owned\r##[error] \xff"
	c := hostileComparison(payload, 2)
	for _, r := range compareRenderers() {
		t.Run(r.name, func(t *testing.T) {
			out := reporttest.Render(t, r.render, c)
			switch r.name {
			case "compare.json":
				reporttest.Lacks(t, out, "<script")
				require.True(t, json.Valid([]byte(out)))
				return
			case "compare.md":
				for _, part := range []string{"<script", "<img", "](", "@everyone", "http://", "`", "www.evil"} {
					reporttest.Lacks(t, out, part)
				}
			case "compare.xml":
				require.NoError(t, xml.Unmarshal([]byte(out), new(junitSuites)))
				reporttest.Lacks(t, out, "<script")
			case "compare.annotations":
				for line := range strings.Lines(out) {
					require.Regexp(t, `^::(error|warning|notice) title=[^:,]*::`, line)
				}
			}
			require.Equal(t, -1, strings.IndexFunc(strings.ReplaceAll(out, "\n", ""), reporttest.Hidden), "raw control or direction characters")
		})
	}
}

// For runs of any size, a comment keeps its size limit and a step shows ten
// annotations.
func TestCompareIsBounded(t *testing.T) {
	c := hostileComparison(strings.Repeat("a long text of an unknown author | ", 300), testkit.SlowN(500, 2000))
	text := reporttest.Render(t, CompareMarkdown, c)
	require.Less(t, len(text), 60_000)
	require.Contains(t, text, "left out to stay below the size of a comment")
	require.Equal(t, strings.Count(text, "<details>"), strings.Count(text, "</details>"))
	require.Len(t, strings.Split(strings.TrimSpace(reporttest.Render(t, compareAnnotations, c)), "\n"), maxAnnotations)
	require.Less(t, len(reporttest.Render(t, func(w io.Writer, c compare.Comparison) error { return CompareSummary(w, c, Screen{}) }, reporttest.ComparisonFixture())), 8000)
}

// Both verdicts of a gate are annotated, the worst first.
func TestGateAnnotations(t *testing.T) {
	r := model.Report{Verdict: stat.Pass, Candidates: []model.Candidate{{Verdict: stat.Pass, Sentence: "meets all."}}}
	r.Candidates[0].Name = "strong"
	lines := strings.Split(strings.TrimSpace(reporttest.Render(t, func(w io.Writer, c compare.Comparison) error { return GateAnnotations(w, r, c) }, reporttest.ComparisonFixture())), "\n")
	require.Regexp(t, `^::error title=strong%3A solved tasks%3A fail::`, lines[0])
	require.Contains(t, lines, "::notice title=strong%3A pass::strong meets all.")
	require.Contains(t, lines, "::notice title=weak → weak-2%3A regression%3A pass::"+strings.ReplaceAll(reporttest.ComparisonFixture().Pairs[1].Sentence, "%", "%25"))

	lost := reporttest.ComparisonFixture()
	lost.Verdict, lost.Pairs[0].Verdict, lost.Pairs[0].Sentence = stat.Inconclusive, stat.Inconclusive, "Cannot be judged: 9 of 10 pairs lost."
	text := reporttest.Render(t, compareAnnotations, lost)
	require.NotContains(t, text, "::error", "what was lost proves nothing")
	require.Contains(t, text, "::warning title=strong%3A solved tasks%3A inconclusive::")
	require.Contains(t, reporttest.Render(t, CompareJUnit, lost), `<skipped message="inconclusive: solved tasks`)

	passed := compare.Comparison{Verdict: stat.Inconclusive, Headline: "Inconclusive: the baseline is partial"}
	require.Equal(t, "::warning title=regression%3A inconclusive::Inconclusive: the baseline is partial\n", reporttest.Render(t, compareAnnotations, passed))
}

// No significant regression is shown as such everywhere. Only the rules decide whether
// it passes a gate.
func TestNoSignificantRegression(t *testing.T) {
	c := reporttest.ComparisonFixture()
	c.Verdict, c.Headline, c.Pairs = stat.NoRegression, "No significant regression: mid is not worse", c.Pairs[2:]
	c.Differences = nil
	sentence := strings.ReplaceAll(c.Pairs[0].Sentence, "%", "%25")
	require.Equal(t, "::notice title=mid%3A regression%3A no significant regression::"+sentence+"\n", reporttest.Render(t, compareAnnotations, c))
	suite := func() junitSuite {
		var all junitSuites
		require.NoError(t, xml.Unmarshal([]byte(reporttest.Render(t, CompareJUnit, c)), &all))
		require.Zero(t, all.Failures)
		return all.Suites[0]
	}
	passed := suite()
	require.Zero(t, passed.Skipped)
	require.Regexp(t, `^no significant regression: solved tasks 90.0% → 88.0%`, passed.Cases[0].Output)
	page := reporttest.Render(t, func(w io.Writer, c compare.Comparison) error { return html.Comparison(w, c, nil) }, c)
	require.Contains(t, page, `<span class="chip no_significant_regression">`)
	require.Contains(t, page, `<svg class="effect no_significant_regression"`)
	require.Contains(t, page, "needs data that would detect a loss of 10 points with 80% power; a gate takes it as pass")

	c.Rules.OnUnclear = compare.OnUnclearFail
	require.Equal(t, "::warning title=mid%3A regression%3A no significant regression (on_unclear is fail)::"+sentence+"\n", reporttest.Render(t, compareAnnotations, c))
	skipped := suite()
	require.Equal(t, 1, skipped.Skipped)
	require.Regexp(t, `^no significant regression \(on_unclear is fail\): solved tasks`, skipped.Cases[0].Skipped.Message)
	require.Empty(t, skipped.Cases[0].Output)
	page = reporttest.Render(t, func(w io.Writer, c compare.Comparison) error { return html.Comparison(w, c, nil) }, c)
	require.Contains(t, page, "a gate takes it as inconclusive")
}

// Every output names the pooled runs, within limits.
func TestPooledBaselines(t *testing.T) {
	c := reporttest.ComparisonFixture()
	for _, r := range append(compareRenderers(), compareRenderer{"html", func(w io.Writer, c compare.Comparison) error { return html.Comparison(w, c, nil) }}) {
		if r.name == "compare.annotations" { // annotations are about candidates
			continue
		}
		text := strings.Join(strings.Fields(reporttest.Render(t, r.render, c)), " ")
		for _, s := range compared.Baselines(c) {
			require.Contains(t, text, s.RunID, r.name)
		}
		if r.name != "compare.json" && r.name != "compare.xml" {
			require.Contains(t, text, "3 runs pooled (", r.name)
		}
	}
	for i := range 100 {
		c.Pooled = append(c.Pooled, compare.Side{RunID: fmt.Sprint("more-", i), Started: fmt.Sprint("day ", i)})
	}
	line := compared.RunsOf(c)[0].Line
	require.Regexp(t, `^103 runs pooled \(.* and 95 more\) · `, line)
	require.Less(t, len(line), 800)
}

func BenchmarkCompareMarkdown(b *testing.B) {
	c := reporttest.ComparisonFixture()
	for i := range 1000 {
		t := c.Pairs[0].Tasks[1]
		t.ID = fmt.Sprint("T", i)
		c.Pairs[0].Tasks = append(c.Pairs[0].Tasks, t)
	}
	b.ReportAllocs()
	for b.Loop() { // floor: writing 30 KB
		if err := CompareMarkdown(io.Discard, c); err != nil {
			b.Fatal(err)
		}
	}
}

// compareAnnotations writes the annotations of a comparison alone.
func compareAnnotations(w io.Writer, c compare.Comparison) error {
	return writeAnnotations(w, compareRemarks(c))
}
