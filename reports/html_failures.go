package reports

import (
	"fmt"
	"math"
	"strconv"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// clusterRow are failures that are alike.
type clusterRow struct {
	Kind, Signature, Count, Share string
	Candidates, Tasks             string
	// Href leads to the shortest episode, which Example names.
	Href, Example string
}

// maxClusterRows bounds the table of clusters.
const maxClusterRows = 60

// clusterRows lists the largest clusters of each kind in the report's order.
func clusterRows(r Report, linked links) (views []clusterRow, more string) {
	most := 1
	for _, c := range r.Clusters {
		most = max(most, len(c.Episodes))
	}
	for at, c := range r.Clusters {
		if at == maxClusterRows {
			return views, fmt.Sprintf("%s are in report.json.", plural(len(r.Clusters)-at, "more cluster"))
		}
		v := clusterRow{
			Kind: brief(string(c.Kind), 40), Signature: clip(c.Signature, 160), Count: thousands(int64(len(c.Episodes))),
			Share: trimmed(100*float64(len(c.Episodes))/float64(most), 1), Candidates: list(c.Candidates, 4), Tasks: list(c.Tasks, 4),
		}
		if c.Shortest >= 0 && c.Shortest < len(r.Episodes) {
			e := r.Episodes[c.Shortest]
			v.Href, v.Example = linked[c.Shortest], brief(e.Task, 40)+", "+plural(e.Steps, "step")
		}
		views = append(views, v)
	}
	return views, ""
}

// changeView is a change of level in past runs.
type changeView struct{ Candidate, Metric, Run, Started, Before, After, P, With string }

// maxChanges bounds the table of changes.
const maxChanges = 100

func changeViews(r Report) (views []changeView) {
	for _, s := range r.Trend {
		for _, c := range s.Changes {
			if c.At < 0 || c.At >= len(s.Points) || len(views) == maxChanges {
				continue
			}
			p := s.Points[c.At]
			with := "nothing known"
			if len(c.With) > 0 {
				with = join(", ", c.With...)
			}
			views = append(views, changeView{
				brief(s.Candidate, 60), brief(s.Metric, 40), brief(p.RunID, 40), p.Started.UTC().Format("2006-01-02 15:04"),
				significant(c.Before), significant(c.After), significant(c.P), brief(with, 80),
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
	if why := withoutResult(ledger.Outcomes{InfraErrors: c.InfraErrors, HarnessErrors: c.HarnessErrors, BudgetStops: c.BudgetStops, Unfinished: c.Interrupted}); why != "" {
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
