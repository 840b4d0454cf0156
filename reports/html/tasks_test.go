package html

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/text"
	"github.com/cupel-eval/cupel/reports/trend"
	"github.com/cupel-eval/cupel/reports/view"
)

func TestHeatMap(t *testing.T) {
	w := reporttest.NewWorld("a", "b")
	w.M.Tasks = []manifest.Task{{ID: "t1", Title: "first", Tier: "core", Tags: []string{"dates", "sms"}}, {ID: "t2"}, {ID: "t1", Title: "twice"}}
	w.Add(1, "t1", true, 2, nil)
	w.Add(1, "t1", false, 4, func(e *ledger.Episode, _ []ledger.Turn) { e.Trial = 2 })
	w.Add(1, "t1", false, 9, func(e *ledger.Episode, _ []ledger.Turn) { e.Trial, e.InfraError = 3, true })
	w.Add(1, "t2", true, 3, nil)
	r := build(w.M, w.Rows)
	views := taskViews(r, links{0: "tasks/t1.html#ep-e0"}, map[string]string{"t1": "tasks/t1.html"})
	require.Equal(t, []taskView{
		{ID: "t1", Title: "First", Tier: "core", Tags: []string{"dates", "sms"}, Href: "tasks/t1.html", Outcomes: "mixed no-result", Cells: []cellView{
			{Class: "h2", Rate: "50", Text: "1 of 2", Name: "a", Marks: []markView{
				{"y", "✓", "tasks/t1.html#ep-e0", "trial 1: solved in 2 steps"},
				{"x", "✗", "", "trial 2: not solved in 4 steps"},
				{"z", "!", "", "trial 3: infrastructure error in 9 steps"},
			}},
			{Class: "h-", Text: "–", Name: "b"},
		}},
		{ID: "t2", Outcomes: "solved", Cells: []cellView{
			{Class: "h4", Rate: "100", Name: "a", Marks: []markView{{"y", "✓", "", "trial 1: solved in 3 steps"}}},
			{Class: "h-", Text: "–", Name: "b"},
		}},
	}, views)
	require.Equal(t, []totalView{{"66.7% (2 of 3)", "50", "25", "25"}, {"–", "0", "0", "0"}}, totals(r))
}

// A cell of many trials has one mark, which links to the most informative transcript.
func TestHeatMapOfManyTrials(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(maxMarks, "t", true, 1, nil)
	w.Add(1, "t", false, 2, func(e *ledger.Episode, _ []ledger.Turn) { e.InfraError = true })
	w.Add(2, "t", false, 3, nil)
	r := build(w.M, w.Rows)
	all := links{}
	for i := range r.Episodes {
		all[i] = "#" + r.Episodes[i].Anchor
	}
	cell := taskViews(r, all, nil)[0].Cells[0]
	require.Equal(t, []markView{{"x", "✗", "#ep-e13", ""}}, cell.Marks)
	require.Equal(t, "12 of 14", cell.Text)
	require.Empty(t, taskViews(r, nil, nil)[0].Cells[0].Marks)
}

// There are five levels of colour: none, below a third, the middle third, above two
// thirds, all.
func TestHeat(t *testing.T) {
	for want, shares := range map[string][][2]int{"h0": {{0, 1}, {0, 9}}, "h1": {{1, 4}, {1, 100}}, "h2": {{1, 3}, {1, 2}, {2, 3}}, "h3": {{3, 4}, {99, 100}}, "h4": {{1, 1}, {7, 7}}} {
		for _, s := range shares {
			require.Equal(t, want, heat(s[0], s[1]), s)
		}
	}
}

func TestTaskOutcomes(t *testing.T) {
	for _, c := range []struct {
		name, want string
		cells      []model.Cell
	}{
		{"nothing run", "solved", []model.Cell{{}}},
		{"solved", "solved", []model.Cell{{Solved: 2, Scored: 2, Episodes: []int{0, 1}}, {}}},
		{"failed", "failed", []model.Cell{{Solved: 2, Scored: 2, Episodes: []int{0, 1}}, {Scored: 1, Episodes: []int{2}}}},
		{"each", "failed mixed no-result", []model.Cell{{Scored: 1, Episodes: []int{0}}, {Solved: 1, Scored: 2, Episodes: []int{1, 2}}, {Episodes: []int{3}}}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, outcomes(model.Task{Cells: c.cells})) })
	}
}

func TestClusterRows(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(3, "t", false, 2, nil)
	r := build(w.M, w.Rows)
	r.Clusters = []model.Cluster{
		{Cause: failure.Cause{Kind: failure.Answer, Signature: "numbers: <want> N"}, Episodes: []int{0, 2}, Shortest: 2, Candidates: []model.Tally{{Name: "a", N: 2}}, Tasks: []model.Tally{{Name: "t", N: 2}}},
		{Cause: failure.Cause{Kind: failure.Budget, Signature: "steps"}, Episodes: []int{1}, Shortest: 1, Candidates: []model.Tally{{Name: "a", N: 1}}, Tasks: []model.Tally{{Name: "t", N: 1}}},
	}
	table := view.Sections(r, links{2: "tasks/t.html#ep-e2"})[0].Tables[0]
	require.Empty(t, table.More)
	require.Equal(t, []view.Cell{
		{Text: "Numbers: <want> N"}, {Text: "answer"}, {Text: "2", Share: "100"}, {Text: "66.7%"}, {Text: "t ×2"}, {Text: "a ×2"}, {Text: "task t, trial 1, candidate a (2 steps)", Href: "tasks/t.html#ep-e2"},
	}, table.Rows[0])
	require.Equal(t, "50", table.Rows[1][2].Share)
	require.Empty(t, table.Rows[1][6].Href, "without a transcript there is no link")
	require.Contains(t, reporttest.Render(t, page, r), "<bdi>Numbers: &lt;want&gt; N</bdi>")
	require.Equal(t, 1, strings.Count(reporttest.Render(t, page, r), `<span class="chip">budget</span>`))

	const most = 40
	for range most {
		r.Episodes = append(r.Episodes, r.Episodes[0])
		more := r.Clusters[1]
		more.Shortest = len(r.Episodes) - 1
		r.Clusters = append(r.Clusters, more)
	}
	require.Len(t, view.Sections(r, nil)[0].Tables[0].Rows, most)
	require.Contains(t, reporttest.Render(t, page, r), "2 more groups are in report.json.")
}

