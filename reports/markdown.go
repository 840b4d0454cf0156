package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// maxMarkdown keeps a report below the 64 KiB a pull request comment may have.
const maxMarkdown = 58_000

// Markdown writes the report for a pull request comment: the verdict first, the
// criteria, then what can be folded away. It stays below 60 KB whatever the run,
// saying what it left out. Untrusted text appears as code, entity by entity, so
// that it can neither mention people nor link nor break a table.
func Markdown(w io.Writer, r Report) error {
	b := &budget{left: maxMarkdown}
	b.line("### %s %s", sign(r.Verdict), md(clip(r.Headline, 200)))
	b.line("")
	b.line("Suite **%s** · %s · run <code>%s</code>%s", md(brief(r.Run.Suite, 80)), r.shape(), md(brief(r.Run.RunID, 64)), simulated(r.Run.Simulated))
	if r.Outcomes.WithoutResult() > 0 {
		b.line("")
		b.line("Episodes: %s", md(r.outcomes()))
	}
	for _, line := range r.origin() {
		b.line("")
		b.line("%s", md(clip(line, 400)))
	}
	b.line("")
	for _, c := range r.Candidates {
		b.line("- %s **%s** %s", sign(c.Verdict), md(brief(c.Name, 80)), md(clip(c.Sentence, 600))+simulated(c.Simulated))
	}
	for _, g := range r.Groups {
		b.line("- %s **%s** (%s) %s", sign(g.Verdict), md(brief(g.name(), 80)), md(clip(g.about(), 300)), md(clip(g.Sentence, 600)))
	}
	b.trend(r)
	b.line("")
	b.strategies(r)
	b.criteria(r)
	for _, n := range r.Notes {
		b.line("> %s  ", md(clip(n, 400)))
	}
	b.line("")
	b.overview(r)
	b.clusters(r)
	b.failures(r)
	b.facts(r)
	if b.dropped > 0 {
		// Room for this line is kept outside the budget.
		fmt.Fprintf(&b.text, "\n%s left out to stay below the size of a comment; the HTML report has them.\n", plural(b.dropped, "line"))
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

func (b *budget) criteria(r Report) {
	b.line("| Candidate | Criterion | Value | Interval | n | Needs | Verdict |")
	b.line("|:--|:--|--:|--:|--:|--:|:--|")
	rows := func(name string, list []Criterion) {
		for _, c := range list {
			b.line("| %s | %s | **%s** | %s | %s | %s | %s %s |", name, md(c.Title), c.value(), c.interval(), thousands(int64(c.N)), c.needs(), sign(c.Verdict), word(c.Verdict))
			name = ""
		}
	}
	for _, c := range r.Candidates {
		rows(md(brief(c.Name, 60)), c.Criteria)
	}
	for _, g := range r.Groups {
		rows(md(brief(g.name(), 60))+" (pooled)", g.Criteria)
	}
	b.line("")
	b.fold("Notes on the criteria", func() {
		for _, c := range r.Candidates {
			b.criterionNotes(c.Name, c.Criteria)
		}
		for _, g := range r.Groups {
			b.criterionNotes(g.name(), g.Criteria)
		}
		b.line("")
	})
}

func (b *budget) criterionNotes(name string, list []Criterion) {
	for _, c := range list {
		b.line("- %s, %s: %s, %s. %s", md(brief(name, 60)), md(lowerFirst(c.Title)), md(c.Test), c.ruleWords(), md(clip(c.Note, 300)))
	}
}

func (b *budget) overview(r Report) {
	b.fold("Candidates side by side", func() {
		head, rule := "| |", "|:--|"
		for _, c := range r.Candidates {
			head += " " + md(brief(c.Name, 40)) + " |"
			rule += ":--|"
		}
		b.line("%s", head)
		b.line("%s", rule)
		for _, m := range measures() {
			if !m.shown(r) {
				continue
			}
			row := "| " + m.label + " |"
			for _, c := range r.Candidates {
				row += " " + md(clip(m.of(c), 200)) + " |"
			}
			b.line("%s", row)
		}
		b.line("")
	})
}

func (b *budget) failures(r Report) {
	unsolved := r.unsolved()
	for _, c := range r.Candidates {
		failed := unsolved[c.Name]
		if len(failed) == 0 {
			continue
		}
		const shown = 50
		b.fold(fmt.Sprintf("%s: %s", md(brief(c.Name, 60)), c.unsolvedCount(len(failed))), func() {
			for at, i := range failed {
				if at == shown {
					b.line("- and %d more", len(failed)-at)
					break
				}
				e := r.Episodes[i]
				b.line("- <code>%s/%d</code> %s – <code>%s</code>", md(brief(e.Task, 40)), e.Trial, md(brief(e.ending(), 60)), md(clip(e.Failure, 200)))
			}
			b.line("")
		})
	}
}

func (b *budget) facts(r Report) {
	b.fold("Run", func() {
		for _, f := range r.facts() {
			b.line("- %s: %s", f.Name, md(f.Value))
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

// md writes text so that Markdown and HTML read it as text: punctuation with a
// meaning becomes an entity, and so do the characters autolinks hang on.
func md(s string) string {
	s = visible(s)
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
