package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/text"
)

func TestOutcomesAreSortedByKind(t *testing.T) {
	r := Build(reporttest.Sorted().M, reporttest.Sorted().Rows)
	want := manifest.Outcomes{Solved: 60, Failed: 1, InfraErrors: 2, HarnessErrors: 1, BudgetStops: 3, Unfinished: 3}
	require.Equal(t, want, r.Outcomes)
	m := r.Candidates[0].Metrics
	require.Equal(t, []int{68, 2, 1, 3, 1, 2}, []int{m.Episodes, m.InfraErrors, m.HarnessErrors, m.BudgetStops, m.Interrupted, m.Unfinished})
	require.Equal(t, 61, m.Success.N, "only scored episodes are judged")

	const line = "60 of 61 episodes solved (98.4%), 2 infrastructure errors, 1 harness error, 3 budget stops, 3 unfinished"
	for _, c := range renderers() {
		out := reporttest.Render(t, c.render, r)
		switch c.name {
		case "index.html", "report.md":
			require.Contains(t, out, line, c.name)
			require.Contains(t, out, "Budget stops", c.name)
			require.Contains(t, out, "Harness errors", c.name)
		case "plain.txt":
			require.Contains(t, out, "\n"+line+"\n", c.name)
		case "summary.txt":
			require.Contains(t, strings.Join(strings.Fields(out), " "), line, c.name)
		case "report.json":
			var got struct{ Outcomes manifest.Outcomes }
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			require.Equal(t, want, got.Outcomes)
		}
	}
	require.Contains(t, reporttest.Render(t, text.Markdown, r), "8 episodes not solved, without a result: 2 infrastructure errors, 1 harness error, 3 budget stops, 1 unfinished")
	notes := strings.Join(r.Notes, "\n")
	for _, part := range []string{
		"2 episodes lost to infrastructure errors", "1 episode lost to harness errors", "3 episodes stopped by a cap on the run's spending",
		"1 episode interrupted and not scored", "2 episodes planned and never run", "only if it would with its lost episodes at their worst",
		"The run ended before its plan did, so it is not accepted: the cap of $5 is spent.",
	} {
		require.Contains(t, notes, part)
	}
}

// A complete run has no line about problems.
func TestNoTroubleIsNotMentioned(t *testing.T) {
	r := Build(reporttest.Demo(reporttest.DemoProfiles()[:1], 6, 1))
	for _, c := range renderers()[:2] {
		out := reporttest.Render(t, c.render, r)
		for _, word := range []string{"Budget stops", "Harness errors", "Unfinished", "tolerate"} {
			require.NotContains(t, out, word, c.name)
		}
	}
	require.Contains(t, reporttest.Render(t, HTML, r), "6 of 6 episodes solved (100.0%)")
}

func TestOriginIsInEveryHeader(t *testing.T) {
	w := reporttest.NewWorld("a")
	w.Add(1, "t", true, 1, nil)
	w.M.Shard, w.M.MergedFrom, w.M.RescoredFrom, w.M.Stopped = "2/3", []string{"r1", "r2"}, "r0", "interrupted"
	r := Build(w.M, w.Rows)
	for _, c := range renderers() {
		if c.name == "junit.xml" || c.name == "report.json" {
			continue
		}
		out := strings.Join(strings.Fields(reporttest.Render(t, c.render, r)), " ")
		for _, part := range []string{"Shard 2/3 of its plan", "Merged from 2 runs: r1, r2", "the episodes are those of run r0", "Stopped early: interrupted"} {
			require.Contains(t, out, part, c.name)
		}
	}
	out := reporttest.Render(t, text.JSON, r)
	for _, key := range []string{`"shard": "2/3"`, `"stopped": "interrupted"`, `"rescored_from": "r0"`, `"merged_from": [`} {
		require.Contains(t, out, key)
	}
}

