package html

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
	"github.com/cupel-eval/cupel/reports/words"
)

// taskView is a row of the heat map tasks × candidates.
type taskView struct {
	ID, Title, Tier, Href string
	Tags                  []string
	// Outcomes are what the filter looks for, such as "failed mixed".
	Outcomes string
	Cells    []cellView
}

// cellView is coloured by the share of trials solved; Rate is that in percent,
// empty without a result.
type cellView struct {
	Class, Rate, Text, Name string // Name is that of the column
	Marks                   []markView
}

type markView struct{ Class, Sign, Href, Title string }

// outcomeView is a filter of the tasks, with how many it leaves.
type outcomeView struct {
	Value, Label string
	N            int
}

// totalView sums up a candidate's column; the widths of its bar are of 100.
type totalView struct {
	Text                 string
	Solved, Failed, Lost string
}

// clean says that every episode of a task was solved.
func clean(t model.Task) bool {
	return !slices.ContainsFunc(t.Cells, func(c model.Cell) bool { return c.Solved != len(c.Episodes) })
}

// listed are at most maxTaskRows tasks, those that were not always solved first,
// in their order.
func listed(r model.Report) (at []int) {
	troubled := 0
	for _, t := range r.Tasks {
		if !clean(t) {
			troubled++
		}
	}
	room := map[bool]int{false: min(troubled, maxTaskRows), true: max(0, maxTaskRows-troubled)}
	for i, t := range r.Tasks {
		if room[clean(t)]--; room[clean(t)] >= 0 {
			at = append(at, i)
		}
	}
	return at
}

// reportTags are those of each task, bounded.
func reportTags(r model.Report) map[string][]string {
	by := map[string][]string{}
	for _, t := range r.Run.Tasks {
		for _, tag := range t.Tags[:min(len(t.Tags), 8)] {
			by[t.ID] = append(by[t.ID], words.Brief(tag, 40))
		}
	}
	return by
}

// trouble is how much is wrong with a task: a candidate that never solved it weighs more
// than one that solved it sometimes.
func trouble(t model.Task) (n int) {
	for _, c := range t.Cells {
		switch {
		case c.Scored > 0 && c.Solved == 0:
			n += 10_000
		case c.Solved < len(c.Episodes):
			n++
		}
	}
	return n
}

// taskViews are the listed tasks, those that fail most first. pages are where they are
// shown on their own.
func taskViews(r model.Report, linked links, pages map[string]string) (views []taskView) {
	tags := reportTags(r)
	order := listed(r)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(trouble(r.Tasks[b]), trouble(r.Tasks[a])) })
	for _, i := range order {
		t := r.Tasks[i]
		v := taskView{
			ID: words.Brief(t.ID, 40), Title: words.UpperFirst(words.Brief(t.Title, 80)), Tier: words.Brief(t.Tier, 20), Tags: tags[t.ID],
			Href: pages[t.ID], Outcomes: outcomes(t),
		}
		for k, c := range t.Cells {
			view := cell(r, c, linked)
			if len(r.Episodes) <= maxMarked {
				view.Name = words.Brief(r.Candidates[k].Name, 40)
			}
			v.Cells = append(v.Cells, view)
		}
		views = append(views, v)
	}
	return views
}

// outcomes of a task's cells: failed was never solved, mixed sometimes, solved
// always; no-result has a trial that says nothing.
func outcomes(t model.Task) string {
	has := map[string]bool{}
	for _, c := range t.Cells {
		switch {
		case c.Scored == 0:
		case c.Solved == 0:
			has["failed"] = true
		case c.Solved < c.Scored:
			has["mixed"] = true
		}
		has["no-result"] = has["no-result"] || len(c.Episodes) > c.Scored
	}
	var list []string
	for _, name := range []string{"failed", "mixed", "no-result"} {
		if has[name] {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return "solved"
	}
	return strings.Join(list, " ")
}

// outcomeViews are the filters, those that leave tasks.
func outcomeViews(tasks []taskView) (views []outcomeView) {
	views = []outcomeView{{"", "All", len(tasks)}}
	for _, v := range []outcomeView{{"failed", "Failed", 0}, {"mixed", "Flaky", 0}, {"solved", "Solved", 0}, {"no-result", "No result", 0}} {
		for _, t := range tasks {
			if slices.Contains(strings.Fields(t.Outcomes), v.Value) {
				v.N++
			}
		}
		if v.N > 0 {
			views = append(views, v)
		}
	}
	return views
}

func cell(r model.Report, c model.Cell, linked links) cellView {
	v := cellView{Class: "h-"}
	switch {
	case len(c.Episodes) == 0:
		v.Text = "–"
		return v
	case c.Scored == 0:
		v.Text = "no result"
	default:
		v.Rate, v.Class = strconv.Itoa(100*c.Solved/c.Scored), heat(c.Solved, c.Scored)
		v.Text = fmt.Sprintf("%d of %d", c.Solved, c.Scored)
	}
	if len(c.Episodes) == 1 { // its mark says it
		v.Text = ""
	}
	if len(r.Episodes) <= maxMarked && len(c.Episodes) <= maxMarks {
		for _, i := range c.Episodes {
			v.Marks = append(v.Marks, mark(r.Episodes[i], linked[i]))
		}
		return v
	}
	// One mark leads to the first trial of those that have most to see.
	best := -1
	for _, i := range c.Episodes {
		if linked[i] != "" && (best < 0 || r.Episodes[i].Rank() < r.Episodes[best].Rank()) {
			best = i
		}
	}
	if best >= 0 {
		m := mark(r.Episodes[best], linked[best])
		m.Title = ""
		v.Marks = []markView{m}
	}
	return v
}

// heat is the class of a share: h0 none, h4 all, the halves between.
func heat(k, n int) string {
	switch {
	case k == 0:
		return "h0"
	case k == n:
		return "h4"
	case 3*k < n:
		return "h1"
	case 3*k > 2*n:
		return "h3"
	}
	return "h2"
}

func mark(e model.Episode, href string) markView {
	sign, class, ending := transcript.Outcome(e.Excluded, e.Solved)
	return markView{Class: class, Sign: sign, Href: href, Title: fmt.Sprintf("trial %d: %s in %s", e.Trial, ending, words.Plural(e.Steps, "step"))}
}

// totals are the last words on each column.
func totals(r model.Report) (views []totalView) {
	for _, c := range r.Candidates {
		lost := c.InfraErrors + c.HarnessErrors + c.BudgetStops + c.Interrupted + c.NotScored
		all := float64(max(1, c.Success.N+lost))
		wide := func(n int) string { return words.Coordinate(100*float64(n)/all, 2) }
		views = append(views, totalView{c.Success.Text(), wide(c.Success.K), wide(c.Success.N - c.Success.K), wide(lost)})
	}
	return views
}
