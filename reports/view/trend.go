package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/trend"
	"github.com/cupel-eval/cupel/reports/words"
)

const (
	// recentRuns is how many runs ago the alarm of a change is news.
	recentRuns = 5
	// FewRuns is the smallest number of runs that can raise an alarm: see level.Shifts.
	FewRuns = 12
)

// TrendMetric is how a metric of a trend is spoken of.
type TrendMetric struct {
	Name, Title string
	// Of a candidate: "strong solved", "cost of an episode by strong".
	Of     func(candidate string) string
	Format func(v float64) string
	// more is better.
	more bool
}

// TrendMetrics are in the order in which they matter.
func TrendMetrics() []TrendMetric {
	said := func(what string) func(string) string {
		return func(candidate string) string { return what + " of " + candidate }
	}
	return []TrendMetric{
		{trend.Solved, "episodes solved", said("share solved"), words.Percent, true},
		{trend.Valid, "valid first outputs", said("share of valid first outputs"), words.Percent, true},
		{trend.Steps, "steps of a solved episode", said("mean steps of solved episodes"), func(v float64) string { return words.Trimmed(v, 2) }, false},
		{trend.Cost, "cost of an episode", said("mean cost of an episode"), words.USD, false},
		{trend.Latency, "median turn", said("median turn"), words.Duration, false},
	}
}

// Shift is a change of a trend with what it is of.
type Shift struct {
	TrendMetric
	trend.Change
	Series *trend.Series
}

// Shifts are all changes, the newest alarm first, and of one night those that matter most.
func Shifts(r *model.Report) (list []Shift) {
	for _, m := range TrendMetrics() {
		for i := range r.Trend {
			if s := &r.Trend[i]; s.Metric == m.Name {
				for _, c := range s.Changes {
					list = append(list, Shift{m, c, s})
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Shift) int { return b.alarmed().Compare(a.alarmed()) })
	return list
}

func (c Shift) began() time.Time { return c.Series.Points[c.At].Started }

func (c Shift) alarmed() time.Time { return c.Series.Points[c.Detected].Started }

// Better says that the change is for the better.
func (c Shift) Better() bool { return c.After > c.Before == c.more }

// Text is "share solved of strong fell from 97% to 88% on 3 Nov 2026".
func (c Shift) Text() string {
	verb := "fell"
	if c.After > c.Before {
		verb = "rose"
	}
	return fmt.Sprintf("%s %s from %s to %s on %s%s", c.Of(words.Brief(c.Series.Candidate, 40)), verb, c.Format(c.Before), c.Format(c.After),
		words.Day(c.began()), c.purpose())
}

// Alarm is "alarm on 5 Nov 2026".
func (c Shift) Alarm() string { return "alarm on " + words.Day(c.alarmed()) }

func (c Shift) purpose() string {
	if len(c.With) == 0 {
		return ""
	}
	return ", with a changed " + strings.Join(c.With, " and ")
}

// maxChanges bounds the table of changes.
const maxChanges = 100

// trendSection are the news and all changes of level; it has no table without a change.
func trendSection(r model.Report) Section {
	s := Section{ID: "trend", Title: "Trend", Intro: "This run and the past runs of the same suite.", Label: "trend", Lines: news(&r)}
	if slices.ContainsFunc(r.Figures, func(f model.Figure) bool { return f.Name == model.FigTrend }) {
		s.Figure = model.FigTrend
	}
	if rows := changeRows(r); rows != nil {
		s.Tables = []Table{{Label: "Table of changes", Caption: "Changes of level", Rows: rows, Columns: []Column{
			{Name: "Candidate", Mark: "bdi", Head: true}, {Name: "Metric"}, {Name: "Changed in run", Mark: "code"}, {Name: "Before", Class: "n"}, {Name: "After", Class: "n"},
			{Name: "Alarm"}, {Name: "Score ≥ limit", Class: "n"}, {Name: "Configuration change"},
		}}}
	}
	return s
}

func changeRows(r model.Report) (rows [][]Cell) {
	const minute = "2006-01-02 15:04"
	for _, s := range r.Trend {
		for _, c := range s.Changes {
			if c.At < 0 || c.At > c.Detected || c.Detected >= len(s.Points) || len(rows) == maxChanges {
				continue
			}
			p := s.Points[c.At]
			rows = append(rows, []Cell{
				{Text: words.Brief(s.Candidate, 60)}, {Text: words.Brief(s.Metric, 40)}, {Text: words.Brief(p.RunID, 40), Small: p.Started.UTC().Format(minute)},
				{Text: words.Significant(c.Before)}, {Text: words.Significant(c.After)}, {Text: s.Points[c.Detected].Started.UTC().Format(minute)},
				{Text: words.Trimmed(c.Evidence, 2) + " ≥ " + words.Trimmed(c.Limit, 2)}, {Text: words.Brief(cmp.Or(words.Join(", ", c.With...), "none known"), 80)},
			})
		}
	}
	return rows
}

// news are the changes whose alarm was raised in the last few runs, in words: a series
// has had no more than a few points since.
func news(r *model.Report) (lines []string) {
	for _, c := range Shifts(r) {
		if c.Detected < len(c.Series.Points)-recentRuns {
			continue
		}
		says := "worse"
		if c.Better() {
			says = "better"
		}
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", says, c.Text(), c.Alarm()))
	}
	const most = 5
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more changes", more))
	}
	return lines
}
