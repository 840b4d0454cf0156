package view

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/reports/labelling"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/scoring"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// maxScoreRows bounds the tables of scores and of labels.
const maxScoreRows = 200

// decimal is a number with three digits after the point at most.
func decimal(v *float64) string {
	if v == nil {
		return "–"
	}
	return words.Trimmed(*v, 3)
}

// decimalSpan is an interval in such numbers.
func decimalSpan(iv *stat.Interval) string {
	if iv == nil {
		return "–"
	}
	return words.Trimmed(iv.Low, 3) + " to " + words.Trimmed(iv.High, 3)
}

// checkName is the name of a check in a table.
func checkName(check string) string {
	if check == "" {
		return "solved"
	}
	return words.Brief(check, 80)
}

// scoreSection has the mean scores of programs and judges; it has no tables without any.
func scoreSection(r model.Report) Section {
	s := Section{
		ID: "scores", Title: "Scores", Fold: "Scores of programs and judges", Label: "score",
		Intro: "Mean of the scores that programs and judges gave, with an interval that is clustered by task. Scores are taken to lie from 0 to 1; if one lies beyond, none is taken to lie beyond those that were seen. " +
			"Passed is the share of episodes whose score is at least the least that passes, where a check has such a bound. Attacked episodes are left out.",
	}
	t := Table{Label: "Mean scores", Caption: "Mean scores", Columns: []Column{
		{Name: "Check", Head: true, Mark: "bdi"}, {Name: "Candidate", Mark: "bdi"}, {Name: "Mean", Class: "n"}, {Name: r.Intervals() + " CI", Class: "n"}, {Name: "Episodes", Class: "n"}, {Name: "Tasks", Class: "n"},
		{Name: "At least", Class: "n"}, {Name: "Passed", Class: "n"}, {Name: "Passed, " + r.Intervals() + " CI", Class: "n"},
	}}
	var checks []string
	of := map[string]map[string]scoring.Mean{}
	for _, c := range r.Candidates {
		for _, m := range c.Scores {
			if of[m.Check] == nil {
				of[m.Check] = map[string]scoring.Mean{}
				checks = append(checks, m.Check)
			}
			of[m.Check][c.Name] = m
		}
	}
	more := 0
	var mixed []string
	for _, check := range checks {
		for _, c := range r.Candidates {
			m, ok := of[check][c.Name]
			if !ok {
				continue
			}
			if len(t.Rows) == maxScoreRows {
				more++
				continue
			}
			t.Rows = append(t.Rows, scoreRow(c.Name, m))
			s.Lines = append(s.Lines, fmt.Sprintf("%s, %s: mean %s (%s), passed %s", words.Brief(c.Name, 80), checkName(check), decimal(m.Mean), decimalSpan(m.Interval), passedShare(m).Text()))
			if m.Scorers > 1 {
				mixed = append(mixed, fmt.Sprintf("%s of %s", checkName(check), words.Brief(c.Name, 80)))
			}
		}
	}
	if more > 0 {
		t.More = words.Plural(more, "more row")
	}
	if len(mixed) > 0 {
		s.Intro += " Scores of different programs, judges or rubrics are in one mean, and may not measure the same: " + strings.Join(mixed[:min(len(mixed), 5)], ", ") + "."
	}
	if len(t.Rows) > 0 {
		s.Tables = []Table{t}
	}
	return s
}

// passedShare is the share of episodes that passed a check.
func passedShare(m scoring.Mean) (s model.Share) {
	s.K, s.N, s.Interval = m.Passed, m.Scored(), m.PassedInterval
	if s.N > 0 {
		s.Value = new(float64(s.K) / float64(s.N))
	}
	return s
}

func scoreRow(candidate string, m scoring.Mean) []Cell {
	least := decimal(m.AtLeast)
	if m.AtLeastVaries {
		least = "varies"
	}
	passed := passedShare(m)
	return []Cell{
		{Text: checkName(m.Check)}, {Text: words.Brief(candidate, 80)}, {Text: decimal(m.Mean)}, {Text: decimalSpan(m.Interval)}, {Text: words.Thousands(int64(m.N))}, {Text: words.Thousands(int64(m.Clusters))},
		{Text: least}, {Text: passed.Rate()}, {Text: passed.IntervalText()},
	}
}

// labelSection says how far people agree with the automatic verdicts; it has no tables without labels.
func labelSection(r model.Report) Section {
	s := Section{
		ID: "labels", Title: "Labels of people", Fold: "Labels of people", Label: "labels",
		Intro: "How far the verdicts of people agree with the automatic ones, and with each other, over the labelled episodes. Cohen's kappa is the agreement beyond chance: 0 is that of raters who do not look, 1 that of raters who always agree. " +
			"Intervals are clustered by task; that of kappa is approximate. Labels change no verdict.",
	}
	t := Table{Label: "Agreement of labels", Caption: "Agreement of labels", Columns: []Column{
		{Name: "Check", Head: true, Mark: "bdi"}, {Name: "First", Mark: "bdi"}, {Name: "Second", Mark: "bdi"}, {Name: "Labels", Class: "n"}, {Name: "Agree", Class: "n"}, {Name: "Agree, " + r.Intervals() + " CI", Class: "n"},
		{Name: "Kappa", Class: "n"}, {Name: "Kappa, " + r.Intervals() + " CI", Class: "n"}, {Name: "Both pass", Class: "n"}, {Name: "Only first", Class: "n"}, {Name: "Only second", Class: "n"}, {Name: "Both fail", Class: "n"},
	}}
	for i, l := range r.Labels {
		if i == maxScoreRows {
			t.More = words.Plural(len(r.Labels)-i, "more row")
			break
		}
		count := func(n int) Cell { return Cell{Text: words.Thousands(int64(n))} }
		agree := agreeing(l)
		t.Rows = append(t.Rows, []Cell{
			{Text: checkName(l.Check)}, {Text: words.Brief(l.First, 80)}, {Text: words.Brief(l.Second, 80)}, count(l.N()), {Text: agree.Rate()}, {Text: agree.IntervalText()},
			{Text: decimal(l.Kappa)}, {Text: decimalSpan(l.KappaInterval)}, count(l.BothPass), count(l.OnlyA), count(l.OnlyB), count(l.BothFail),
		})
	}
	s.Lines = LabelLines(r.Labels)
	if len(t.Rows) > 0 {
		s.Tables = []Table{t}
	}
	return s
}

func agreeing(l labelling.Row) model.Share {
	return model.Share{K: l.BothPass + l.BothFail, N: l.N(), Value: l.Share, Interval: l.Interval}
}

// LabelLines says agreements, each in a line.
func LabelLines(list []labelling.Row) (lines []string) {
	for _, l := range list {
		agree := agreeing(l)
		lines = append(lines, fmt.Sprintf("%s, %s and %s: agree %s, CI %s; kappa %s (%s)", checkName(l.Check), words.Brief(l.First, 80), words.Brief(l.Second, 80), agree.Text(), agree.IntervalText(), decimal(l.Kappa), decimalSpan(l.KappaInterval)))
	}
	return lines
}
