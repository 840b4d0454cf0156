// Package text lays reports and comparisons out as text: for a terminal, as Markdown, as
// JUnit XML, as JSON and as annotations of GitHub Actions.
package text

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxMarkdown keeps a report below the 64 KiB a pull request comment may have.
const maxMarkdown = 58_000

// Markdown writes the report for a pull request comment: the verdict first, the
// criteria, then what can be folded away. It stays below 60 KB whatever the run,
// saying what it left out. Untrusted text appears as code, entity by entity, so
// that it can neither mention people nor link nor break a table.
func Markdown(w io.Writer, r model.Report) error {
	b := &budget{left: maxMarkdown}
	b.line("### %s %s", words.Sign(r.Verdict), Escape(words.Clip(r.Headline, 200)))
	b.line("")
	b.line("Suite **%s** · %s · run <code>%s</code>%s", Escape(words.Brief(r.Run.Suite, 80)), view.Shape(r), Escape(words.Brief(r.Run.RunID, 64)), simulated(r.Run.Simulated))
	if r.Outcomes.WithoutResult() > 0 {
		b.line("")
		b.line("%s", Escape(view.OutcomesLine(r)))
	}
	for _, line := range view.Origin(r) {
		b.line("")
		b.line("%s", Escape(words.Clip(line, 400)))
	}
	b.line("")
	for _, j := range view.Judgements(r) {
		about := ""
		if j.About != "" {
			about = " (" + Escape(words.Clip(j.About, 300)) + ")"
		}
		b.line("- %s **%s**%s %s%s", words.Sign(j.Verdict), Escape(words.Brief(j.Name, 80)), about, Escape(words.Clip(j.Sentence, 600)), simulated(j.Simulated))
	}
	sections := view.Sections(r, nil)
	for _, s := range sections {
		for _, line := range s.Lines {
			if s.Fold == "" && s.Empty == "" {
				b.line("- %s, %s", s.Title, Escape(words.Clip(line, 300)))
			}
		}
	}
	b.line("")
	b.strategies(r)
	b.criteria(r)
	for _, n := range r.Notes {
		b.line("> %s  ", Escape(words.Clip(n, 400)))
	}
	b.line("")
	for _, first := range []bool{true, false} {
		for _, s := range sections {
			if s.First == first {
				b.section(r, s)
			}
		}
	}
	b.facts(r)
	if b.dropped > 0 {
		// Room for this line is kept outside the budget.
		fmt.Fprintf(&b.text, "\n%s left out to stay below the size of a comment; the HTML report has them.\n", words.Plural(b.dropped, "line"))
	}
	if _, err := w.Write(b.text.Bytes()); err != nil {
		return fmt.Errorf("reports: Markdown: %w", err)
	}
	return nil
}

// budget collects lines until they no longer fit.
type budget struct {
	text    bytes.Buffer
	left    int
	dropped int
}

// line adds a line, or drops it and all that follow when it does not fit.
func (b *budget) line(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if len(s)+1 > b.left {
		b.left = 0
		b.dropped++
		return
	}
	b.left -= len(s) + 1
	b.text.WriteString(s)
	b.text.WriteByte('\n')
}

// fold writes a collapsible block, if there is room for its frame.
func (b *budget) fold(summary string, body func()) {
	const frame = "</details>\n\n"
	if b.left < len(summary)+len(frame)+200 {
		b.left = 0
		b.dropped++
		return
	}
	b.left -= len(frame)
	b.line("<details><summary>%s</summary>", summary)
	b.line("")
	body()
	b.text.WriteString(frame)
}

func (b *budget) criteria(r model.Report) {
	b.line("| Candidate | Criterion | Value | Interval | n | Needs | Verdict |")
	b.line("|:--|:--|--:|--:|--:|--:|:--|")
	rows := func(name string, list []model.Criterion) {
		for _, c := range list {
			b.line("| %s | %s | **%s** | %s | %s | %s | %s %s |", name, Escape(c.Title), c.ValueText(), c.IntervalText(), words.Thousands(int64(c.N)), c.NeedsText(), words.Sign(c.Verdict), words.Word(c.Verdict))
			name = ""
		}
	}
	for _, j := range view.Judgements(r) {
		rows(j.Pooled(Escape(words.Brief(j.Name, 60))), j.Criteria)
	}
	b.line("")
	b.fold("Notes on the criteria", func() {
		for _, j := range view.Judgements(r) {
			b.criterionNotes(j.Name, j.Criteria)
		}
		b.line("")
	})
}

func (b *budget) criterionNotes(name string, list []model.Criterion) {
	for _, c := range list {
		b.line("- %s, %s: %s, %s. %s", Escape(words.Brief(name, 60)), Escape(words.LowerFirst(c.Title)), Escape(c.Test), c.RuleText(), Escape(words.Clip(c.Note, 300)))
	}
}

// section folds the tables of a section, and each of its lists of episodes.
func (b *budget) section(r model.Report, s view.Section) {
	if s.Fold != "" {
		b.fold(s.Fold, func() {
			for _, t := range s.Tables {
				b.table(t)
			}
		})
	}
	for _, c := range s.Unsolved {
		b.unsolved(r, c)
	}
}

func (b *budget) table(t view.Table) {
	if t.Titled {
		b.line("**%s**\n", Escape(t.Caption))
	}
	head, rule := "|", "|"
	for _, c := range t.Columns {
		head += strings.TrimRight(" "+Escape(c.Name), " ") + " |"
		if c.Class == "n" {
			rule += "--:|"
		} else {
			rule += ":--|"
		}
	}
	b.line("%s", head)
	b.line("%s", rule)
	for _, cells := range t.Rows {
		row := "|"
		for i, c := range cells {
			text := words.Clip(c.Text, 200)
			if !t.Columns[i].Own {
				text = Escape(text)
			}
			if c.Strong {
				text = "**" + text + "**"
			}
			row += " " + text + " |"
		}
		b.line("%s", row)
	}
	if t.More != "" {
		b.line("")
		b.line("and %s, none of them larger", t.More)
	}
	b.line("")
}

// unsolved folds the episodes that a candidate did not solve.
func (b *budget) unsolved(r model.Report, c view.CandidateFailures) {
	const shown = 50
	b.fold(fmt.Sprintf("%s: %s", Escape(words.Brief(c.Name, 60)), c.Count), func() {
		for at, i := range c.Episodes {
			if at == shown {
				b.line("- and %d more", len(c.Episodes)-at)
				break
			}
			e := r.Episodes[i]
			b.line("- <code>%s/%d</code> %s – <code>%s</code>", Escape(words.Brief(e.Task, 40)), e.Trial, Escape(words.Brief(view.Ending(e), 60)), Escape(words.Clip(e.Failure, 200)))
		}
		b.line("")
	})
}

func (b *budget) facts(r model.Report) {
	b.fold("Run", func() {
		for _, f := range append(view.Facts(r), view.Provenance(r)...) {
			b.line("- %s: %s", f.Name, Escape(f.Value))
		}
		b.line("")
	})
}

func simulated(is bool) string {
	if is {
		return " · **SIMULATED**"
	}
	return ""
}

// Escape writes text so that Markdown and HTML read it as text: punctuation with a
// meaning becomes an entity, and so do the characters autolinks hang on.
func Escape(s string) string {
	s = words.Visible(s)
	var b strings.Builder
	for i, r := range s {
		next := byte(' ')
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch {
		case strings.ContainsRune("\\`*_{}[]<>#!|~@&$\"'^=", r),
			r == ':' && next == '/',
			r == '.' && (next|0x20 >= 'a' && next|0x20 <= 'z'):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
