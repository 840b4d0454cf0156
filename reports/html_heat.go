package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// taskView is a row of the heat map tasks × candidates.
type taskView struct {
	ID, Title, Tier, Tags, Href string
	// Outcomes are what the filter looks for, such as "failed mixed".
	Outcomes string
	Cells    []cellView
}

// cellView is coloured by the share of trials solved; Rate is that in percent,
// empty without a result.
type cellView struct {
	Class, Rate, Text, Steps string
	Marks                    []markView
}

type markView struct{ Class, Sign, Href, Title string }

// totalView sums up a candidate's column; the widths of its bar are of 100.
type totalView struct {
	Text                 string
	Solved, Failed, Lost string
}

// clean says that every episode of a task was solved.
func (t Task) clean() bool {
	return !slices.ContainsFunc(t.Cells, func(c Cell) bool { return c.Solved != len(c.Episodes) })
}

// listed are at most maxTaskRows tasks, those that were not always solved first,
// in their order.
func (r Report) listed() (at []int) {
	troubled := 0
	for _, t := range r.Tasks {
		if !t.clean() {
			troubled++
		}
	}
	room := map[bool]int{false: min(troubled, maxTaskRows), true: max(0, maxTaskRows-troubled)}
	for i, t := range r.Tasks {
		if room[t.clean()]--; room[t.clean()] >= 0 {
			at = append(at, i)
		}
	}
	return at
}

// tags are those of each task.
func (r Report) tags() map[string]string {
	by := map[string]string{}
	for _, t := range r.Run.Tasks {
		if len(t.Tags) > 0 && by[t.ID] == "" {
			by[t.ID] = strings.Join(t.Tags, ", ")
		}
	}
	return by
}

// taskViews are the listed tasks. pages are where they are shown on their own.
func taskViews(r Report, linked links, pages map[string]string) (views []taskView) {
	tags := r.tags()
	for _, i := range r.listed() {
		t := r.Tasks[i]
		v := taskView{
			ID: brief(t.ID, 40), Title: brief(t.Title, 80), Tier: brief(t.Tier, 20), Tags: brief(tags[t.ID], 80),
			Href: pages[t.ID], Outcomes: t.outcomes(),
		}
		for _, c := range t.Cells {
			v.Cells = append(v.Cells, r.cell(c, linked))
		}
		views = append(views, v)
	}
	return views
}

// outcomes of a task's cells: failed was never solved, mixed sometimes, solved
// always; no-result has a trial that says nothing.
func (t Task) outcomes() string {
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

func (r Report) cell(c Cell, linked links) cellView {
	v := cellView{Class: "h-"}
	switch {
	case len(c.Episodes) == 0:
		v.Text = "–"
		return v
	case c.Scored == 0:
		v.Text = "no result"
	default:
		v.Rate, v.Class = strconv.Itoa(100*c.Solved/c.Scored), heat(c.Solved, c.Scored)
		v.Text, v.Steps = fmt.Sprintf("%d/%d", c.Solved, c.Scored), mean(c.MeanSteps)
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
		if linked[i] != "" && (best < 0 || rank(&r.Episodes[i]) < rank(&r.Episodes[best])) {
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

func mark(e Episode, href string) markView {
	sign, class, ending := outcome(e.Excluded, e.Solved)
	return markView{Class: class, Sign: sign, Href: href, Title: fmt.Sprintf("trial %d: %s in %s", e.Trial, ending, plural(e.Steps, "step"))}
}

// totals are the last words on each column.
func totals(r Report) (views []totalView) {
	for _, c := range r.Candidates {
		lost := c.InfraErrors + c.HarnessErrors + c.BudgetStops + c.Interrupted
		all := float64(max(1, c.Success.N+lost))
		wide := func(n int) string { return trimmed(100*float64(n)/all, 2) }
		views = append(views, totalView{c.Success.text(), wide(c.Success.K), wide(c.Success.N - c.Success.K), wide(lost)})
	}
	return views
}