// The decisions are those of a run with 200 planned episodes. Episodes that are neither
// lost nor cut are scored.
func TestLostAndCutEpisodes(t *testing.T) {
	for _, c := range []struct {
		name                        string
		bad                         bool // the scored episodes fail
		infra, harness, cut, unseen int
		max                         float64
		want                        stat.Verdict
		said                        string
	}{
		{"none", false, 0, 0, 0, 0, 0, stat.Pass, "meets all 4 criteria."},
		{"few enough", false, 2, 1, 0, 0, 0, stat.Pass, "meets all 4 criteria, even if the 3 lost episodes (2 infrastructure errors, 1 harness error) of 200 planned had gone as badly as possible."},
		{"few enough, and more than allowed", false, 2, 1, 0, 0, 0.001, stat.Pass, "even if the 3 lost episodes"},
		{"one more", false, 3, 1, 0, 0, 0, stat.Inconclusive,
			"meets all 4 criteria on the episodes with a result, but 4 of 200 planned episodes (2.0%) were lost (3 infrastructure errors, 1 harness error: I0 trial 1, I1 trial 1, I2 trial 1 and 1 more): had these gone as badly as possible, it would not pass contract-valid first outputs. To run them: cupel run --resume r"},
		{"many", false, 58, 0, 0, 0, 0.29, stat.Inconclusive, "it would not pass tasks solved, contract-valid first outputs, clarifying questions per success and steps per solved task."},
		{"a fail among so many that they could lift it", true, 190, 0, 0, 0, 0, stat.Inconclusive,
			"has no verdict: 190 of 200 planned episodes (95.0%) were lost (190 infrastructure errors: I0 trial 1, I1 trial 1, I2 trial 1 and 187 more), and more than 5% is too many; on the others alone it fails on"},
		{"a fail that no lost episode could lift", true, 100, 0, 0, 0, 0, stat.Fail, "fails on contract-valid first outputs 0.0% (0.0–3.6%), needs ≥ 95%, even if the 100 lost episodes (100 infrastructure errors) of 200 planned had gone as well as possible."},
		{"a fail among few", true, 5, 0, 0, 0, 0, stat.Fail, "fails on"},
		{"all tolerated, none scored", false, 200, 0, 0, 0, 1, stat.Inconclusive, "no data"},
		{"one budget stop", false, 0, 0, 1, 0, 1, stat.Inconclusive, "meets all 4 criteria so far, but 1 of 200 planned episodes have no result (1 budget stop)."},
		{"one without a row", false, 0, 0, 0, 1, 1, stat.Inconclusive, "(1 unfinished)"},
		{"both beside tolerated ones", false, 2, 0, 1, 1, 0, stat.Inconclusive, "but 2 of 200 planned episodes have no result (1 budget stop, 1 unfinished)."},
		{"a fail beside a cut", true, 0, 0, 10, 10, 0, stat.Fail, "fails on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reporttest.NewWorld("a")
			w.M.Candidates[0].Planned, w.M.Acceptance.MaxInfra = 200, c.max
			var edit func(*ledger.Episode, []ledger.Turn)
			if c.bad {
				edit = reporttest.Invalid
			}
			reporttest.Tasks(w, 200-c.infra-c.harness-c.cut-c.unseen, edit)
			for i := range c.infra {
				w.Add(1, fmt.Sprint("I", i), false, 1, reporttest.Ended(ledger.StatusInfraError, "timeout", "none"))
			}
			for i := range c.harness {
				w.Add(1, fmt.Sprint("H", i), false, 1, reporttest.Ended(ledger.StatusHarnessError, "tool", "none"))
			}
			w.Add(c.cut, "lost", false, 1, reporttest.Ended(ledger.StatusBudgetStop, "run_budget", "none"))
			r := Build(w.M, w.Rows)
			require.Equal(t, c.want, r.Candidates[0].Verdict, r.Candidates[0].Sentence)
			require.Contains(t, r.Candidates[0].Sentence, c.said)
			require.Equal(t, c.want, r.Verdict)
			if c.said != "meets all 4 criteria." && c.want != stat.Fail {
				require.Contains(t, reporttest.Render(t, func(w io.Writer, r model.Report) error { return text.Summary(w, r, text.Screen{}) }, r), "why: a")
			}
		})
	}
}

// The builder gives the same report as Build. Only Build can get rows of unknown
// episodes.
func TestBuilderEqualsBuild(t *testing.T) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles(), 60, 2)
	b := NewBuilder(m)
	for _, e := range rows.Episodes {
		rec := ledger.EpisodeRows{Episode: e}
		for _, row := range rows.Turns {
			if row.EpisodeID == e.EpisodeID {
				rec.Turns = append(rec.Turns, row)
			}
		}
		rec.ToolCalls = slices.DeleteFunc(slices.Clone(rows.ToolCalls), func(c ledger.ToolCall) bool { return c.EpisodeID != e.EpisodeID })
		b.Add(rec)
	}
	r, whole := b.Report(), Build(m, rows)
	for _, c := range renderers() {
		require.True(t, reporttest.Render(t, c.render, whole) == reporttest.Render(t, c.render, r), c.name)
	}
	stray := rows.Turns[0]
	rows.Turns = append(rows.Turns, stray, stray)
	require.Contains(t, strings.Join(Build(m, rows).Notes, "\n"), "2 rows of turns and tool calls left out", "rows apart from their episode's")
	require.Equal(t, whole.Candidates, Build(m, rows).Candidates)
}
