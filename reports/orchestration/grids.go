package orchestration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/words"
)

// Candidate is a candidate with its totals.
type Candidate struct {
	Name string
	Totals
}

// Grid is a table of texts. The first Texts columns are texts of others, the rest numbers.
type Grid struct {
	Caption string
	Columns []string
	Texts   int
	Rows    [][]string
}

// maxRows bounds the rows of a grid.
const maxRows = 40

// counter counts by column, and adds up a time.
type counter struct {
	by    map[string]int
	all   int
	time  int64
	timed int
}

func (c *counter) add(column string, n int) {
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[column] += n
	c.all += n
}

// mean is the mean time.
func (c *counter) mean() string {
	if c.timed == 0 {
		return "–"
	}
	return words.Duration(float64(c.time) / float64(c.timed))
}

// answers and states are the columns of requests and tasks in their order. Words that are not
// known count as the last one.
var (
	answers = [][2]string{{"approve", "Approved"}, {"deny", "Denied"}, {"feedback", "Feedback"}, {"select", "Chosen"}, {"skip", "Skipped"}, {"answer", "Answered"}, {"", "No answer"}, {"other", "Other"}}
	states  = [][2]string{{"succeeded", "Succeeded"}, {"failed", "Failed"}, {"blocked", "Blocked"}, {"cancelled", "Cancelled"}, {"planned", "Not started"}, {"running", "Running at the end"}, {"other", "Other"}}
)

func columnOf(list [][2]string, word string) string {
	for _, c := range list {
		if c[0] == word {
			return c[1]
		}
	}
	return list[len(list)-1][1]
}

// counts lays counters out: a row for each with one of its texts, a column for each word that
// occurs, and the mean time unless all of it is 0.
func counts(g Grid, list [][2]string, all, mean string, rows []counter, texts [][]string) Grid {
	g.Texts = len(g.Columns)
	g.Columns = append(g.Columns, all)
	g.Rows = texts
	for i := range g.Rows {
		g.Rows[i] = append(g.Rows[i], words.Thousands(int64(rows[i].all)))
	}
	for _, c := range list {
		if !slices.ContainsFunc(rows, func(r counter) bool { return r.by[c[1]] > 0 }) {
			continue
		}
		g.Columns = append(g.Columns, c[1])
		for i := range g.Rows {
			g.Rows[i] = append(g.Rows[i], words.Thousands(int64(rows[i].by[c[1]])))
		}
	}
	if !slices.ContainsFunc(rows, func(r counter) bool { return r.time > 0 }) {
		return g
	}
	g.Columns = append(g.Columns, mean)
	for i := range g.Rows {
		g.Rows[i] = append(g.Rows[i], rows[i].mean())
	}
	return g
}

func (c *counter) request(r RequestTotal) {
	if c.add(columnOf(answers, r.Say), r.N); r.Say != "" {
		c.time, c.timed = c.time+r.WaitUs, c.timed+r.N
	}
}

func (c *counter) task(t TaskTotal) {
	if c.add(columnOf(states, t.State), t.N); t.State == "succeeded" || t.State == "failed" || t.State == "blocked" {
		c.time, c.timed = c.time+t.TimeUs, c.timed+t.N
	}
}

// Grids are the tables of a report: what people were asked by candidate and by request, tasks,
// and sub-agents by role; only those with rows.
func Grids(all []Candidate) (grids []Grid) {
	var asked, tasks []counter
	var askers, workers [][]string
	agents := Grid{Caption: "Sub-agents by role", Columns: []string{"Candidate", "Role", "Agents", "Turns", "Tool calls", "Tokens", "Cost"}, Texts: 2}
	for _, c := range all {
		var a, t counter
		for _, r := range c.Requests {
			a.request(r)
		}
		for _, x := range c.Tasks {
			t.task(x)
		}
		if a.all > 0 {
			asked, askers = append(asked, a), append(askers, []string{c.Name})
		}
		if t.all > 0 {
			tasks, workers = append(tasks, t), append(workers, []string{c.Name})
		}
		for _, r := range c.Agents {
			agents.Rows = append(agents.Rows, []string{c.Name, words.Brief(r.Role, 40), words.Thousands(int64(r.Agents)), words.Thousands(int64(r.Turns)),
				words.Thousands(int64(r.Calls)), words.Count(r.Tokens), words.Dollars(r.Cost)})
		}
	}
	for _, g := range []Grid{
		counts(Grid{Caption: "Requests to people", Columns: []string{"Candidate"}}, answers, "Asked", "Mean wait", asked, askers),
		byRequest(all),
		counts(Grid{Caption: "Tasks by final state", Columns: []string{"Candidate"}}, states, "Tasks", "Mean time", tasks, workers),
		agents,
	} {
		if g.cut(); len(g.Rows) > 0 {
			grids = append(grids, g)
		}
	}
	return grids
}

// cut leaves out rows beyond the bound, and says so.
func (g *Grid) cut() {
	if more := len(g.Rows) - maxRows; more > 0 {
		g.Rows = g.Rows[:maxRows]
		g.Caption += fmt.Sprintf(" (%s in report.json)", words.Plural(more, "more row"))
	}
}

// byRequest counts requests over all candidates by what was asked, most first.
func byRequest(all []Candidate) Grid {
	by := map[[2]string]int{}
	var rows []counter
	var texts [][]string
	for _, c := range all {
		for _, r := range c.Requests {
			key := [2]string{asked(r.Kind, r.Tool), words.Brief(r.Severity, 20)}
			i, known := by[key]
			if !known {
				i = len(rows)
				by[key], rows, texts = i, append(rows, counter{}), append(texts, key[:])
			}
			rows[i].request(r)
		}
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rows[b].all, rows[a].all), slices.Compare(texts[a], texts[b]))
	})
	var sortedRows []counter
	var sortedTexts [][]string
	for _, i := range order {
		sortedRows, sortedTexts = append(sortedRows, rows[i]), append(sortedTexts, texts[i])
	}
	return counts(Grid{Caption: "Requests by what was asked", Columns: []string{"Request", "Severity"}}, answers, "Asked", "Mean wait", sortedRows, sortedTexts)
}

// Lines say in a line each how many sub-agents, tasks and requests there were.
func Lines(all []Candidate) (lines []string) {
	var agents, tasks, asked counter
	roles := [][2]string{}
	for _, c := range all {
		for _, a := range c.Agents {
			role := words.Brief(a.Role, 40)
			if agents.add(role, a.Agents); columnOf(append(roles, [2]string{}), role) == "" {
				roles = append(roles, [2]string{role, role})
			}
		}
		for _, t := range c.Tasks {
			tasks.task(t)
		}
		for _, r := range c.Requests {
			asked.request(r)
		}
	}
	for _, x := range []struct {
		counter
		noun string
		list [][2]string
	}{{agents, "sub-agent", roles}, {tasks, "task", states}, {asked, "request", answers}} {
		var parts []string
		for _, c := range x.list {
			if n := x.by[c[1]]; n > 0 {
				parts = append(parts, words.Thousands(int64(n))+" "+strings.ToLower(c[1]))
			}
		}
		if x.all > 0 {
			lines = append(lines, words.Plural(x.all, x.noun)+": "+strings.Join(parts[:min(len(parts), 8)], ", "))
		}
	}
	return lines
}
