package reports

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cupel-eval/cupel/harness/ledger"
)

type overviewRow struct {
	Label string
	Cells []overviewCell
}

type overviewCell struct {
	Text string
	Long bool // may break into lines
}

// measure is a row of the overview.
type measure struct {
	label string
	long  bool
	of    func(Candidate) string
}

// shown leaves out rows that are for trouble or for several trials, where there is
// none and only one.
func (m measure) shown(r Report) bool {
	switch m.label {
	case labelHarness, labelBudget, labelUnfinished:
		return slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return m.of(c) != "0" })
	case labelPassAt, labelPassAll:
		return slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.PassAt != nil })
	}
	return true
}

const (
	labelHarness    = "Harness errors"
	labelBudget     = "Budget stops"
	labelUnfinished = "Unfinished"
	labelPassAt     = "Solved at least once (pass@k)"
	labelPassAll    = "Solved every time (pass^k)"
)

// measures are the rows of the overview, shared with the Markdown report.
func measures() []measure {
	return []measure{
		{"Solved", false, func(c Candidate) string { return c.Success.text() }},
		{"Solved, interval", false, func(c Candidate) string { return c.Success.interval() }},
		{labelPassAt, false, func(c Candidate) string { return c.PassAt.text() }},
		{labelPassAll, false, func(c Candidate) string { return c.PassAll.text() }},
		{"Cost", false, func(c Candidate) string { return c.cost() }},
		{"Cost per solved", false, func(c Candidate) string { return dollarsOf(c.CostPerSolved) }},
		{"Tokens in", false, func(c Candidate) string { return count(c.TokensIn) }},
		{"Tokens out", false, func(c Candidate) string { return count(c.TokensOut) }},
		{"Tokens from cache", false, func(c Candidate) string { return count(c.TokensCacheRead) }},
		{"Tokens of reasoning", false, func(c Candidate) string { return count(c.TokensReasoning) }},
		{"Latency p50 of a turn", false, func(c Candidate) string { return c.Latency.median() }},
		{"Latency p95 of a turn", false, func(c Candidate) string { return c.Latency.tail() }},
		{"Episodes with thrash", false, func(c Candidate) string { return c.Thrash.text() }},
		{"Episodes with a stall", false, func(c Candidate) string { return c.Stall.text() }},
		{"Turns repaired", false, func(c Candidate) string { return c.Repaired.text() }},
		{"Turns cut off", false, func(c Candidate) string { return strconv.Itoa(c.Truncated) }},
		{"Turns without a reply", false, func(c Candidate) string { return strconv.Itoa(c.ErrorTurns) }},
		{"Reflect turns", false, func(c Candidate) string { return c.extra("reflect") }},
		{"Rescue turns", false, func(c Candidate) string { return c.extra("rescue") }},
		{"Compress turns", false, func(c Candidate) string { return c.extra("compress") }},
		{"Infrastructure errors", false, func(c Candidate) string { return strconv.Itoa(c.InfraErrors) }},
		{labelHarness, false, func(c Candidate) string { return strconv.Itoa(c.HarnessErrors) }},
		{labelBudget, false, func(c Candidate) string { return strconv.Itoa(c.BudgetStops) }},
		{labelUnfinished, false, func(c Candidate) string { return strconv.Itoa(c.Interrupted + c.Unfinished) }},
		{"Brier score of confidence", false, func(c Candidate) string {
			if c.Brier == nil {
				return "–"
			}
			return fmt.Sprintf("%.3f", *c.Brier)
		}},
		{"Endings", true, func(c Candidate) string { return list(c.Statuses, 8) }},
		{"Violations", true, func(c Candidate) string { return list(c.Violations, 8) }},
	}
}

func overview(r Report) (rows []overviewRow) {
	for _, m := range measures() {
		row := overviewRow{Label: m.label}
		if !m.shown(r) {
			continue
		}
		for _, c := range r.Candidates {
			text := m.of(c)
			row.Cells = append(row.Cells, overviewCell{text, m.long || len(text) > 32})
		}
		rows = append(rows, row)
	}
	return rows
}

type taskView struct {
	ID, Title, Tier string
	Clean           bool // every scored trial solved, none without a result
	Cells           []cellView
}

type cellView struct {
	Marks []markView
	Text  string
}

type markView struct{ Class, Sign, Anchor, Title string }

