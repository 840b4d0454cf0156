package reports

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/work"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/text"
	"github.com/cupel-eval/cupel/reports/trend"
	"github.com/cupel-eval/cupel/reports/view"
)

// A section of the view is on the page, in Markdown and on the terminal, without code
// of its own in the renderers.
func TestEveryRendererShowsEverySection(t *testing.T) {
	ways := reporttest.Ways()
	ways.Rows.Episodes[0].Requests = []work.Request{{Tool: "delete", Kind: "approval", Severity: "destructive", Say: "deny"}}
	ways.Rows.Episodes[0].Tasks = []work.Task{{Kind: "delegate", State: "failed"}}
	ways.Rows.Episodes[0].Injection, ways.Rows.Episodes[0].AttackSucceeded = "steal", new(true)
	ways.Rows.Episodes[1].Scores = []ledger.Score{{Name: "judge.tone", Score: new(0.5), AtLeast: new(0.4), Pass: true}}
	ways.Rows.Episodes[1].Labels = []work.Label{{Labeller: "ann", Pass: true}}
	ways.Rows.Episodes[0].JudgeCalls = 3
	r := Build(ways.M, ways.Rows)
	r.Trend = []trend.Series{{Candidate: "a", Metric: trend.Solved, Points: make([]trend.Point, 2), Changes: []trend.Change{{At: 1, Detected: 1, Before: 1}}}}
	page, markdown := reporttest.Render(t, HTML, r), reporttest.Render(t, text.Markdown, r)
	terminal := reporttest.Render(t, func(w io.Writer, r model.Report) error { return text.Summary(w, r, text.Screen{}) }, r)
	sections := view.Sections(r, nil)
	require.Len(t, sections, 7)
	require.Contains(t, markdown, "| 3 calls, unknown |", "the cost of judges, beside that of the candidate")
	for _, s := range sections {
		require.Contains(t, page, `<section id="`+s.ID+`"`)
		require.Contains(t, page, `<a href="#`+s.ID+`">`+s.Title+`</a>`)
		for _, table := range s.Tables {
			require.Contains(t, page, "<caption>"+table.Caption+"</caption>")
		}
		require.Contains(t, markdown, s.Fold)
		for _, line := range s.Lines {
			require.Contains(t, terminal, "\n"+s.Label+": "+line+"\n")
			if s.Fold == "" {
				require.Contains(t, markdown, "\n- "+s.Title+", ")
			}
		}
	}
}
