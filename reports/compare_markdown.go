package reports

import (
	"fmt"
	"io"

	"github.com/cupel-eval/cupel/reports/compare"
)

// maxMarkdownTasks is how many tasks of a pair a pull request comment shows.
const maxMarkdownTasks = 60

// CompareMarkdown writes a comparison for a pull request comment: the verdict, each
// pair with its metrics, then what can be folded away. It stays below 60 KB
// whatever the runs, saying what it left out. Untrusted text is inert as in Markdown.
func CompareMarkdown(w io.Writer, c compare.Comparison) error {
	b := &budget{left: maxMarkdown}
	b.line("### %s %s", sign(c.Verdict), md(clip(c.Headline, 300)))
	b.line("")
	for _, r := range runsOf(c) {
		b.line("%s %s  ", r.Name, md(r.Line))
	}
	b.line("")
	for _, p := range c.Pairs {
		b.line("- %s **%s**: %s%s", sign(p.Verdict), md(brief(pairName(p), 160)), md(clip(p.Sentence, 600)), simulated(p.New.Simulated))
	}
	b.line("")
	b.differences(c.Differences)
	b.metrics(c)
	for _, n := range c.Notes {
		b.line("> %s  ", md(clip(n, 400)))
	}
	b.line("")
	for _, p := range c.Pairs {
		b.pair(p)
	}
	if b.dropped > 0 {
		// Room for this line is kept outside the budget.
		fmt.Fprintf(&b.text, "\n%s left out to stay below the size of a comment; the JSON has them.\n", plural(b.dropped, "line"))
	}
	if _, err := w.Write(b.text.Bytes()); err != nil {
		return fmt.Errorf("reports: comparison as Markdown: %w", err)
	}
	return nil
}

// differences are folded away unless one misleads.
func (b *budget) differences(list []compare.Difference) {
	misleads := 0
	for _, d := range list {
		if d.Misleads {
			misleads++
			what, how := differenceWords(d)
			b.line("> ⚠ **%s**: %s  ", md(what), md(how))
		}
	}
	if len(list) == misleads {
		b.line("")
		return
	}
	b.line("")
	b.fold(fmt.Sprintf("Configuration differences: %d", len(list)), func() {
		for _, d := range list {
			what, how := differenceWords(d)
			b.line("- %s: %s", md(what), md(how))
		}
		b.line("")
	})
}

func (b *budget) metrics(c compare.Comparison) {
	heads := headings(c)
	b.line("| Candidate | Metric | %s | %s | Change | Interval | p, adjusted | Margin | Verdict |", md(heads.Baseline), md(heads.New))
	b.line("|:--|:--|--:|--:|--:|--:|--:|--:|:--|")
	for _, p := range c.Pairs {
		name := md(brief(pairName(p), 80))
		for _, m := range p.Metrics {
			verdict, title := "–", md(m.Title)
			if m.Gates {
				verdict, title = sign(m.Verdict)+" "+word(m.Verdict), "**"+title+"**"
			}
			b.line("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", name, title, md(inUnit(m.Unit, m.Baseline)), md(inUnit(m.Unit, m.New)),
				md(change(m)), md(changeInterval(m)), md(chance(m.Adjusted)), md(margin(m)), verdict)
			name = ""
		}
	}
	b.line("")
}

// pair folds away what is behind the numbers of a pair.
func (b *budget) pair(p compare.Pair) {
	name := md(brief(pairName(p), 80))
	if tasks := changedTasks(p.Tasks); len(tasks) > 0 {
		b.fold(fmt.Sprintf("%s: %s", name, md(classCounts(p.Tasks))), func() { b.changed(tasks) })
	} else {
		b.line("%s: %s", name, md(classCounts(p.Tasks)))
		b.line("")
	}
	if list := onList(p.Tasks); len(list) > 0 {
		b.fold(fmt.Sprintf("%s: known to be flaky: %s", name, plural(len(list), "task")), func() {
			for _, t := range list {
				b.line("- <code>%s</code> %s, %s (%s)", md(brief(t.ID, 60)), t.Class, md(taskWords(t)), md(knownWords(*t.Known)))
			}
			b.line("")
		})
	}
	b.fold(fmt.Sprintf("%s: the numbers", name), func() {
		b.line("- %s", md(pairCounts(p)))
		for _, m := range p.Metrics {
			b.line("- %s %s", md(clip(metricWhy(m), 700)), md(clip(m.Test, 200)))
		}
		for _, d := range drifts(p.Drift) {
			b.line("- failures: %s", md(driftWords(d)))
		}
		b.line("")
	})
}

func (b *budget) changed(tasks []compare.Task) {
	for i, t := range tasks {
		if i == maxMarkdownTasks {
			b.line("- and %s more", plural(len(tasks)-i, "task"))
			break
		}
		b.line("- **%s** <code>%s</code>: %s", t.Class, md(brief(t.ID, 60)), md(taskWords(t)))
		if len(t.Episodes) > 0 {
			b.line("  %s", md(clip(episodeWords(t.Episodes[0]), 400)))
		}
	}
	b.line("")
}
