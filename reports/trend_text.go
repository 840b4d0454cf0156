package reports

import (
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
