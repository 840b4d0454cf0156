package html

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/transcript"
)

func comparePageOf(t testing.TB, c compare.Comparison, sides SidesOf) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Comparison(&b, c, sides))
	return b.String()
}

func TestComparePage(t *testing.T) {
	page := comparePageOf(t, reporttest.ShownComparison(), reporttest.SidesFixture)
	if *reporttest.DemoDir != "" {
		require.NoError(t, os.WriteFile(filepath.Join(*reporttest.DemoDir, "compare.html"), []byte(page), 0o644))
	}
	reporttest.Inert(t, page)
	require.NotRegexp(t, regexp.MustCompile(`(?i)(src|href)="[^#]|url\(|@import`), page, "one file, no network")
	known := reporttest.Ids(t, "compare.html", page)
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		require.True(t, known[m[1]], "a link leads to %s", m[1])
	}
	for _, id := range []string{"pairs", "metrics", "tasks", "find", "outcome", "shown", "sides"} {
		require.True(t, known[id], id)
	}
	head := page[:strings.Index(page, "</h1>")]
	require.Contains(t, head, "Regression: 15.6 points fewer tasks solved", "the verdict comes first")
	require.Contains(t, head, `<body class="comparison" data-verdict="fail">`)

	rows := regexp.MustCompile(`<tr data-task="([^"]*)" data-class="([^"]*)"(?: data-outcome="([^"]*)")?>`).FindAllStringSubmatch(page, -1)
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join(r[1:], "|"))
	}
	require.Equal(t, []string{
		"G04|newly broken|changed", "G09|newly broken|changed known", "G07|newly broken|changed known", "G05|newly fixed|changed", "G02|unclear|changed", "G03|unclear|changed", "G06|flaky|changed",
		"G10|unknown|changed", "G08|stable fail|", "G01|stable pass|", "G01|stable pass|", "G01|stable pass|",
	}, got, "those that broke first, known ones last in their class")
	require.Contains(t, page, "ann@example.org, until 2026-12-31: clock skew, issue 12")
	require.Contains(t, page, "<bdi>ann@example.org</bdi>")
	require.Contains(t, page, "expired: gates again")
	require.Contains(t, page, "8 of 12 tasks changed or may have")
	for _, part := range []string{"−15.6 pp", "−22.1 to −9.0", "A loss of 6 points would have been detected.", "Checks of G01, G02", "misleads", "2 of 135", "changed"} {
		require.Contains(t, page, part)
	}

	require.Equal(t, 5, strings.Count(page, `class="grp sides-of"`))
	require.Equal(t, 5, strings.Count(page, `class="pair sides diverges" data-turn="3"`), "marked once a pair")
	require.Equal(t, 5, strings.Count(page, "First difference at turn 3: baseline answers, new calls get_counts"))
	require.Contains(t, page, `<a href="#side-1"><bdi>G04</bdi></a>`)
	require.Contains(t, page, "&#34;value&#34;: 427", "an observation")
	require.Contains(t, page, `Their system prompts differ: <a href="#system-1">1</a> and <a href="#system-2">2</a>.`)
	require.Contains(t, page, "stopped: thrash")
	require.Equal(t, comparePageOf(t, reporttest.ShownComparison(), reporttest.SidesFixture), page, "the same bytes")
}

// If something cannot be shown, the page says so and shows nothing instead.
func TestComparePageWithoutSides(t *testing.T) {
	c := reporttest.ShownComparison()
	for name, tc := range map[string]struct {
		sides SidesOf
		want  string
	}{
		"no runs": {nil, "are not available here: use cupel show"},
		"rows only": {func(isNew bool, task, candidate string, n int) (ledger.EpisodeRows, transcript.Detail, bool) {
			rows, _, _ := reporttest.SidesFixture(isNew, task, candidate, n)
			return rows, transcript.Detail{Missing: "the run was live"}, true
		}, "Prompts and outputs are left out for 10 episodes: the run was live."},
		"gone": {func(bool, string, string, int) (r ledger.EpisodeRows, d transcript.Detail, ok bool) {
			return r, d, false
		}, "5 tasks more that changed are not shown here"},
		"others": {func(isNew bool, task, candidate string, n int) (ledger.EpisodeRows, transcript.Detail, bool) {
			rows, said, _ := reporttest.SidesFixture(isNew, task, candidate, n)
			rows.Episode.EpisodeID = "other"
			return rows, said, true
		}, "5 tasks more that changed are not shown here"},
	} {
		t.Run(name, func(t *testing.T) {
			page := comparePageOf(t, c, tc.sides)
			reporttest.Inert(t, page)
			require.Contains(t, page, tc.want)
			require.NotContains(t, page, `class="msg out"`)
		})
	}
	page := comparePageOf(t, compare.Comparison{Verdict: stat.Inconclusive}, nil)
	reporttest.Inert(t, page)
	require.Contains(t, page, "None: both have the same configuration.")
}

// Sides are requested run by run, each in order, for all classes.
func TestSidesAreReadInOrder(t *testing.T) {
	c := reporttest.ShownComparison()
	c.Pairs = append(c.Pairs[:2:2], c.Pairs[0])
	c.Pairs[2].Baseline.Name, c.Pairs[2].New.Name = "a", "z"
	var asked []string
	_ = comparePageOf(t, c, func(isNew bool, task, candidate string, n int) (ledger.EpisodeRows, transcript.Detail, bool) {
		asked = append(asked, fmt.Sprint(isNew, " ", task, " ", candidate))
		return reporttest.SidesFixture(isNew, task, candidate, n)
	})
	require.Len(t, asked, 20)
	require.IsIncreasing(t, asked)
}

