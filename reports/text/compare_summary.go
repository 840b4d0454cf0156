package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/view/compared"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxTextTasks is how many tasks of a pair a terminal shows.
const maxTextTasks = 8

// CompareSummary writes a comparison for a screen: the verdict, the configuration
// differences, the metrics, and the tasks that changed with the evidence.
func CompareSummary(w io.Writer, c compare.Comparison, screen Screen) error {
	var b strings.Builder
	width := screen.Width
	fmt.Fprintf(&b, "%s\n\n", screen.verdict(c.Verdict, words.Clip(c.Headline, 400)))
	for _, p := range c.Pairs {
		name := ""
		if len(c.Pairs) > 1 {
			name = words.Brief(compared.PairName(p), 40) + ": "
		}
		wrapped(&b, "", name+p.Sentence, width)
	}
	b.WriteByte('\n')
	for _, r := range compared.RunsOf(c) {
		wrapped(&b, fmt.Sprintf("%-10s", strings.ToLower(r.Name)+":"), r.Line, width)
	}
	for _, d := range c.Differences {
		what, how := compared.DifferenceWords(c, d)
		wrapped(&b, "differs:  ", what+": "+how, width)
	}
	b.WriteByte('\n')
	b.WriteString(metricTable(c, screen))
	for _, p := range c.Pairs {
		pairText(&b, p, width)
	}
	b.WriteByte('\n')
	for _, n := range c.Notes {
		wrapped(&b, "note: ", n, width)
	}
	if _, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n"); err != nil {
		return fmt.Errorf("reports: comparison: %w", err)
	}
	return nil
}

// metricTable shortens names, not numbers, if it would be wider than the terminal.
func metricTable(c compare.Comparison, screen Screen) string {
	width := screen.Width
	const longest, shortest = 200, 11
	names := len("  contract_valid")
	for _, p := range c.Pairs {
		names = max(names, min(longest, utf8.RuneCountInString(compared.PairName(p))))
	}
	text := metricTableOf(c, screen, names)
	line, _, _ := strings.Cut(text, "\n")
	if wide := utf8.RuneCountInString(line) - width; width > 0 && wide > 0 {
		text = metricTableOf(c, screen, max(shortest, names-wide))
	}
	return text
}

// metricTableOf is the table with names of at most so many characters.
func metricTableOf(c compare.Comparison, screen Screen, name int) string {
	terminal := screen.Width > 0
	most := 40
	if terminal {
		most = 14
	}
	heads := compared.SideNames(c, most)
	t := table.NewWriter()
	t.SetStyle(screen.style())
	intervalColumn, verdictColumn := table.ColumnConfig{Number: 5, Align: text.AlignRight}, table.ColumnConfig{Number: 6}
	if terminal { // long intervals and "no significant regression" are two lines
		intervalColumn.WidthMax, intervalColumn.WidthMaxEnforcer = 18, text.WrapSoft
		verdictColumn.WidthMax, verdictColumn.WidthMaxEnforcer = 14, text.WrapSoft
	}
	t.AppendHeader(table.Row{"metric", heads.Baseline, heads.New, "change", "95% CI", "verdict"})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}, {Number: 4, Align: text.AlignRight},
		intervalColumn, verdictColumn,
	})
	for _, p := range c.Pairs {
		t.AppendRow(table.Row{words.Brief(compared.PairName(p), name), "", "", "", "", screen.verdict(p.Verdict, strings.ToUpper(compared.PairWord(p)))})
		for _, m := range p.Metrics {
			change := compared.Change(m)
			if v := compared.Significant(m, c.Rules.Alpha); v != stat.NotJudged {
				change = screen.verdict(v, change)
			}
			t.AppendRow(table.Row{
				"  " + metricName(m.Name, name-2), words.InUnit(m.Unit, m.Baseline), words.InUnit(m.Unit, m.New), change, words.SpanOf(m.Unit, m.Interval), screen.verdict(m.Verdict, compared.MetricWord(m)),
			})
		}
	}
	return t.Render() + "\n"
}

// metricName is a metric's name in lines of at most so many characters: it is never
// shortened where it can be broken.
func metricName(name string, most int) string {
	name = words.Brief(name, 40)
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	lines := strings.SplitAfter(name, "_")
	for i := range lines {
		lines[i] = words.Brief(lines[i], most)
	}
	return strings.Join(lines, "\n  ")
}

// pairText says what is behind the numbers of a pair.
func pairText(b *strings.Builder, p compare.Pair, width int) {
	fmt.Fprintf(b, "\n%s\n", words.Brief(compared.PairName(p), 160))
	for _, m := range p.Metrics {
		if m.Gates {
			wrapped(b, "  "+words.Brief(m.Name, 40)+": ", compared.Details(m), width)
		}
	}
	wrapped(b, "  episodes: ", compared.PairCounts(p), width)
	tasks := compared.ChangedTasks(p.Tasks)
	wrapped(b, "  tasks: ", words.Join(". ", compared.ClassCounts(p.Tasks), compared.ByChance(tasks)), width)
	for i, t := range tasks {
		if i == maxTextTasks {
			fmt.Fprintf(b, "  and %s more: use -o compare.html to see all\n", words.Plural(len(tasks)-i, "task"))
			break
		}
		wrapped(b, fmt.Sprintf("  %-12s ", t.Class), words.Brief(t.ID, 60)+": "+compared.TaskLine(p, t), width)
	}
	for _, t := range compared.OnList(p.Tasks) {
		wrapped(b, "  known flaky  ", fmt.Sprintf("%s: %s, %s (%s)", words.Brief(t.ID, 60), t.Class, compared.TaskCounts(p, t), compared.KnownWords(*t.Known)), width)
	}
	for _, d := range compared.FailureChanges(p.FailureChanges) {
		wrapped(b, "  failures: ", compared.FailureChangeWords(d), width)
	}
}