// clean says that every episode of a task was solved.
func (t Task) clean() bool {
	return !slices.ContainsFunc(t.Cells, func(c Cell) bool { return c.Solved != len(c.Episodes) })
}

// taskViews lists at most maxTaskRows tasks, those that were not always solved
// first, in their order.
func taskViews(r Report, linked map[int]bool) (views []taskView) {
	single := len(r.Episodes) <= maxMarked
	troubled := 0
	for _, t := range r.Tasks {
		if !t.clean() {
			troubled++
		}
	}
	room := map[bool]int{false: min(troubled, maxTaskRows), true: max(0, maxTaskRows-troubled)}
	for _, t := range r.Tasks {
		if room[t.clean()]--; room[t.clean()] < 0 {
			continue
		}
		v := taskView{ID: brief(t.ID, 40), Title: brief(t.Title, 80), Tier: brief(t.Tier, 20), Clean: t.clean()}
		for _, c := range t.Cells {
			cell := cellView{Text: fmt.Sprintf("%d/%d · %s steps", c.Solved, c.Scored, mean(c.MeanSteps))}
			if c.Scored == 0 {
				cell.Text = "no result"
			}
			if len(c.Episodes) == 0 {
				cell.Text = "–"
			}
			for _, i := range c.Episodes {
				if single {
					cell.Marks = append(cell.Marks, mark(r.Episodes[i], linked[i]))
				}
			}
			v.Cells = append(v.Cells, cell)
		}
		views = append(views, v)
	}
	return views
}

// outcome is the sign and class of an episode, and its ending in words.
func (e Episode) outcome() (sign, class, words string) {
	switch {
	case e.Excluded != "":
		return "!", "z", e.Excluded
	case e.Solved:
		return "✓", "y", "solved"
	}
	return "✗", "x", "not solved"
}

func mark(e Episode, link bool) markView {
	sign, class, words := e.outcome()
	v := markView{Class: class, Sign: sign, Title: fmt.Sprintf("trial %d: %s in %s", e.Trial, words, plural(e.Steps, "step"))}
	if link {
		v.Anchor = e.anchor
	}
	return v
}

type failureView struct {
	Name, Count, More string
	Open              bool
	Items             []failureItem
}

type failureItem struct {
	Anchor, Task, Status, Why string
	Trial                     int
}

// unsolved are the episodes of each candidate that were not solved, as indices:
// the model's failures first, then those without a result.
func (r Report) unsolved() map[string][]int {
	by := map[string][]int{}
	for _, own := range []int{rankFailed, rankExcluded} {
		for i := range r.Episodes {
			if e := &r.Episodes[i]; rank(e) == own {
				by[e.Candidate] = append(by[e.Candidate], i)
			}
		}
	}
	return by
}

// unsolvedCount is how many episodes of a candidate were not solved, and why
// those without a result have none.
func (c Candidate) unsolvedCount(n int) string {
	count := plural(n, "episode") + " not solved"
	// Episodes without a row are not among them.
	if why := withoutResult(ledger.Outcomes{InfraErrors: c.InfraErrors, HarnessErrors: c.HarnessErrors, BudgetStops: c.BudgetStops, Unfinished: c.Interrupted}); why != "" {
		count += ", without a result: " + why
	}
	return count
}

func failureViews(r Report, linked map[int]bool) (views []failureView) {
	unsolved := r.unsolved()
	for _, c := range r.Candidates {
		failed := unsolved[c.Name]
		if len(failed) == 0 {
			continue
		}
		v := failureView{Name: brief(c.Name, 80), Count: c.unsolvedCount(len(failed)), Open: len(failed) <= 12}
		for at, i := range failed {
			if at == maxFailures {
				v.More = fmt.Sprintf("and %d more, in the ledger", len(failed)-at)
				break
			}
			e := r.Episodes[i]
			item := failureItem{Task: brief(e.Task, 40), Status: brief(e.ending(), 80), Why: clip(e.Failure, 300), Trial: e.Trial}
			if linked[i] {
				item.Anchor = e.anchor
			}
			v.Items = append(v.Items, item)
		}
		views = append(views, v)
	}
	return views
}

// ending is the status with the stop reason or what excluded the episode.
func (e Episode) ending() string { return join(": ", e.Status, join(", ", e.StopReason, e.Excluded)) }
