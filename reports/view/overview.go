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
	// when says that the row is shown for a candidate, and so for all; nil is always.
	when func(model.Candidate) bool
}

// measures are the rows of the overview.
func measures() []measure {
	repeated := func(c model.Candidate) bool { return c.PassAt != nil }
	worked := func(c model.Candidate) bool { return c.Work != nil }
	planned := func(c model.Candidate) bool { return c.Work != nil && c.Work.Planned > 0 }
	all := []measure{
		{"Solved", false, func(c model.Candidate) string { return c.Success.Text() }, nil},
		{"Solved, interval", false, func(c model.Candidate) string { return c.Success.IntervalText() }, nil},
		{"Solved at least once (pass@k)", false, func(c model.Candidate) string { return text(c.PassAt) }, repeated},
		{"Solved every time (pass^k)", false, func(c model.Candidate) string { return text(c.PassAll) }, repeated},
		{"Cost", false, func(c model.Candidate) string { return cost(c.Metrics) }, nil},
		{"Cost per solved", false, func(c model.Candidate) string { return words.DollarsOf(c.CostPerSolved) }, nil},
		{"Tokens in", false, func(c model.Candidate) string { return words.Count(c.TokensIn) }, nil},
		{"Tokens out", false, func(c model.Candidate) string { return words.Count(c.TokensOut) }, nil},
		{"Tokens from cache", false, func(c model.Candidate) string { return words.Count(c.TokensCacheRead) }, nil},
		{"Tokens of reasoning", false, func(c model.Candidate) string { return words.Count(c.TokensReasoning) }, nil},
		{"Latency p50 of a turn", false, func(c model.Candidate) string { return Median(c.Latency) }, nil},
		{"Latency p95 of a turn", false, func(c model.Candidate) string { return tail(c.Latency) }, nil},
		{"Episodes with thrash", false, func(c model.Candidate) string { return c.Thrash.Text() }, nil},
		{"Episodes with a stall", false, func(c model.Candidate) string { return c.Stall.Text() }, nil},
		{"Turns repaired", false, func(c model.Candidate) string { return c.Repaired.Text() }, nil},
		{"Turns cut off", false, func(c model.Candidate) string { return strconv.Itoa(c.Truncated) }, nil},
		{"Turns without a reply", false, func(c model.Candidate) string { return strconv.Itoa(c.ErrorTurns) }, nil},
		{"Tool calls of a turn that calls", false, func(c model.Candidate) string { return callsPerTurn(c.Work) }, worked},
		{"Under way at a time", false, func(c model.Candidate) string { return overlap(c.Work) }, worked},
		{"Changes of a plan", false, func(c model.Candidate) string {
			return plans(c.Work, func(w *model.Work) []stat.Count { return w.Revisions })
		}, planned},
		{"Steps of a plan", false, func(c model.Candidate) string {
			return plans(c.Work, func(w *model.Work) []stat.Count { return w.Steps })
		}, planned},
		{"Most items of one step", false, func(c model.Candidate) string {
			return plans(c.Work, func(w *model.Work) []stat.Count { return w.Items })
		}, planned},
		{"Infrastructure errors", false, func(c model.Candidate) string { return strconv.Itoa(c.InfraErrors) }, nil},
		{"Harness errors", false, func(c model.Candidate) string { return strconv.Itoa(c.HarnessErrors) }, func(c model.Candidate) bool { return c.HarnessErrors > 0 }},
		{"Budget stops", false, func(c model.Candidate) string { return strconv.Itoa(c.BudgetStops) }, func(c model.Candidate) bool { return c.BudgetStops > 0 }},
		{"Unfinished", false, func(c model.Candidate) string { return strconv.Itoa(c.Interrupted + c.Unfinished) }, func(c model.Candidate) bool { return c.Interrupted+c.Unfinished > 0 }},
		{"Brier score of confidence", false, func(c model.Candidate) string {
			if c.Brier == nil {
				return "–"
			}
			return fmt.Sprintf("%.3f", *c.Brier)
		}, nil},
		{"Endings", true, func(c model.Candidate) string { return List(c.Statuses, 8) }, nil},
		{"Violations", true, func(c model.Candidate) string { return List(c.Violations, 8) }, nil},
	}
	at := slices.IndexFunc(all, func(m measure) bool { return m.Label == "Tool calls of a turn that calls" })
	for i, k := range model.ExtraKinds() {
		row := measure{k.Label, false, func(c model.Candidate) string { return extra(c.Metrics, k.Name) }, nil}
		if k.Rare {
			row.when = func(c model.Candidate) bool { return row.Of(c) != "0" }
		}
		all = slices.Insert(all, at+i, row)
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
		if m.when != nil && !slices.ContainsFunc(r.Candidates, m.when) {
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
