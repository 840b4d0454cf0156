package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// Bounds of what a screen shows of a run: with more than openCandidates those that pass
// have one line each.
const (
	openCandidates = 3
	shownCauses    = 5
	shownReasons   = 12
)

// Summary writes a report for a screen: the verdict, the criteria of each candidate with
// the worst first, why they are not met, and the causes of failures with the most frequent
// first.
func Summary(w io.Writer, r model.Report, screen Screen) error {
	var b strings.Builder
	width := screen.Width
	fmt.Fprintf(&b, "%s\n", screen.verdict(r.Verdict, words.Visible(r.Headline)))
	wrapped(&b, "", view.OutcomesLine(r), width)
	if view.OpeningOf(r).AllSimulated {
		wrapped(&b, "", "All models are simulated. The numbers test cupel and say nothing about real models.", width)
	}
	for _, line := range view.Origin(r) {
		wrapped(&b, "run: ", line, width)
	}
	judgements := view.Judgements(r)
	worst := []stat.Verdict{stat.Fail, stat.Inconclusive, stat.NotJudged, stat.Pass}
	slices.SortStableFunc(judgements, func(a, b view.Judgement) int {
		return cmp.Compare(slices.Index(worst, a.Verdict), slices.Index(worst, b.Verdict))
	})
	fmt.Fprintf(&b, "\n%s\n", criteriaTable(r, judgements, screen))
	if len(judgements) > openCandidates && judgements[len(judgements)-1].Verdict == stat.Pass {
		wrapped(&b, "", "Candidates that pass meet every criterion; the report shows each of them.", width)
	}
	summaryStrategies(&b, r, screen)
	why(&b, judgements, width)
	b.WriteString(causesTable(r, screen))
	for _, s := range view.Sections(r, nil) {
		for _, line := range s.Lines {
			wrapped(&b, s.Label+": ", line, width)
		}
	}
	b.WriteByte('\n')
	for _, n := range r.Notes {
		wrapped(&b, "note: ", n, width)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reports: summary: %w", err)
	}
	return nil
}

// criteriaTable shows candidates and groups with their criteria. Names are broken, and only
// where they do not fit.
func criteriaTable(r model.Report, judgements []view.Judgement, screen Screen) string {
	all := view.OpeningOf(r).AllSimulated
	render := func(name int) string {
		t := table.NewWriter()
		t.SetStyle(screen.style())
		t.AppendHeader(table.Row{"candidate / criterion", "value", r.Intervals() + " CI", "n", "needs", "verdict"})
		columns := []table.ColumnConfig{{Number: 1, WidthMax: name, WidthMaxEnforcer: text.WrapHard}}
		for i := range 4 {
			columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight})
		}
		t.SetColumnConfigs(columns)
		for _, j := range judgements {
			summaryRows(t, screen, j, all, j.Verdict == stat.Pass && len(judgements) > openCandidates)
		}
		return t.Render()
	}
	return fitted(render, screen)
}

