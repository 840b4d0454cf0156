package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

// trendTitle is the change of the newest alarm; empty without a trend.
func trendTitle(r *model.Report) string {
	if len(r.Trend) == 0 {
		return ""
	}
	list := view.Shifts(r)
	if len(list) == 0 {
		runs, first := trendRuns(r)
		if len(runs) < view.FewRuns {
			return fmt.Sprintf("%d runs since %s are too few to show a change of trend", len(runs), words.Day(first))
		}
		return fmt.Sprintf("No change of trend in %d runs since %s", len(runs), words.Day(first))
	}
	title := words.UpperFirst(list[0].Text())
	if more := len(list) - 1; more > 0 {
		title += fmt.Sprintf(", and %s", words.Plural(more, "more change"))
	}
	return title
}

// trendAlt lists all changes in words, and where each series is now.
func trendAlt(r *model.Report) string {
	runs, first := trendRuns(r)
	parts := []string{fmt.Sprintf("%s since %s", words.Plural(len(runs), "run"), words.Day(first))}
	for _, c := range view.Shifts(r) {
		parts = append(parts, fmt.Sprintf("%s (%s, evidence %s, limit %s)", c.Text(), c.Alarm(), words.Trimmed(c.Evidence, 2), words.Trimmed(c.Limit, 2)))
	}
	if len(parts) == 1 {
		parts = append(parts, "no change found")
	}
	for _, m := range view.TrendMetrics() {
		for _, s := range r.Trend {
			if s.Metric == m.Name {
				parts = append(parts, fmt.Sprintf("%s now %s", m.Of(words.Brief(s.Candidate, 40)), m.Format(s.Points[len(s.Points)-1].Value)))
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
func trendRuns(r *model.Report) (runs []trendRun, first time.Time) {
	for _, s := range r.Trend {
		for _, p := range s.Points {
			runs = append(runs, trendRun{p.RunID, p.Started})
		}
	}
	slices.SortFunc(runs, func(a, b trendRun) int { return cmp.Or(a.started.Compare(b.started), cmp.Compare(a.id, b.id)) })
	runs = slices.Compact(runs)
	if len(runs) > 0 {
		first = runs[0].started
	}
	return runs, first
}
