package reports

import (
	"fmt"
	"math"
	"strconv"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// clusterRow is a cluster as the page shows it.
type clusterRow struct {
	clusterView
	Share string // of the largest, in percent
	Href  string // leads to the shortest episode
}

// clusterRows lists the largest clusters, in the report's order.
func clusterRows(r Report, linked links) (rows []clusterRow, more string) {
	most := 1
	for _, c := range r.Clusters {
		most = max(most, len(c.Episodes))
	}
	size := map[int]int{} // by the shortest episode, which is in no other
	for _, c := range r.Clusters {
		size[c.Shortest] = len(c.Episodes)
	}
	for _, v := range clusterViews(r) {
		rows = append(rows, clusterRow{v, trimmed(100*float64(size[v.At])/float64(most), 1), linked[v.At]})
	}
	if n := len(r.Clusters) - len(rows); n > 0 {
		more = fmt.Sprintf("%s are in report.json.", plural(n, "more cluster"))
	}
	return rows, more
}

// changeView is a change of level in past runs.
type changeView struct{ Candidate, Metric, Run, Started, Before, After, Alarm, Evidence, With string }

// maxChanges bounds the table of changes.
const maxChanges = 100

func changeViews(r Report) (views []changeView) {
	for _, s := range r.Trend {
		for _, c := range s.Changes {
			if c.At < 0 || c.At > c.Detected || c.Detected >= len(s.Points) || len(views) == maxChanges {
				continue
			}
			p := s.Points[c.At]
			with := "nothing known"
			if len(c.With) > 0 {
				with = join(", ", c.With...)
			}
			views = append(views, changeView{
				brief(s.Candidate, 60), brief(s.Metric, 40), brief(p.RunID, 40), p.Started.UTC().Format("2006-01-02 15:04"),
				significant(c.Before), significant(c.After), s.Points[c.Detected].Started.UTC().Format("2006-01-02 15:04"),
				trimmed(c.Evidence, 2) + " ≥ " + trimmed(c.Limit, 2), brief(with, 80),
			})
		}
	}
	return views
}

// significant writes v with three significant digits, and all that are whole.
func significant(v float64) string {
	if math.Abs(v) >= 1000 && math.Abs(v) < 1e15 {
		return thousands(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
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
	if why := withoutResult(manifest.Outcomes{InfraErrors: c.InfraErrors, HarnessErrors: c.HarnessErrors, BudgetStops: c.BudgetStops, Unfinished: c.Interrupted}); why != "" {
		count += ", without a result: " + why
	}
	return count
}

// failureViews lists what each candidate did not solve.
func failureViews(r Report, linked links) (views []failureView) {
	unsolved := r.unsolved()
	for _, c := range r.Candidates {
		failed := unsolved[c.Name]
		if len(failed) == 0 {
			continue
		}
		v := failureView{Name: brief(c.Name, 80), Count: c.unsolvedCount(len(failed)), Open: len(failed) <= 12 && len(r.Clusters) == 0}
		for at, i := range failed {
			if at == maxFailures {
				v.More = fmt.Sprintf("and %d more, in the ledger", len(failed)-at)
				break
			}
			e := r.Episodes[i]
			v.Items = append(v.Items, failureItem{linked[i], brief(e.Task, 40), brief(e.ending(), 80), clip(e.Failure, 300), e.Trial})
		}
		views = append(views, v)
	}
	return views
}

// ending is the status with the stop reason or what excluded the episode.
func (e Episode) ending() string { return join(": ", e.Status, join(", ", e.StopReason, e.Excluded)) }
