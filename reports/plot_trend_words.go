package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// trendTitle is the change of the newest alarm; empty without a trend.
func (r *Report) trendTitle() string {
	if len(r.Trend) == 0 {
		return ""
	}
	list := r.shifts()
	if len(list) == 0 {
		runs, first := r.trendRuns()
		if len(runs) < fewRuns {
			return fmt.Sprintf("%d runs since %s are too few to show a change of trend", len(runs), first.Format(time.DateOnly))
		}
		return fmt.Sprintf("No change of trend in %d runs since %s", len(runs), first.Format(time.DateOnly))
	}
	title := upperFirst(list[0].text())
	if more := len(list) - 1; more > 0 {
		title += fmt.Sprintf(", and %s", plural(more, "more change"))
	}
	return title
}

// trendAlt lists all changes in words, and where each series is now.
func (r *Report) trendAlt() string {
	runs, first := r.trendRuns()
	parts := []string{fmt.Sprintf("%s since %s", plural(len(runs), "run"), first.Format(time.DateOnly))}
	for _, c := range r.shifts() {
		parts = append(parts, fmt.Sprintf("%s (%s, evidence %s, limit %s)", c.text(), c.alarm(), trimmed(c.Evidence, 2), trimmed(c.Limit, 2)))
	}
	if len(parts) == 1 {
		parts = append(parts, "no change found")
	}
	for _, m := range trendMetrics() {
		for _, s := range r.Trend {
			if s.Metric == m.name {
				parts = append(parts, fmt.Sprintf("%s now %s", m.of(brief(s.Candidate, 40)), m.format(s.Points[len(s.Points)-1].Value)))
			}
		}
	}
	const most = 40
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("and %d more", more))
	}
	return "Trend: " + strings.Join(parts, "; ") + "."
}

// trendRun is a place on the axis of time.
type trendRun struct {
	id      string
	started time.Time
}

// trendRuns are the runs of all series in the order of time.
func (r *Report) trendRuns() (runs []trendRun, first time.Time) {
	for _, s := range r.Trend {
		for _, p := range s.Points {
			runs = append(runs, trendRun{p.RunID, p.Started})
		}
	}
	slices.SortFunc(runs, compareTrendRuns)
	runs = slices.Compact(runs)
	if len(runs) > 0 {
		first = runs[0].started
	}
	return runs, first
}

func compareTrendRuns(a, b trendRun) int {
	return cmp.Or(a.started.Compare(b.started), cmp.Compare(a.id, b.id))
}
