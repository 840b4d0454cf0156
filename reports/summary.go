package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Summary writes the verdict as a table for a terminal of the given width in
// columns, without colour: criteria by candidate, then why each failing or
// inconclusive one is so. Width 0 means the output is no terminal: plain ASCII
// lines, not shortened.
func Summary(w io.Writer, r Report, width int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", visible(r.Headline))
	if r.Outcomes.WithoutResult() > 0 {
		wrapped(&b, "episodes: ", r.outcomes(), width)
	}
	for _, line := range r.origin() {
		wrapped(&b, "run: ", line, width)
	}
	if b.String()[b.Len()-2] != '\n' {
		b.WriteByte('\n')
	}
	name := 200
	if width > 0 {
		name = max(12, width-58)
	}
	t := table.NewWriter()
	t.SetStyle(style(width > 0))
	t.AppendHeader(table.Row{"candidate / criterion", "value", "interval", "n", "needs", "verdict"})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}, {Number: 4, Align: text.AlignRight}, {Number: 5, Align: text.AlignRight},
	})
	for _, c := range r.Candidates {
		title := c.Name
		if c.Simulated {
			title += " (simulated)"
		}
		row := table.Row{brief(title, name), "", "", "", "", strings.ToUpper(word(c.Verdict))}
		if c.Verdict == NotJudged {
			row = table.Row{brief(title, name), c.Success.rate(), c.Success.interval(), c.Success.N, "solved", strings.ToUpper(word(c.Verdict))}
		}
		t.AppendRow(row)
		summaryRows(t, c.Criteria, name)
	}
	for _, g := range r.Groups {
		t.AppendRow(table.Row{brief(g.name()+" (pooled)", name), "", "", "", "", strings.ToUpper(word(g.Verdict))})
		summaryRows(t, g.Criteria, name)
	}
	b.WriteString(t.Render())
	b.WriteByte('\n')
	summaryStrategies(&b, r, width)
	said := map[string]bool{}
	for _, c := range r.Candidates {
		if c.Verdict != NotJudged && c.Sentence != sentenceOf(c.Criteria) {
			wrapped(&b, "why: ", c.Name+" "+c.Sentence, width)
		}
		why(&b, c.Name, c.Criteria, said, width)
	}
	for _, g := range r.Groups {
		if g.Sentence != sentenceOf(g.Criteria) {
			wrapped(&b, "why: ", g.name()+" "+g.Sentence, width)
		}
		why(&b, g.name(), g.Criteria, said, width)
	}
	summaryClusters(&b, r, width)
	trendNews(&b, r, width)
	for _, n := range r.Notes {
		wrapped(&b, "note: ", n, width)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reports: summary: %w", err)
	}
	return nil
}

// style is a light frame on a terminal and bare columns elsewhere.
func style(terminal bool) table.Style {
	s := table.StyleDefault
	if terminal {
		s = table.StyleLight
	}
	s.Format.Header = text.FormatDefault
	s.Options.DrawBorder = false
	s.Options.SeparateColumns = false
	return s
}

func summaryRows(t table.Writer, list []Criterion, name int) {
	for _, c := range list {
		t.AppendRow(table.Row{"  " + brief(c.short(), name-2), c.value(), c.interval(), c.N, c.needs(), word(c.Verdict)})
	}
}

// short is a criterion's title for a narrow column.
func (c Criterion) short() string {
	switch c.Name {
	case "valid_json":
		if c.Title != validTitle(true) {
			return "valid first outputs"
		}
		return "valid JSON contract"
	case "clarifies_per_success":
		return "clarifying questions"
	case "steps_per_solved":
		return "steps per solved"
	case "within_steps":
		return strings.TrimPrefix(c.Title, "Solved ")
	}
	return lowerFirst(c.Title)
}

// why says what decided each criterion that is not a pass. What was said explains
// those that come after it, too.
func why(b *strings.Builder, name string, list []Criterion, said map[string]bool, width int) {
	for _, c := range list {
		if c.Verdict == Pass || c.Verdict == NotJudged {
			continue
		}
		is := "misses"
		if c.Verdict == Inconclusive {
			is = "is inconclusive against"
		}
		note := c.Note
		if said[c.explanation] {
			note = strings.TrimSuffix(note, c.explanation)
		}
		said[c.explanation] = c.explanation != ""
		wrapped(b, "why: ", fmt.Sprintf("%s: %s %s (%s) %s %s. %s", name, lowerFirst(c.Title), c.value(), c.interval(), is, c.needs(), note), width)
	}
}

// wrapped writes a labelled paragraph, its lines indented under the first.
func wrapped(b *strings.Builder, label, s string, width int) {
	s = strings.TrimSpace(clip(s, 600))
	if width > 0 {
		s = text.WrapSoft(s, max(20, width-len(label)))
	}
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		b.WriteString(strings.TrimRight(label+line, " ") + "\n")
	}
}
