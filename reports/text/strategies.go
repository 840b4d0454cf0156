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

// boards writes the tables of the Markdown report.
func (b *budget) boards(s *model.Strategies) {
	for _, m := range view.WinTables(s) {
		line, rule := "| "+Escape(m.Name), "|:--"
		for _, p := range m.Pairs {
			line, rule = line+" | "+Escape(p), rule+"|--:"
		}
		b.line("%s | who wins |", line)
		b.line("%s|:--|", rule)
		for _, r := range m.Rows {
			line = "| " + Escape(r.Metric)
			for _, c := range r.Cells {
				if c.Won {
					line += " | **" + Escape(c.Text) + "**"
				} else {
					line += " | " + Escape(c.Text)
				}
			}
			b.line("%s | %s |", line, Escape(r.Who))
		}
		b.line("")
	}
}

// stackedBoard is the table of all models for a narrow terminal, a line for each pair.
func stackedBoard(m view.WinTable, screen Screen) string {
	return fitted(func(most int) string {
		t := table.NewWriter()
		look := screen.style()
		look.Box.PaddingLeft = ""
		t.SetStyle(look)
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: most, WidthMaxEnforcer: text.WrapSoft}, {Number: 3, Align: text.AlignRight}})
		t.AppendHeader(table.Row{m.Name, "strategies", "difference", "who wins"})
		for _, r := range m.Rows {
			metric, who := r.Metric, r.Who
			for k, c := range r.Cells {
				cell := c.Plain()
				if c.Won {
					cell = screen.paint(bold, cell)
				}
				t.AppendRow(table.Row{metric, at(m.Pairs, k), cell, who})
				metric, who = "", ""
			}
		}
		return t.Render()
	}, screen)
}

// summaryBoards are the tables for a terminal, empty where they do not fit.
func summaryBoards(s *model.Strategies, screen Screen) string {
	width := screen.Width
	t := table.NewWriter()
	look := screen.style()
	look.Box.PaddingLeft = ""
	t.SetStyle(look)
	var columns []table.ColumnConfig
	for i := range view.BlockPairs {
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	pairs := 0
	list := view.WinTables(s)
	for _, m := range list {
		pairs = max(pairs, len(m.Pairs))
	}
	for i, m := range list {
		if i > 0 {
			t.AppendRow(table.Row{""})
		}
		head := table.Row{m.Name}
		for k := range pairs {
			head = append(head, at(m.Pairs, k))
		}
		t.AppendRow(append(head, "who wins"))
		for _, r := range m.Rows {
			row := table.Row{r.Metric}
			for k := range pairs {
				row = append(row, at(r.Cells, k).Plain())
			}
			t.AppendRow(append(row, r.Who))
		}
	}
	out := t.Render()
	for line := range strings.Lines(out) {
		if width > 0 && text.StringWidthWithoutEscSequences(strings.TrimRight(line, " \n")) > width {
			return ""
		}
	}
	return out
}

// at is an element of a list, its zero value beyond the end.
func at[T any](list []T, i int) (v T) {
	if i < len(list) {
		v = list[i]
	}
	return v
}

// summaryStrategies says on a terminal who wins what, in a table of all models and one of
// each, and in a line. Where the tables do not fit, that of all models is stacked and each
// model has a line.
func summaryStrategies(b *strings.Builder, r model.Report, screen Screen) {
	width := screen.Width
	s := r.Strategies
	if s == nil {
		return
	}
	contests := s.All()
	if tables := summaryBoards(s, screen); tables != "" {
		fmt.Fprintf(b, "\nstrategies: %s; a win is marked *\n", view.WinLegend)
		for line := range strings.Lines(tables) {
			b.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
		wrapped(b, "strategies: ", contests[0].Name()+": "+view.Answer(contests[0]), width)
	} else {
		b.WriteByte('\n')
		wrapped(b, "strategies: ", view.WinLegend+"; a win is marked *", width)
		for _, t := range view.WinTables(s)[:min(1, len(view.WinTables(s)))] { // none without a pair
			b.WriteString(stackedBoard(t, screen) + "\n")
		}
		for _, c := range contests[:min(len(contests), view.MaxContestLines)] {
			wrapped(b, "strategies: ", c.Name()+": "+view.Answer(c), width)
		}
	}
	if more := len(contests) - view.MaxContestLines; more > 0 {
		wrapped(b, "strategies: ", words.Plural(more, "model")+" more, in the report", width)
	}
}

// strategies writes the section of the Markdown report.
func (b *budget) strategies(r model.Report) {
	if r.Strategies == nil {
		return
	}
	contests := r.Strategies.All()
	b.line("**Strategies**, %s: **%s**", Escape(contests[0].Name()), Escape(words.Clip(view.Answer(contests[0]), 600)))
	b.line("")
	b.boards(r.Strategies)
	more := ""
	if n := len(contests) - view.MaxContestLines; n > 0 {
		more = "; " + words.Plural(n, "model") + " more in the HTML report"
	}
	b.line("%s%s.", words.UpperFirst(view.WinLegend)+"; a win is bold", more)
	b.line("")
	b.fold("Strategies, pair by pair", func() {
		for i, v := range view.StrategyViews(r) {
			if i == view.MaxContestLines {
				break
			}
			b.contest(v)
		}
		for _, n := range r.Strategies.Notes {
			b.line("> %s  ", Escape(words.Clip(n, 600)))
		}
		b.line("")
	})
}

func (b *budget) contest(v view.StrategyView) {
	b.line("**%s**: %s", Escape(v.Name), Escape(words.Clip(v.Sentence, 1200)))
	b.line("")
	b.line("| Strategy | Episodes | Solved | Cost | Time | Front |")
	b.line("|:--|--:|--:|--:|--:|:--|")
	for _, e := range v.Entrants {
		b.line("| %s | %s | **%s** (%s) | %s (%s) | %s (%s) | %s |", Escape(e.Agent), e.Episodes, e.Success, e.SuccessInterval, Escape(e.Cost), Escape(e.CostInterval), e.Time, e.TimeInterval, e.Front)
	}
	b.line("")
	b.line("| Metric | Strategies | First | Second | Difference | Interval | p | pairs / tasks | Verdict |")
	b.line("|:--|:--|--:|--:|--:|--:|--:|--:|:--|")
	for _, k := range v.Claims {
		verdict := Escape(k.Verdict)
		if k.Class != "" {
			verdict = "**" + verdict + "**"
		}
		b.line("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", Escape(k.Metric), Escape(k.Pair), Escape(k.First), Escape(k.Second),
			Escape(words.Join(", ", k.Change, k.Relative)), Escape(k.Interval), Escape(k.P), k.N, verdict)
	}
	b.line("")
}
