package reports

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// boards writes the tables of the Markdown report.
func (b *budget) boards(s *Strategies) {
	for _, m := range s.boards() {
		line, rule := "| "+md(m.Name), "|:--"
		for _, p := range m.Pairs {
			line, rule = line+" | "+md(p), rule+"|--:"
		}
		b.line("%s | who wins |", line)
		b.line("%s|:--|", rule)
		for _, r := range m.Rows {
			line = "| " + md(r.Metric)
			for _, c := range r.Cells {
				if c.Won {
					line += " | **" + md(c.Text) + "**"
				} else {
					line += " | " + md(c.Text)
				}
			}
			b.line("%s | %s |", line, md(r.Who))
		}
		b.line("")
	}
}

// summaryBoards are the tables for a terminal, empty where they do not fit.
func summaryBoards(s *Strategies, width int) string {
	t := table.NewWriter()
	look := style(width > 0)
	look.Box.PaddingLeft = ""
	t.SetStyle(look)
	var columns []table.ColumnConfig
	for i := range blockPairs {
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	pairs := 0
	list := s.boards()
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
				row = append(row, at(r.Cells, k).text())
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

// summaryStrategies says on a terminal who wins what: in a table where it fits, and
// in a line.
func summaryStrategies(b *strings.Builder, r Report, width int) {
	s := r.Strategies
	if s == nil {
		return
	}
	contests := s.contests()
	if tables := summaryBoards(s, width); tables != "" {
		fmt.Fprintf(b, "\nstrategies: %s; a win is marked *\n", boardLegend)
		for line := range strings.Lines(tables) {
			b.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
		wrapped(b, "strategies: ", contests[0].name()+": "+contests[0].answer(), width)
	} else {
		for _, c := range contests[:min(len(contests), maxContestLines)] {
			wrapped(b, "strategies: ", c.name()+": "+c.answer(), width)
		}
	}
	if more := len(contests) - maxContestLines; more > 0 {
		wrapped(b, "strategies: ", plural(more, "model")+" more, in the report", width)
	}
}

// strategies writes the section of the Markdown report.
func (b *budget) strategies(r Report) {
	if r.Strategies == nil {
		return
	}
	contests := r.Strategies.contests()
	b.line("**Strategies**, %s: **%s**", md(contests[0].name()), md(clip(contests[0].answer(), 600)))
	b.line("")
	b.boards(r.Strategies)
	more := ""
	if n := len(contests) - maxContestLines; n > 0 {
		more = "; " + plural(n, "model") + " more in the HTML report"
	}
	b.line("%s%s.", upperFirst(boardLegend)+"; a win is bold", more)
	b.line("")
	b.fold("Strategies, pair by pair", func() {
		for i, v := range strategyViews(r) {
			if i == maxContestLines {
				break
			}
			b.contest(v)
		}
		for _, n := range r.Strategies.Notes {
			b.line("> %s  ", md(clip(n, 600)))
		}
		b.line("")
	})
}

func (b *budget) contest(v contestView) {
	b.line("**%s**: %s", md(v.Name), md(clip(v.Sentence, 1200)))
	b.line("")
	b.line("| Strategy | Episodes | Solved | Cost | Time | Front |")
	b.line("|:--|--:|--:|--:|--:|:--|")
	for _, e := range v.Entrants {
		b.line("| %s | %s | **%s** (%s) | %s (%s) | %s (%s) | %s |", md(e.Agent), e.Episodes, e.Success, e.SuccessInterval, md(e.Cost), md(e.CostInterval), e.Time, e.TimeInterval, e.Front)
	}
	b.line("")
	b.line("| Metric | Strategies | First | Second | Difference | Interval | p | pairs / tasks | Verdict |")
	b.line("|:--|:--|--:|--:|--:|--:|--:|--:|:--|")
	for _, k := range v.Claims {
		verdict := md(k.Verdict)
		if k.Class != "" {
			verdict = "**" + verdict + "**"
		}
		b.line("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", md(k.Metric), md(k.Pair), md(k.First), md(k.Second),
			md(join(", ", k.Change, k.Relative)), md(k.Interval), md(k.P), k.N, verdict)
	}
	b.line("")
}
