package html

import (
	"fmt"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// clusterRow is a cluster as the page shows it.
type clusterRow struct {
	view.ClusterView
	Share string // of the largest, in percent
	Href  string // leads to the shortest episode
}

// clusterRows lists the largest clusters, in the report's order.
func clusterRows(r model.Report, linked links) (rows []clusterRow, more string) {
	most := 1
	for _, c := range r.Clusters {
		most = max(most, len(c.Episodes))
	}
	size := map[int]int{} // by the shortest episode, which is in no other
	for _, c := range r.Clusters {
		size[c.Shortest] = len(c.Episodes)
	}
	for _, v := range view.ClusterViews(r) {
		rows = append(rows, clusterRow{v, words.Trimmed(100*float64(size[v.At])/float64(most), 1), linked[v.At]})
	}
	if n := len(r.Clusters) - len(rows); n > 0 {
		more = fmt.Sprintf("%s are in report.json.", words.Plural(n, "more cluster"))
	}
	return rows, more
}

// changeView is a change of level in past runs.
type changeView struct{ Candidate, Metric, Run, Started, Before, After, Alarm, Evidence, With string }

// maxChanges bounds the table of changes.
const maxChanges = 100

func changeViews(r model.Report) (views []changeView) {
	for _, s := range r.Trend {
		for _, c := range s.Changes {
			if c.At < 0 || c.At > c.Detected || c.Detected >= len(s.Points) || len(views) == maxChanges {
				continue
			}
			p := s.Points[c.At]
			with := "nothing known"
			if len(c.With) > 0 {
				with = words.Join(", ", c.With...)
			}
			views = append(views, changeView{
				words.Brief(s.Candidate, 60), words.Brief(s.Metric, 40), words.Brief(p.RunID, 40), p.Started.UTC().Format("2006-01-02 15:04"),
				words.Significant(c.Before), words.Significant(c.After), s.Points[c.Detected].Started.UTC().Format("2006-01-02 15:04"),
				words.Trimmed(c.Evidence, 2) + " ≥ " + words.Trimmed(c.Limit, 2), words.Brief(with, 80),
			})
		}
	}
	return views
}

type failureView struct {
	Name, Count, More string
	Open              bool
	Items             []failureItem
}

type failureItem struct {
	Href, Task, Status, Why string
	Trial                   int
}

// failureViews lists what each candidate did not solve.
func failureViews(r model.Report, linked links) (views []failureView) {
	for _, c := range view.Failures(r) {
		v := failureView{Name: words.Brief(c.Name, 80), Count: c.Count, Open: len(c.Episodes) <= 12 && len(r.Clusters) == 0}
		for at, i := range c.Episodes {
			if at == maxFailures {
				v.More = fmt.Sprintf("and %d more, in the ledger", len(c.Episodes)-at)
				break
			}
			e := r.Episodes[i]
			v.Items = append(v.Items, failureItem{linked[i], words.Brief(e.Task, 40), words.Brief(view.Ending(e), 80), words.Clip(e.Failure, 300), e.Trial})
		}
		views = append(views, v)
	}
	return views
}
