package text

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// valueTables are the tables of strategies for a terminal: without intervals if they would
// be too wide with them, and then with a line for each strategy and metric.
func valueTables(views []view.StrategyView, screen Screen) string {
	for _, layout := range []struct{ intervals, stacked bool }{{true, false}, {false, false}, {false, true}} {
		t := table.NewWriter()
		style := screen.style()
		style.Box.PaddingLeft = ""
		t.SetStyle(style)
		var columns []table.ColumnConfig
		last := len(views[0].Values.Columns) - 1 // which is the best one, said below the tables
		for i := range last {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight})
		}
		columns[0].Align = text.AlignLeft
		t.SetColumnConfigs(columns)
		for i, v := range views {
			if i > 0 {
				t.AppendRow(table.Row{""})
			}
			head := table.Row{words.Brief(v.Values.Caption, 24)}
			for _, c := range v.Values.Columns[1:last] {
				if !layout.stacked {
					head = append(head, words.LowerFirst(c.Name))
				}
			}
			t.AppendRow(head)
			for _, cells := range v.Values.Rows[:len(v.Values.Rows)-1] {
				row := table.Row{cells[0].Text}
				for k, c := range cells[1:last] {
					text := c.Text
					if !layout.intervals {
						text, _, _ = strings.Cut(text, " (")
					}
					if c.Strong {
						text = screen.paint(bold, text+" *")
					}
					if row = append(row, text); layout.stacked {
						t.AppendRow(table.Row{row[0], words.LowerFirst(v.Values.Columns[k+1].Name), text})
						row = table.Row{""}
					}
				}
				if !layout.stacked {
					t.AppendRow(row)
				}
			}
		}
		out := t.Render()
		fits := true
		for line := range strings.Lines(out) {
			fits = fits && text.StringWidthWithoutEscSequences(strings.TrimRight(line, " \n")) <= screen.Width
		}
		if fits || screen.Width == 0 || layout.stacked {
			return out
		}
	}
	return ""
}

// summaryStrategies shows on a terminal the values of each strategy, and which is best.
func summaryStrategies(b *strings.Builder, r model.Report, screen Screen) {
	views := view.StrategyViews(r)
	if views == nil {
		return
	}
	more := len(views) - view.MaxStrategyViews
	b.WriteString("\n")
	for line := range strings.Lines(valueTables(views[:min(len(views), view.MaxStrategyViews)], screen)) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	wrapped(b, "", "*: significant at 5% after adjustment (Holm). The reports have the differences of each pair.", screen.Width)
	for _, v := range views[:min(len(views), view.MaxStrategyViews)] {
		wrapped(b, "strategies: ", v.Name+": "+v.Answer, screen.Width)
	}
	if more > 0 {
		wrapped(b, "strategies: ", words.Plural(more, "model")+" more, in the report", screen.Width)
	}
}

// strategies writes the section of the Markdown report.
func (b *budget) strategies(r model.Report) {
	views := view.StrategyViews(r)
	if views == nil {
		return
	}
	b.line("**Strategies**, %s: **%s**\n", Escape(views[0].Name), Escape(views[0].Answer))
	more := ""
	if n := len(views) - view.MaxStrategyViews; n > 0 {
		views, more = views[:view.MaxStrategyViews], fmt.Sprintf(" %s more in the HTML report.", words.Plural(n, "model"))
	}
	for _, v := range views {
		b.table(v.Values)
	}
	b.line("%s.%s\n", view.StrategyLegend, more)
	b.fold("Strategies, pair by pair", func() {
		for _, v := range views {
			b.line("**%s**: %s\n", Escape(v.Name), Escape(v.Sentence))
			b.table(v.Pairs)
		}
		for _, n := range r.Strategies.Notes {
			b.line("> %s  ", Escape(words.Clip(n, 600)))
		}
		b.line("")
	})
}
