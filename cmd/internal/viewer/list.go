package viewer

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// listView is the list of runs.
type listView struct {
	Title, Folder, Query, Suite, Count, Older string
	Suites, Trends                            []string // of the folder; those that have a trend
	Rows                                      []rowView
	Live, Comparable                          bool
}

type rowView struct {
	run
	When, Cost, Candidates, Share string
	Sign, Word                    string // of the verdict
	IsBaseline, IsNew             bool   // chosen for the comparison
}

// list serves the list of runs.
func (v *viewer) list(w http.ResponseWriter, r *http.Request) {
	all, older, err := v.runs()
	if err != nil {
		v.problem(w, http.StatusInternalServerError, "The runs cannot be listed", err.Error())
		return
	}
	query, suite := words.Clip(r.FormValue("q"), 200), r.FormValue("suite")
	page := listView{Title: "Runs", Folder: words.Clip(filepath.Clean(v.Runs), 200), Query: query}
	terms := strings.Fields(strings.ToLower(query))
	timed := map[string]int{}
	for _, found := range all {
		if found.timed() {
			if timed[found.Suite]++; timed[found.Suite] == 2 {
				page.Trends = append(page.Trends, found.Suite)
			}
		}
		if found.Suite != "" && !slices.Contains(page.Suites, found.Suite) {
			page.Suites = append(page.Suites, found.Suite)
		}
		if row := rowOf(found); (suite == "" || found.Suite == suite) && row.matches(terms) {
			page.Live = page.Live || found.Running()
			page.Rows = append(page.Rows, row)
		}
	}
	slices.Sort(page.Suites)
	slices.Sort(page.Trends)
	if slices.Contains(page.Suites, suite) {
		page.Suite = suite
	}
	page.Comparable = preselect(page.Rows)
	page.Count = words.Plural(len(page.Rows), "run")
	if len(page.Rows) != len(all) {
		page.Count = words.Thousands(int64(len(page.Rows))) + " of " + words.Plural(len(all), "run")
	}
	if older > 0 {
		page.Older = words.Plural(older, "older run") + " not listed."
	}
	render(w, http.StatusOK, "list.html.tmpl", page)
}

// preselect chooses the newest run that has ended, and the one before it, of its suite if
// there is one. It returns false if there are no two.
func preselect(rows []rowView) bool {
	newest := slices.IndexFunc(rows, func(r rowView) bool { return r.Ended() })
	if newest < 0 {
		return false
	}
	rows[newest].IsNew = true
	before := -1
	for i := len(rows) - 1; i > newest; i-- {
		if rows[i].Ended() && (before < 0 || rows[i].Suite == rows[newest].Suite || rows[before].Suite != rows[newest].Suite) {
			before = i
		}
	}
	if before >= 0 {
		rows[before].IsBaseline = true
	}
	return before >= 0
}

func rowOf(r run) rowView {
	row := rowView{run: r, When: r.Date.Format("2006-01-02 15:04"), Candidates: words.Brief(strings.Join(r.Candidates, ", "), 120), Cost: words.Dollars(r.Cost)}
	if !r.Reported {
		row.Cost = "–"
	}
	if r.Scored > 0 && r.Ended() {
		row.Share = words.Thousands(int64(r.Solved)) + " of " + words.Thousands(int64(r.Scored))
	}
	switch r.Verdict {
	case stat.Pass, stat.Fail, stat.Inconclusive:
		row.Sign, row.Word = words.Sign(r.Verdict), words.Word(r.Verdict)
	default:
		row.Verdict = ""
	}
	return row
}

// matches says that the row contains every term, in any case of letters.
func (r rowView) matches(terms []string) bool {
	text := strings.ToLower(strings.Join([]string{r.ID, r.When, r.Suite, r.Mode, r.Status, r.Word, r.Problem, strings.Join(r.run.Candidates, " ")}, "\n"))
	for _, t := range terms {
		if !strings.Contains(text, t) {
			return false
		}
	}
	return true
}

// ISO is the date for programs.
func (r rowView) ISO() string { return r.Date.Format(time.RFC3339) }
