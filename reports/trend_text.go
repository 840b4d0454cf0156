package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/reports/trend"
)

const (
	// recentRuns is how many runs ago the alarm of a change is news.
	recentRuns = 5
	// fewRuns is the smallest number of runs that can raise an alarm: see stat.LevelShifts.
	fewRuns = 12
)

// trendMetric is how a metric of a trend is spoken of.
type trendMetric struct {
	name, title string
	// of a candidate: "strong solved", "cost of an episode by strong".
	of     func(candidate string) string
	format func(v float64) string
	// more is better.
	more bool
}

// trendMetrics are in the order in which they matter.
func trendMetrics() []trendMetric {
	said := func(what string) func(string) string {
		return func(candidate string) string { return what + " of " + candidate }
	}
	return []trendMetric{
		{trend.Solved, "episodes solved", said("share solved"), percent, true},
		{trend.Valid, "valid first outputs", said("share of valid first outputs"), percent, true},
		{trend.Steps, "steps of a solved episode", said("mean steps of solved episodes"), func(v float64) string { return trimmed(v, 2) }, false},
		{trend.Cost, "cost of an episode", said("mean cost of an episode"), usd, false},
		{trend.Latency, "median turn", said("median turn"), duration, false},
	}
}

// shift is a change of a trend with what it is of.
type shift struct {
	trendMetric
	trend.Change
	series *trend.Series
}

// shifts are all changes, the newest alarm first, and of one night those that matter most.
func (r *Report) shifts() (list []shift) {
	for _, m := range trendMetrics() {
		for i := range r.Trend {
			if s := &r.Trend[i]; s.Metric == m.name {
				for _, c := range s.Changes {
					list = append(list, shift{m, c, s})
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b shift) int { return b.alarmed().Compare(a.alarmed()) })
	return list
}

func (c shift) began() time.Time { return c.series.Points[c.At].Started }

func (c shift) alarmed() time.Time { return c.series.Points[c.Detected].Started }

func (c shift) better() bool { return c.After > c.Before == c.more }

// text is "share solved of strong fell from 97% to 88% on 2026-11-03".
func (c shift) text() string {
	verb := "fell"
	if c.After > c.Before {
		verb = "rose"
	}
	return fmt.Sprintf("%s %s from %s to %s on %s%s", c.of(brief(c.series.Candidate, 40)), verb, c.format(c.Before), c.format(c.After),
		c.began().Format(time.DateOnly), c.purpose())
}

// alarm is "alarm on 2026-11-05".
func (c shift) alarm() string { return "alarm on " + c.alarmed().Format(time.DateOnly) }

func (c shift) purpose() string {
	if len(c.With) == 0 {
		return ""
	}
	return ", with a changed " + strings.Join(c.With, " and ")
}

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

// news are the changes whose alarm was raised in the last few runs, in words: a series
// has had no more than a few points since.
func (r *Report) news() (lines []string) {
	for _, c := range r.shifts() {
		if c.Detected < len(c.series.Points)-recentRuns {
			continue
		}
		says := "worse"
		if c.better() {
			says = "better"
		}
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", says, c.text(), c.alarm()))
	}
	const most = 5
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more changes", more))
	}
	return lines
}

// trend tells the news below the candidates' verdicts.
func (b *budget) trend(r Report) {
	for _, line := range r.news() {
		b.line("- Trend, %s", md(clip(line, 300)))
	}
}

// trendNews tells the news in a terminal.
func trendNews(b *strings.Builder, r Report, width int) {
	for _, line := range r.news() {
		wrapped(b, "trend: ", line, width)
	}
}
