package reports

import (
	"fmt"
	"html"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/text"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// If the worlds of a run can change, every output names harm, with its one-sided bound.
// The outputs of other runs do not.
func TestHarmIsNamedEverywhere(t *testing.T) {
	report := func(harm func(task string) *bool) model.Report {
		w := reporttest.NewWorld("a")
		reporttest.Tasks(w, 110, func(e *ledger.Episode, _ []ledger.Turn) {
			if e.Harm = harm(e.TaskID); e.Harm != nil {
				e.StateBefore, e.StateAfter = "0a", "0b"
				if *e.Harm {
					e.HarmReason = "refund: <i>paid twice</i>"
				}
			}
		})
		w.M.Candidates[0].Planned = 110
		return Build(w.M, w.Rows)
	}
	none := report(func(string) *bool { return nil })
	clean := report(func(string) *bool { return new(false) })
	harmed := report(func(task string) *bool { return new(task == "t7") })
	const title = "Episodes with harm (one-sided bound)"
	for name, render := range map[string]func(io.Writer, model.Report) error{
		"HTML": HTML, "Markdown": text.Markdown, "JSON": text.JSON, "JUnit": text.JUnit, "annotations": text.Annotations,
		"terminal": func(w io.Writer, r model.Report) error { return text.Summary(w, r, text.Screen{}) },
	} {
		t.Run(name, func(t *testing.T) {
			out := func(r model.Report) string { return html.UnescapeString(reporttest.Render(t, render, r)) }
			without, passed, failed := out(none), out(clean), out(harmed)
			require.NotContains(t, strings.ToLower(without), "harm")
			require.Contains(t, failed, "paid twice")
			switch name {
			case "JSON":
				require.Contains(t, passed, `"name": "harm"`)
				require.Contains(t, passed, "exact upper bound of the share, one-sided 95%")
			case "JUnit":
				require.Contains(t, passed, `name="harm" value="pass: 0.0% [≤ 2.7%], n 110, needs none, ≤ 10%"`)
				require.Contains(t, failed, `type="harm"`)
			case "annotations":
				require.Contains(t, failed, "episodes with harm (one-sided bound)")
			default:
				require.Contains(t, strings.ToLower(passed), strings.ToLower(title))
				require.Contains(t, passed, "≤ 2.7%")
				require.Contains(t, passed, "none, ≤ 10%")
			}
		})
	}
	require.Contains(t, harmed.Headline, "a")
	page := reporttest.Render(t, HTML, harmed)
	require.NotContains(t, page, "<i>paid")
	reporttest.Inert(t, page)
}

// The page of a task states what an episode changed, for each call and in total.
func TestTaskPageShowsTheState(t *testing.T) {
	w := reporttest.NewWorld("a")
	reporttest.Tasks(w, 1, func(e *ledger.Episode, _ []ledger.Turn) {
		e.Harm, e.HarmReason, e.StateBefore = new(true), "stock.S1 changed", "0a"
	})
	key := w.Rows.Episodes[0].Key
	w.Rows.ToolCalls = []ledger.ToolCall{{Key: key, Seq: 1, Turn: 1, ToolName: "refund", Outcome: "ok", Changes: new(int32(2))}}
	dir := t.TempDir()
	require.NoError(t, Write(dir, Build(w.M, w.Rows), func(model.Episode) (transcript.Detail, bool) {
		return transcript.Detail{State: "orders.O7.status: \"open\" → \"<b>x</b>\"\nstock.S1: 5 → 4"}, true
	}))
	page := ""
	for name, text := range reporttest.Snapshot(t, dir) {
		if strings.Contains(name, "tasks/") {
			page += text
		}
	}
	reporttest.Inert(t, page)
	for _, want := range []string{"→ refund ok, 2 changes", "stock.S1 changed", "changes of the state", "orders.O7.status", "stock.S1: 5 → 4"} {
		require.Contains(t, html.UnescapeString(page), want, fmt.Sprint(len(page)))
	}
	require.NotContains(t, page, "<b>x</b>")
}
