package compared

import (
	"slices"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxRows bounds each table of a section.
const maxRows = 100

// Sections are the parts of a comparison that are tables alone, in the order of the page.
// Early ones come before the metrics. A known-flaky list is shown only if it has tasks.
func Sections(c compare.Comparison) []view.Section {
	heads := Headings(c)
	names := func(first ...view.Column) []view.Column {
		if len(c.Pairs) > 1 {
			first = append([]view.Column{{Name: "Candidate", Mark: "bdi"}}, first...)
		}
		return append(first, view.Column{Name: heads.Baseline, Mark: "bdi"}, view.Column{Name: heads.New, Mark: "bdi"})
	}
	table := func(caption string, columns []view.Column, rows [][]view.Cell) []view.Table {
		if len(rows) == 0 {
			return nil
		}
		return []view.Table{{Label: "Table: " + caption, Caption: caption, Columns: columns, Rows: rows[:min(len(rows), maxRows)]}}
	}
	var differences, causes, known [][]view.Cell
	for _, d := range c.Differences {
		what, _ := DifferenceWords(c, d)
		cell := view.Cell{Text: words.UpperFirst(words.Clip(what, 300))}
		if d.Misleads {
			cell.Small = "⚠ misleads"
		}
		differences = append(differences, []view.Cell{cell, {Text: words.Clip(d.Baseline, 200)}, {Text: words.Clip(d.New, 200)}})
	}
	for _, p := range c.Pairs {
		add := func(rows [][]view.Cell) (named [][]view.Cell) {
			for _, row := range rows {
				if len(c.Pairs) > 1 {
					row = append([]view.Cell{{Text: words.Brief(PairName(p), 80)}}, row...)
				}
				named = append(named, row)
			}
			return named
		}
		causes, known = append(causes, add(causeRows(p))...), append(known, add(knownRows(p))...)
	}
	head := view.Column{Name: "Setting", Mark: "bdi", Head: true}
	cause, task := head, head
	cause.Name, task.Name = "Cause", "Task"
	list := []view.Section{
		{ID: "differences", Title: "Configuration differences", Early: true, Empty: "None: both have the same configuration.", Fold: "Configuration differences: " + words.Thousands(int64(len(differences))),
			Tables: table("Configuration differences", []view.Column{head, {Name: heads.Baseline, Mark: "bdi"}, {Name: heads.New, Mark: "bdi"}}, differences)},
		{ID: "causes", Title: "Failure causes", Empty: "No failures of any kind.", Fold: "Failure causes",
			Tables: table("Failure causes", append(names(cause), view.Column{Name: "p (adjusted)", Class: "n"}, view.Column{Name: "Significant"}), causes)},
		{ID: "known", Title: "Known to be flaky", Intro: "Reported here, but left out of gating metrics until the entry expires.", Fold: "Known to be flaky: " + words.Plural(len(known), "task"),
			Tables: table("Tasks on the known-flaky list", append(names(task), view.Column{Name: "Owner", Mark: "bdi"}, view.Column{Name: "Counts until", Class: "nw"}, view.Column{Name: "Reason", Mark: "bdi"}), known)},
	}
	for i := range list {
		if list[i].Tables != nil {
			list[i].Empty = ""
		}
	}
	return slices.DeleteFunc(list, func(s view.Section) bool { return s.Empty == "" && s.Tables == nil })
}

func of(k, n int) view.Cell {
	return view.Cell{Text: words.Thousands(int64(k)) + " of " + words.Thousands(int64(n))}
}

func causeRows(p compare.Pair) (rows [][]view.Cell) {
	for _, d := range FailureChanges(p.FailureChanges) {
		significant := view.Cell{Text: "no", Class: "dim"}
		if d.Changed {
			significant = view.Cell{Text: "yes"}
		}
		rows = append(rows, []view.Cell{{Text: words.UpperFirst(words.Brief(string(d.Kind), 40))}, of(d.Baseline, d.BaselineOf), of(d.New, d.NewOf), {Text: words.Chance(d.Adjusted)}, significant})
	}
	return rows
}

func knownRows(p compare.Pair) (rows [][]view.Cell) {
	for _, t := range OnList(p.Tasks) {
		until := view.Cell{Text: words.Brief(t.Known.Expires, 20)}
		if t.Known.Expired {
			until.Small = "expired: gates again"
		}
		rows = append(rows, []view.Cell{{Text: words.Brief(t.ID, 60), Small: string(t.Class)}, of(t.Baseline.Passed, t.Baseline.N), of(t.New.Passed, t.New.N), {Text: words.Brief(t.Known.Owner, 80)}, until, {Text: words.Clip(t.Known.Reason, 200)}})
	}
	return rows
}