// fitted renders a table whose one column of texts is as wide as the screen allows: render
// takes the width of that column, 0 for any.
func fitted(render func(most int) string, screen Screen) string {
	out := render(0)
	for most := screen.Width; most > 10 && text.LongestLineLen(out) > screen.Width; most-- {
		out = render(most)
	}
	var b strings.Builder
	for line := range strings.Lines(out) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// summaryRows are a candidate or group, and its criteria unless it is folded.
func summaryRows(t table.Writer, screen Screen, j view.Judgement, simulated, folded bool) {
	title := words.Sign(j.Verdict) + " " + words.Brief(j.Pooled(j.Name), 200)
	if j.Simulated && !simulated {
		title += " (simulated)"
	}
	row := table.Row{title, "", "", "", "", screen.verdict(j.Verdict, strings.ToUpper(words.Word(j.Verdict)))}
	if j.Verdict == stat.NotJudged {
		row = table.Row{title, j.Success.Rate(), j.Success.IntervalText(), j.Success.N, "solved", row[5]}
	}
	if folded {
		c := j.Criteria[0]
		t.AppendRow(table.Row{title, c.ValueText(), c.IntervalText(), c.N, c.NeedsText(), row[5]})
		return
	}
	t.AppendRow(row)
	for _, c := range j.Criteria {
		verdict := words.Word(c.Verdict)
		if c.Verdict == stat.NotJudged && c.N > 0 {
			verdict = "reported"
		}
		t.AppendRow(table.Row{"    " + words.Brief(short(c), 200), c.ValueText(), c.IntervalText(), c.N, c.NeedsText(), screen.verdict(c.Verdict, verdict)})
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

// why says what the table does not: what decided against a candidate beside its criteria,
// and what is to be known of each criterion that is not a pass, once for all candidates of
// which it is true.
func why(b *strings.Builder, judgements []view.Judgement, width int) {
	type reason struct{ title, note string }
	var order []reason
	names, said := map[reason][]string{}, map[string]bool{}
	for _, j := range judgements {
		if j.Explains() {
			wrapped(b, "why: ", j.Name+" "+j.Sentence, width)
		}
		for _, c := range j.Criteria {
			if c.Verdict == stat.Pass || c.Verdict == stat.NotJudged {
				continue
			}
			k := reason{short(c), strings.Replace(strings.TrimSuffix(c.Note, c.Explanation), c.Aside, "", 1)}
			k.note = strings.Join(strings.Fields(k.note), " ")
			if c.Explanation != "" && !said[c.Explanation] {
				said[c.Explanation] = true
				k.note = words.Join(" ", k.note, c.Explanation)
			}
			if k.note == "" {
				continue
			}
			if names[k] == nil {
				order = append(order, k)
			}
			names[k] = append(names[k], words.Brief(j.Name, 60))
		}
	}
	for i, k := range order {
		if i == shownReasons && len(order) > i+1 {
			wrapped(b, "why: ", fmt.Sprintf("%d more reasons are in the report.", len(order)-i), width)
			break
		}
		of := names[k]
		if more := len(of) - 3; more > 1 {
			of = append(of[:3:3], fmt.Sprintf("%d more", more))
		}
		wrapped(b, "why: ", words.And(of)+": "+k.title+": "+k.note, width)
	}
}

// causesTable shows the most frequent causes of failures, each with the shortest episode.
func causesTable(r model.Report, screen Screen) string {
	list := r.Largest(len(r.Clusters))
	if len(list) == 0 {
		return ""
	}
	failed, rest := 0, 0
	for i, c := range list {
		if failed += len(c.Episodes); i >= shownCauses {
			rest += len(c.Episodes)
		}
	}
	render := func(most int) string {
		t := table.NewWriter()
		t.SetStyle(screen.style())
		t.AppendHeader(table.Row{"failed", "cause", "shortest example"})
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 1, Align: text.AlignRight, AlignHeader: text.AlignRight}, {Number: 2, WidthMax: most, WidthMaxEnforcer: text.WrapSoft}})
		for _, c := range list[:min(len(list), shownCauses)] {
			t.AppendRow(table.Row{len(c.Episodes), words.Brief(view.Cause(c), 160), exampleOf(r, c)})
		}
		if more := len(list) - shownCauses; more > 0 {
			t.AppendRow(table.Row{rest, words.Plural(more, "other cause") + ": see the report", ""})
		}
		return t.Render()
	}
	return "\n" + fitted(render, screen) + "\n"
}

func exampleOf(r model.Report, c model.Cluster) string {
	e := r.Episodes[c.Shortest]
	name := words.Brief(e.Task, 60) + "/" + words.Brief(e.Candidate, 60)
	if e.Trial > 1 {
		name += fmt.Sprintf("/%d", e.Trial)
	}
	return name
}

// FailedExample names the episode to look at first, as TASK/CANDIDATE[/TRIAL]: the shortest
// one of the most frequent cause of failures. It is "" where nothing failed.
func FailedExample(r model.Report) string {
	if list := r.Largest(1); len(list) > 0 {
		return exampleOf(r, list[0])
	}
	return ""
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
