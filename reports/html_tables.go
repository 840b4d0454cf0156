package reports

import (
	"fmt"
	"slices"
	"strconv"
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
	case labelPassAt, labelPassAll:
		return slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.PassAt != nil })
	}
	return true
}

const (
	labelHarness    = "Harness errors"
	labelBudget     = "Budget stops"
	labelUnfinished = "Unfinished"
	labelPassAt     = "Solved at least once (pass@k)"
	labelPassAll    = "Solved every time (pass^k)"
)

// measures are the rows of the overview, shared with the Markdown report.
func measures() []measure {
	return []measure{
		{"Solved", false, func(c Candidate) string { return c.Success.text() }},
		{"Solved, interval", false, func(c Candidate) string { return c.Success.interval() }},
		{labelPassAt, false, func(c Candidate) string { return c.PassAt.text() }},
		{labelPassAll, false, func(c Candidate) string { return c.PassAll.text() }},
		{"Cost", false, func(c Candidate) string { return c.cost() }},
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
		{"Reflect turns", false, func(c Candidate) string { return c.extra("reflect") }},
		{"Rescue turns", false, func(c Candidate) string { return c.extra("rescue") }},
		{"Compress turns", false, func(c Candidate) string { return c.extra("compress") }},
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
