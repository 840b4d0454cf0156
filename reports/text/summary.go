package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// Summary writes the verdict as a table for a terminal of the given width in
// columns, without colour: criteria by candidate, then why each failing or
// inconclusive one is so. Width 0 means the output is no terminal: plain ASCII
// lines, not shortened.
func Summary(w io.Writer, r model.Report, screen Screen) error {
	var b strings.Builder
	width := screen.Width
	fmt.Fprintf(&b, "%s\n\n", screen.verdict(r.Verdict, words.Visible(r.Headline)))
	if r.Outcomes.WithoutResult() > 0 {
		wrapped(&b, "episodes: ", view.OutcomesLine(r), width)
	}
	for _, line := range view.Origin(r) {
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
	t.SetStyle(screen.style())
	t.AppendHeader(table.Row{"candidate / criterion", "value", "interval", "n", "needs", "verdict"})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}, {Number: 4, Align: text.AlignRight}, {Number: 5, Align: text.AlignRight},
	})
	judgements := view.Judgements(r)
	for _, j := range judgements {
		summaryRows(t, screen, j, name)
	}
	b.WriteString(t.Render())
	b.WriteByte('\n')
	summaryStrategies(&b, r, screen)
	said := map[string]bool{}
	for _, j := range judgements {
		if j.Explains() {
			wrapped(&b, "why: ", j.Name+" "+j.Sentence, width)
		}
		why(&b, j.Name, j.Criteria, said, width)
	}
	for _, s := range view.Sections(r, nil) {
		for _, line := range s.Lines {
			wrapped(&b, s.Label+": ", line, width)
		}
	}
	for _, n := range r.Notes {
		wrapped(&b, "note: ", n, width)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reports: summary: %w", err)
	}
	return nil
}

// summaryRows are a candidate or group, and its criteria.
func summaryRows(t table.Writer, screen Screen, j view.Judgement, name int) {
	title := j.Pooled(j.Name)
	if j.Simulated {
		title += " (simulated)"
	}
	row := table.Row{words.Brief(title, name), "", "", "", "", screen.verdict(j.Verdict, strings.ToUpper(words.Word(j.Verdict)))}
	if j.Verdict == stat.NotJudged {
		row = table.Row{row[0], j.Success.Rate(), j.Success.IntervalText(), j.Success.N, "solved", row[5]}
	}
	t.AppendRow(row)
	for _, c := range j.Criteria {
		t.AppendRow(table.Row{"  " + words.Brief(short(c), name-2), c.ValueText(), c.IntervalText(), c.N, c.NeedsText(), screen.verdict(c.Verdict, words.Word(c.Verdict))})
	}
}

// short is a criterion's title for a narrow column.
func short(c model.Criterion) string {
	switch c.Name {
	case "valid_json":
		if c.Title != model.ValidTitle(true) {
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
	return words.LowerFirst(c.Title)
}

// why says what decided each criterion that is not a pass. What was said explains
// those that come after it, too.
func why(b *strings.Builder, name string, list []model.Criterion, said map[string]bool, width int) {
	for _, c := range list {
		if c.Verdict == stat.Pass || c.Verdict == stat.NotJudged {
			continue
		}
		is := "misses"
		if c.Verdict == stat.Inconclusive {
			is = "is inconclusive against"
		}
		note := c.Note
		if said[c.Explanation] {
			note = strings.TrimSuffix(note, c.Explanation)
		}
		said[c.Explanation] = c.Explanation != ""
		wrapped(b, "why: ", fmt.Sprintf("%s: %s %s (%s) %s %s. %s", name, words.LowerFirst(c.Title), c.ValueText(), c.IntervalText(), is, c.NeedsText(), note), width)
	}
}

// wrapped writes a labelled paragraph, its lines indented under the first.
func wrapped(b *strings.Builder, label, s string, width int) {
	s = strings.TrimSpace(words.Clip(s, 600))
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
