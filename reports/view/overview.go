package view

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// measure is a row of the overview.
type measure struct {
	Label string
	long  bool
	Of    func(model.Candidate) string
}

// shown leaves out rows that are for trouble or for several trials, where there is
// none and only one.
func (m measure) shown(r model.Report) bool {
	switch m.Label {
	case labelHarness, labelBudget, labelUnfinished:
		return slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return m.Of(c) != "0" })
	case labelCalls, labelOverlap:
		return slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return c.Work != nil })
	case labelRevisions, labelPlanSteps, labelItems:
		return slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return c.Work != nil && c.Work.Planned > 0 })
	case labelPassAt, labelPassAll:
		return slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return c.PassAt != nil })
	}
	if slices.ContainsFunc(extraLabels(), func(label string) bool { return label == m.Label }) {
		return slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return m.Of(c) != "0" })
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

// measures are the rows of the overview.
func measures() []measure {
	all := []measure{
		{"Solved", false, func(c model.Candidate) string { return c.Success.Text() }},
		{"Solved, interval", false, func(c model.Candidate) string { return c.Success.IntervalText() }},
		{labelPassAt, false, func(c model.Candidate) string { return text(c.PassAt) }},
		{labelPassAll, false, func(c model.Candidate) string { return text(c.PassAll) }},
		{"Cost", false, func(c model.Candidate) string { return cost(c.Metrics) }},
		{"Cost per solved", false, func(c model.Candidate) string { return words.DollarsOf(c.CostPerSolved) }},
		{"Tokens in", false, func(c model.Candidate) string { return words.Count(c.TokensIn) }},
		{"Tokens out", false, func(c model.Candidate) string { return words.Count(c.TokensOut) }},
		{"Tokens from cache", false, func(c model.Candidate) string { return words.Count(c.TokensCacheRead) }},
		{"Tokens of reasoning", false, func(c model.Candidate) string { return words.Count(c.TokensReasoning) }},
		{"Latency p50 of a turn", false, func(c model.Candidate) string { return Median(c.Latency) }},
		{"Latency p95 of a turn", false, func(c model.Candidate) string { return tail(c.Latency) }},
		{"Episodes with thrash", false, func(c model.Candidate) string { return c.Thrash.Text() }},
		{"Episodes with a stall", false, func(c model.Candidate) string { return c.Stall.Text() }},
		{"Turns repaired", false, func(c model.Candidate) string { return c.Repaired.Text() }},
		{"Turns cut off", false, func(c model.Candidate) string { return strconv.Itoa(c.Truncated) }},
		{"Turns without a reply", false, func(c model.Candidate) string { return strconv.Itoa(c.ErrorTurns) }},
		{labelCalls, false, func(c model.Candidate) string { return callsPerTurn(c.Work) }},
		{labelOverlap, false, func(c model.Candidate) string { return overlap(c.Work) }},
		{labelRevisions, false, func(c model.Candidate) string {
			return plans(c.Work, func(w *model.Work) []stat.Count { return w.Revisions })
		}},
		{labelPlanSteps, false, func(c model.Candidate) string {
			return plans(c.Work, func(w *model.Work) []stat.Count { return w.Steps })
		}},
		{labelItems, false, func(c model.Candidate) string {
			return plans(c.Work, func(w *model.Work) []stat.Count { return w.Items })
		}},
		{"Infrastructure errors", false, func(c model.Candidate) string { return strconv.Itoa(c.InfraErrors) }},
		{labelHarness, false, func(c model.Candidate) string { return strconv.Itoa(c.HarnessErrors) }},
		{labelBudget, false, func(c model.Candidate) string { return strconv.Itoa(c.BudgetStops) }},
		{labelUnfinished, false, func(c model.Candidate) string { return strconv.Itoa(c.Interrupted + c.Unfinished) }},
		{"Brier score of confidence", false, func(c model.Candidate) string {
			if c.Brier == nil {
				return "–"
			}
			return fmt.Sprintf("%.3f", *c.Brier)
		}},
		{"Endings", true, func(c model.Candidate) string { return List(c.Statuses, 8) }},
		{"Violations", true, func(c model.Candidate) string { return List(c.Violations, 8) }},
	}
	at := slices.IndexFunc(all, func(m measure) bool { return m.Label == labelCalls })
	for i, k := range model.ExtraKinds() {
		all = slices.Insert(all, at+i, measure{k.Label, false, func(c model.Candidate) string { return extra(c.Metrics, k.Name) }})
	}
	return all
}

// overviewSection is the table of candidates side by side; rows of which there is nothing
// to say are left out.
func overviewSection(r model.Report) Section {
	t := Table{Label: "Overview table", Caption: "Measurements by candidate", Columns: []Column{{Head: true, Own: true}}}
	for _, c := range r.Candidates {
		t.Columns = append(t.Columns, Column{Name: words.Brief(c.Name, 40), Page: words.Brief(c.Name, 80), Foreign: true})
	}
	for _, m := range measures() {
		if !m.shown(r) {
			continue
		}
		row := []Cell{{Text: m.Label}}
		for _, c := range r.Candidates {
			cell := Cell{Text: m.Of(c), Class: "nw"}
			if m.long || len(cell.Text) > 32 {
				cell.Class = "dim"
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return Section{
		ID: "overview", Title: "Measurements", Fold: "Candidates side by side", First: true, Tables: []Table{t},
		Intro: "Rates are over scored episodes. Those without a result are counted by kind and left out; a missing price stays unknown.",
	}
}
