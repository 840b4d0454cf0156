package view

import "github.com/cupel-eval/cupel/reports/model"

// Section is a part of a report as every renderer lays it out. Empty fields are not shown.
type Section struct {
	// ID and Title are the anchor and the heading on a page, where Count follows the title;
	// Intro is what is said below it.
	ID, Title, Count, Intro string
	// Early sections follow the criteria on a page.
	Early bool
	// Figure is the name of the plot that a page shows in the section.
	Figure string
	// Fold is the line under which Markdown folds the tables. First sections come before
	// the others there.
	Fold  string
	First bool
	// Tables are on the page and in Markdown.
	Tables []Table
	// Unsolved lists episodes by candidate, on the page and in Markdown, and Empty is said
	// on the page where there are none.
	Unsolved []CandidateFailures
	Empty    string
	// Lines follow Label on a terminal. Without a Fold, Markdown lists them below the
	// verdicts.
	Label string
	Lines []string
}

// Table is a table of a section.
type Table struct {
	ID, Label, Caption string // on a page
	// Titled tables show their caption as a heading.
	Titled  bool
	Columns []Column
	Rows    [][]Cell // as wide as Columns
	// Filters are what a page filters the rows by, the first of them by nothing. Kinds are
	// the indices of those that leave a row, and Details are what is folded below it; both
	// are as long as Rows, or nil.
	Filters []string
	Kinds   []int
	Details [][]Fact
	// More counts the rows that are left out; none of them is larger than those shown.
	More string
}

// Column is how the cells of a column look.
type Column struct {
	// Name is the heading; Page replaces it on a page.
	Name, Page string
	// Class is that of the page: n is a number, nw does not break. Mark is the element
	// around the text of a cell: b, code, chip, or bdi for text of others.
	Class, Mark string
	// Head cells name their row. Own text is the program's, which Markdown need not
	// escape. TextOnly columns are not on the page.
	Head, Own, TextOnly bool
}

// Cell is a value of a table, to be escaped.
type Cell struct {
	Text string
	// Small follows the text on a page, where Href leads to an episode, Share is the
	// width of a bar in percent, and Class replaces that of the column.
	Small, Href, Share, Class string
	// Strong text is bold.
	Strong bool
}

// Sections are the parts of a report below its criteria and tasks, in the order of the
// page: a new one needs no line elsewhere. linked says where a page shows episodes, by
// their index; it may be nil.
func Sections(r model.Report, linked map[int]string) []Section {
	list := []Section{failureSection(r, linked)}
	for _, s := range []Section{
		attackSection(r), judgeSection(r), scoreSection(r), labelSection(r), trendSection(r), orchestrationSection(r),
	} {
		if s.Figure != "" || s.Tables != nil {
			list = append(list, s)
		}
	}
	return append(list, overviewSection(r))
}