func TestTrendOnThePage(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles()[:1], 3, 1))
	reporttest.Lacks(t, reporttest.Render(t, page, r), `id="trend"`)
	at := time.Date(2026, 11, 3, 4, 5, 0, 0, time.UTC)
	r.Trend = []trend.Series{{
		Candidate: "north-mini", Metric: "solved", Points: []trend.Point{{RunID: "r1"}, {RunID: "r2", Started: at}},
		Changes: []trend.Change{{At: 1, Before: 0.971, After: 0.88, Detected: 1, Evidence: 5.126, Limit: 4.58, With: []string{"suite"}}},
	}, {Candidate: "x", Metric: "latency_us", Points: []trend.Point{{RunID: "r1", Started: at}}, Changes: []trend.Change{{Before: 1_234_567, After: 999}}}}
	r.Figures = append(r.Figures, model.Figure{Name: "trend", Title: "It fell", Alt: "Share solved fell."})
	text := func(words ...string) (row []view.Cell) {
		for _, w := range words {
			row = append(row, view.Cell{Text: w})
		}
		row[2].Small = "2026-11-03 04:05"
		return row
	}
	require.Equal(t, [][]view.Cell{
		text("north-mini", "solved", "r2", "0.971", "0.88", "2026-11-03 04:05", "5.13 ≥ 4.58", "suite"),
		text("x", "latency_us", "r1", "1,234,567", "999", "2026-11-03 04:05", "0 ≥ 0", "none known"),
	}, view.Sections(r, nil)[1].Tables[0].Rows)
	page := reporttest.Render(t, page, r)
	reporttest.Inert(t, page)
	section := page[strings.Index(page, `<section id="trend"`):]
	section = section[:strings.Index(section, "</section>")]
	require.Contains(t, section, "It fell")
	require.Contains(t, section, "<code>r2</code>")
	require.Equal(t, 1, strings.Count(page, "It fell"), "it is not a plot of the run")
}

// The space for messages is shared by kind, in proportion to the number of solved
// episodes.
func TestRation(t *testing.T) {
	r := model.Report{}
	linked := links{}
	for i := range 40 {
		r.Episodes = append(r.Episodes, model.Episode{Solved: i%2 == 0})
		linked[i] = "#"
		if i%4 == 3 { // each cell has two solved and two unsolved trials
			r.Tasks = append(r.Tasks, model.Task{Cells: []model.Cell{{Episodes: []int{i - 3, i - 2, i - 1, i}, Solved: 2}}})
		}
	}
	delete(linked, 1)
	a := newTranscriptBudget(r, linked, 17_000)
	// There are ten cells: 10 first unsolved episodes of weight 8, 9 others of weight
	// 3, and 10 first solved ones of weight 6.
	require.Equal(t, [4]budgetClass{{budget: 17_000 * 80 / 167, episodes: 10}, {budget: 17_000 * 60 / 167, episodes: 10}, {budget: 17_000 * 27 / 167, episodes: 9}, {}}, a.classes)
	require.False(t, a.has(1), "it has no transcript")
	require.False(t, a.has(2), "another of its cell is solved")

	var spent []int
	for i := range r.Episodes {
		if a.kinds[i] == solvedBeside && a.has(i) {
			a.spend(i, 1230) // a little more than twice its share of 610
			spent = append(spent, i)
		}
	}
	require.Len(t, spent, 5, "every other one is left out, not the last ones")
	require.Equal(t, []int{0, 8, 16, 24, 32}, spent)
}

// A thousand lost episodes do not hide the one that failed.
func TestFailuresComeBeforeLostEpisodes(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(1000, "lost", false, 1, reporttest.Ended(ledger.StatusInfraError, "timeout", "none"))
	w.Add(1, "failed", false, 1, nil)
	r := build(w.M, w.Rows)
	require.Equal(t, "failed", failureViews(r, view.Sections(r, nil)[0].Unsolved, nil)[0].Items[0].Task)
	out := reporttest.Render(t, text.Markdown, r)
	require.Less(t, strings.Index(out, "<code>failed/1</code>"), strings.Index(out, "<code>lost/1</code>"))
	require.Contains(t, reporttest.Render(t, page, r), `href="#ep-e1000"`)
}

func TestLongAnswersAreCutOnThePage(t *testing.T) {
	c := model.StrategyComparison{}
	for i := range 8 {
		c.Results = append(c.Results, model.StrategyResult{Agent: fmt.Sprint(strings.Repeat("x", 30), i)})
	}
	for i := range 8 - 1 {
		first, second := c.Results[i].Agent, c.Results[i+1].Agent
		for _, metric := range []string{"solved", "steps", "cost", "elapsed"} {
			c.Pairs = append(c.Pairs, model.PairResult{Metric: metric, First: first, Second: second, Winner: first, P: new(0.0)})
		}
	}
	page := reporttest.Render(t, page, model.Report{Strategies: &model.Strategies{Groups: []model.StrategyComparison{c}}})
	require.Contains(t, page, "…</td>")
}
