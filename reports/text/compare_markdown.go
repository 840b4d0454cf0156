package text

import (
	"fmt"
	"io"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/view/compared"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxMarkdownTasks is how many tasks of a pair a pull request comment shows.
const maxMarkdownTasks = 60

// CompareMarkdown writes a comparison for a pull request comment: the verdict, each
// pair with its metrics, then what can be folded away. It stays below 60 KB
// whatever the runs, saying what it left out. Untrusted text is inert as in Markdown.
func CompareMarkdown(w io.Writer, c compare.Comparison) error {
	b := &budget{left: maxMarkdown}
	b.line("### %s %s", words.Sign(c.Verdict), Escape(words.Clip(c.Headline, 300)))
	b.line("")
	for _, r := range compared.RunsOf(c) {
		b.line("%s %s  ", r.Name, Escape(r.Line))
	}
	b.line("")
	for _, p := range c.Pairs {
		b.line("- %s **%s**: %s%s", words.Sign(p.Verdict), Escape(words.Brief(compared.PairName(p), 160)), Escape(words.Clip(p.Sentence, 600)), simulated(p.New.Simulated))
	}
	b.line("")
	for _, d := range c.Differences {
		if d.Misleads {
			what, how := compared.DifferenceWords(c, d)
			b.line("> ⚠ **%s**: %s  ", Escape(what), Escape(how))
		}
	}
	b.line("")
	b.metrics(c)
	for _, n := range c.Notes {
		b.line("> %s  ", Escape(words.Clip(n, 400)))
	}
	b.line("")
	for _, p := range c.Pairs {
		b.pair(p)
	}
	for _, s := range compared.Sections(c) {
		if s.Tables != nil {
			b.fold(s.Fold, func() { b.table(s.Tables[0]) })
		}
	}
	if b.dropped > 0 {
		// Room for this line is kept outside the budget.
		fmt.Fprintf(&b.text, "\n%s left out to stay below the size of a comment; the JSON has them.\n", words.Plural(b.dropped, "line"))
	}
	if _, err := w.Write(b.text.Bytes()); err != nil {
		return fmt.Errorf("reports: comparison as Markdown: %w", err)
	}
	return nil
}

func (b *budget) metrics(c compare.Comparison) {
	heads := compared.Headings(c)
	b.line("| Candidate | Metric | %s | %s | Change | 95%% CI | p (adjusted) | Margin | Verdict |", Escape(heads.Baseline), Escape(heads.New))
	b.line("|:--|:--|--:|--:|--:|--:|--:|--:|:--|")
	for _, p := range c.Pairs {
		name := Escape(words.Brief(compared.PairName(p), 80))
		for _, m := range p.Metrics {
			verdict, title := compared.MetricWord(m), Escape(m.Title)
			if m.Gates {
				verdict, title = words.Sign(m.Verdict)+" "+verdict, "**"+title+"**"
			}
			b.line("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", name, title, Escape(words.InUnit(m.Unit, m.Baseline)), Escape(words.InUnit(m.Unit, m.New)),
				Escape(compared.Change(m)), Escape(words.SpanOf(m.Unit, m.Interval)), Escape(compared.AdjustedP(m)), Escape(compared.Margin(m)), verdict)
			name = ""
		}
	}
	b.line("")
}

// pair folds away what is behind the numbers of a pair.
func (b *budget) pair(p compare.Pair) {
	name := Escape(words.Brief(compared.PairName(p), 80))
	if tasks := compared.ChangedTasks(p.Tasks); len(tasks) > 0 {
		b.fold(fmt.Sprintf("%s: %s", name, Escape(compared.ClassCounts(p.Tasks))), func() { b.changed(p, tasks) })
	} else {
		b.line("%s: %s", name, Escape(compared.ClassCounts(p.Tasks)))
		b.line("")
	}
	b.fold(fmt.Sprintf("%s: the numbers", name), func() {
		b.line("- %s", Escape(compared.PairCounts(p)))
		for _, m := range p.Metrics {
			b.line("- %s %s", Escape(words.Clip(compared.MetricWhy(m), 700)), Escape(words.Clip(m.Test, 200)))
		}
		b.line("")
	})
}

func (b *budget) changed(p compare.Pair, tasks []compare.Task) {
	if text := compared.ByChance(tasks); text != "" {
		b.line("%s", text)
		b.line("")
	}
	for i, t := range tasks {
		if i == maxMarkdownTasks {
			b.line("- and %s more", words.Plural(len(tasks)-i, "task"))
			break
		}
		b.line("- **%s** <code>%s</code>: %s", t.Class, Escape(words.Brief(t.ID, 60)), Escape(compared.TaskLine(p, t)))
	}
	b.line("")
}
