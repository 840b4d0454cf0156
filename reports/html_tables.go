package reports

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cupel-eval/cupel/reports/stat"
)

type overviewRow struct {
	Label string
	Cells []overviewCell
}

type overviewCell struct {
	Text string
	Long bool // may break into lines
}

// measure is a row of the overview.
type measure struct {
	label string
	long  bool
	of    func(Candidate) string
}

// shown leaves out rows that are for trouble or for several trials, where there is
// none and only one.
func (m measure) shown(r Report) bool {
	switch m.label {
	case labelHarness, labelBudget, labelUnfinished:
		return slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return m.of(c) != "0" })
	case labelCalls, labelOverlap:
		return slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.Work != nil })
	case labelRevisions, labelPlanSteps, labelItems:
		return slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.Work != nil && c.Work.Planned > 0 })
	case labelPassAt, labelPassAll:
		return slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.PassAt != nil })
	}
	if slices.ContainsFunc(extraLabels(), func(label string) bool { return label == m.label }) {
		return slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return m.of(c) != "0" })
	}
	return true
}

const (
	labelHarness    = "Harness errors"
	labelBudget     = "Budget stops"
	labelUnfinished = "Unfinished"
	labelPassAt     = "Solved at least once (pass@k)"
	labelPassAll    = "Solved every time (pass^k)"
	labelCalls      = "Tool calls of a turn that calls"
	labelOverlap    = "Under way at a time"
	labelRevisions  = "Changes of a plan"
	labelPlanSteps  = "Steps of a plan"
	labelItems      = "Most items of one step"
)

// measures are the rows of the overview, shared with the Markdown report.
func measures() []measure {
	all := []measure{
		{"Solved", false, func(c Candidate) string { return c.Success.text() }},
		{"Solved, interval", false, func(c Candidate) string { return c.Success.interval() }},
		{labelPassAt, false, func(c Candidate) string { return c.PassAt.text() }},
		{labelPassAll, false, func(c Candidate) string { return c.PassAll.text() }},
		{"Cost", false, func(c Candidate) string { return c.Metrics.cost() }},
		{"Cost per solved", false, func(c Candidate) string { return dollarsOf(c.CostPerSolved) }},
		{"Tokens in", false, func(c Candidate) string { return count(c.TokensIn) }},
		{"Tokens out", false, func(c Candidate) string { return count(c.TokensOut) }},
		{"Tokens from cache", false, func(c Candidate) string { return count(c.TokensCacheRead) }},
		{"Tokens of reasoning", false, func(c Candidate) string { return count(c.TokensReasoning) }},
		{"Latency p50 of a turn", false, func(c Candidate) string { return c.Latency.median() }},
		{"Latency p95 of a turn", false, func(c Candidate) string { return c.Latency.tail() }},
		{"Episodes with thrash", false, func(c Candidate) string { return c.Thrash.text() }},
		{"Episodes with a stall", false, func(c Candidate) string { return c.Stall.text() }},
		{"Turns repaired", false, func(c Candidate) string { return c.Repaired.text() }},
		{"Turns cut off", false, func(c Candidate) string { return strconv.Itoa(c.Truncated) }},
		{"Turns without a reply", false, func(c Candidate) string { return strconv.Itoa(c.ErrorTurns) }},
		{labelCalls, false, func(c Candidate) string { return c.Work.callsPerTurn() }},
		{labelOverlap, false, func(c Candidate) string { return c.Work.overlap() }},
		{labelRevisions, false, func(c Candidate) string { return plans(c.Work, func(w *Work) []stat.Count { return w.Revisions }) }},
		{labelPlanSteps, false, func(c Candidate) string { return plans(c.Work, func(w *Work) []stat.Count { return w.Steps }) }},
		{labelItems, false, func(c Candidate) string { return plans(c.Work, func(w *Work) []stat.Count { return w.Items }) }},
		{"Infrastructure errors", false, func(c Candidate) string { return strconv.Itoa(c.InfraErrors) }},
		{labelHarness, false, func(c Candidate) string { return strconv.Itoa(c.HarnessErrors) }},
		{labelBudget, false, func(c Candidate) string { return strconv.Itoa(c.BudgetStops) }},
		{labelUnfinished, false, func(c Candidate) string { return strconv.Itoa(c.Interrupted + c.Unfinished) }},
		{"Brier score of confidence", false, func(c Candidate) string {
			if c.Brier == nil {
				return "–"
			}
			return fmt.Sprintf("%.3f", *c.Brier)
		}},
		{"Endings", true, func(c Candidate) string { return list(c.Statuses, 8) }},
		{"Violations", true, func(c Candidate) string { return list(c.Violations, 8) }},
	}
	at := slices.IndexFunc(all, func(m measure) bool { return m.label == labelCalls })
	for i, k := range extraKinds() {
		all = slices.Insert(all, at+i, measure{k.label, false, func(c Candidate) string { return c.Metrics.extra(k.name) }})
	}
	return all
}

func overview(r Report) (rows []overviewRow) {
	for _, m := range measures() {
		row := overviewRow{Label: m.label}
		if !m.shown(r) {
			continue
		}
		for _, c := range r.Candidates {
			text := m.of(c)
			row.Cells = append(row.Cells, overviewCell{text, m.long || len(text) > 32})
		}
		rows = append(rows, row)
	}
	return rows
}