func TestEffectBars(t *testing.T) {
	interval := func(low, high float64) *stat.Interval { return &stat.Interval{Low: low, High: high} }
	for name, tc := range map[string]struct {
		m    compare.Metric
		want effectBar
	}{
		"a loss is on the left":      {compare.Metric{HigherIsBetter: true, Effect: new(-0.1), Interval: interval(-0.2, 0.1), Margin: new(0.05)}, effectBar{Low: "6.0", High: "99.0", Value: "37.0", Margin: "52.5"}},
		"more is worse":              {compare.Metric{Effect: new(1.0), Interval: interval(0, 2)}, effectBar{Low: "6.0", High: "68.0", Value: "37.0"}},
		"the margin sets the reach":  {compare.Metric{Effect: new(0.0), Interval: interval(0, 0), Margin: new(4.0)}, effectBar{Low: "68.0", High: "68.0", Value: "68.0", Margin: "6.0"}},
		"nothing changed, no margin": {compare.Metric{Effect: new(0.0), Interval: interval(0, 0)}, effectBar{Low: "68", High: "68", Value: "68"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := effectBarOf(tc.m)
			require.Contains(t, got.Words, "change ")
			tc.want.Zero, tc.want.Words = "68", got.Words
			require.Equal(t, &tc.want, got)
		})
	}
	require.Nil(t, effectBarOf(compare.Metric{Effect: new(1.0)}))
	require.Nil(t, effectBarOf(compare.Metric{Interval: interval(0, 1)}))
}

// For any runs and messages, the page stays below 2 MB and contains texts only.
func TestComparePageOfHostileRuns(t *testing.T) {
	evil := "<script>alert(1)</script>\x00\x1b[2J\u202e\u2028'\"&" + strings.Repeat(`"`, 3000)
	c := compare.Comparison{Verdict: stat.Fail, Headline: evil, Notes: []string{evil, evil}, Differences: []compare.Difference{{What: evil, Where: evil, Baseline: evil, New: evil}}}
	c.Baseline.RunID, c.Baseline.Suite, c.New.Mode = evil, evil, evil
	p := compare.Pair{Sentence: evil, Verdict: stat.Fail, Metrics: []compare.Metric{{Title: evil, Unit: evil, Note: evil, Power: evil, Test: evil}}, FailureChanges: []compare.FailureChange{{Kind: "x<y>", Baseline: 1}}}
	p.Baseline.Name, p.New.Name = evil, evil
	for i := range 3000 {
		p.Tasks = append(p.Tasks, compare.Task{
			ID: fmt.Sprint(evil, i), Title: evil, Class: flake.NewlyBroken, Evidence: evil, Known: &compare.KnownFlaky{Owner: evil, Reason: evil, Expires: evil},
			Episodes: []compare.EpisodePair{{Trial: 1, BaselineID: "B1", NewID: "T1", BaselineEnded: evil, NewEnded: evil, Turn: 1, What: evil}},
		})
	}
	c.Pairs = []compare.Pair{p}
	page := comparePageOf(t, c, func(isNew bool, task, candidate string, n int) (ledger.EpisodeRows, transcript.Detail, bool) {
		rows, said, _ := reporttest.SidesFixture(isNew, task, candidate, n)
		said.System = strings.Repeat(evil, 100) + fmt.Sprint(isNew, task)
		for i := range said.Turns {
			said.Turns[i].Output, said.Turns[i].Failed, said.Turns[i].Steps[0] = strings.Repeat(evil, 20), evil, transcript.DetailStep{Tool: evil, Args: evil, Question: evil, Result: evil, Outcome: evil}
			said.Turns[i].Prompt = []transcript.Message{{Role: evil, Text: strings.Repeat(evil, 30)}}
			rows.Turns[i].NextActionName, rows.Turns[i].Violations = evil, []string{evil}
			if !isNew && i == 1 {
				said.Turns = said.Turns[:2]
				break
			}
		}
		rows.Episode.Answer, rows.Episode.Checks = evil, []ledger.Check{{Name: evil, Detail: evil}}
		said.Missing = ""
		return rows, said, true
	})
	reporttest.Inert(t, page)
	require.Less(t, len(page), 2<<20)
	require.Contains(t, page, "tasks are left out")
	require.Contains(t, page, "are not shown here")
}

func TestComparePageReportsWriteErrors(t *testing.T) {
	require.ErrorIs(t, Comparison(reporttest.Broken{}, reporttest.ComparisonFixture(), nil), io.ErrClosedPipe)
}

// The reason why nothing was kept is untrusted text: it can neither reorder a line nor
// be invisible.
func TestComparePageWithHostileReasons(t *testing.T) {
	page := comparePageOf(t, reporttest.ShownComparison(), func(isNew bool, task, candidate string, n int) (ledger.EpisodeRows, transcript.Detail, bool) {
		rows, said, ok := reporttest.SidesFixture(isNew, task, candidate, n)
		if !isNew {
			said = transcript.Detail{Missing: "gone\u202e\u2066<b>"}
		}
		return rows, said, ok
	})
	require.Contains(t, page, `Prompts and outputs left out: gone\u{202E}\u{2066}&lt;b&gt;.`)
	require.NotContains(t, page, "\u202e")
}
