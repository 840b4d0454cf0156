package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// measure is a column of a table of measurements.
type measure struct {
	label string
	of    func(model.Candidate) string
	// always shows the column even if it says nothing of any candidate; long cells are lists.
	always, long bool
}

// measureTable is a group of measurements.
type measureTable struct {
	name string
	list []measure
}

// measures are the tables of measurements.
func measures(all []model.Candidate) []measureTable {
	count := func(n func(model.Candidate) int) func(model.Candidate) string {
		return func(c model.Candidate) string { return words.Thousands(int64(n(c))) }
	}
	planned := func(of func(*model.Work) []stat.Count) func(model.Candidate) string {
		return func(c model.Candidate) string { return plans(c.Work, of) }
	}
	var extras []measure
	for _, k := range model.ExtraKinds() {
		extras = append(extras, measure{label: k.Label, of: func(c model.Candidate) string { return extra(c.Metrics, k.Name) }})
	}
	return []measureTable{
		{"Success", []measure{
			{label: "Solved", of: func(c model.Candidate) string { return c.Success.Text() }, always: true},
			{label: "Solved, 95% interval", of: func(c model.Candidate) string { return c.Success.IntervalText() }, always: true},
			{label: "Solved at least once (pass@k)", of: func(c model.Candidate) string { return text(c.PassAt) }},
			{label: "Solved every time (pass^k)", of: func(c model.Candidate) string { return text(c.PassAll) }},
			{label: "Brier score of confidence", of: brier},
			{label: "Final status", of: func(c model.Candidate) string { return List(c.Statuses, 8) }, long: true},
		}},
		{"Cost and tokens", append([]measure{
			{label: "Cost", of: column(all, cost, func(c model.Candidate) *float64 { return asFloat(c.Cost) }), always: true},
			{label: "Cost per solved task", of: column(all, func(m model.Metrics) string { return words.Dollars(m.CostPerSolved) }, func(c model.Candidate) *float64 { return c.CostPerSolved }), always: true},
			{label: "Input tokens", of: func(c model.Candidate) string { return words.Count(c.TokensIn) }},
			{label: "Output tokens", of: func(c model.Candidate) string { return words.Count(c.TokensOut) }},
			{label: "Cached input tokens", of: func(c model.Candidate) string { return words.Count(c.TokensCacheRead) }},
			{label: "Reasoning tokens", of: func(c model.Candidate) string { return words.Count(c.TokensReasoning) }},
			{label: "Judges", of: func(c model.Candidate) string { return helperUse(c.Judges) }},
			{label: "Simulated users", of: func(c model.Candidate) string { return helperUse(c.Users) }},
		}, extras...)},
		{"Latency", []measure{
			{label: "Turn latency, p50", of: func(c model.Candidate) string { return Median(c.Latency) }},
			{label: "Turn latency, p95", of: func(c model.Candidate) string { return tail(c.Latency) }},
			{label: "Mean concurrency", of: func(c model.Candidate) string { return overlap(c.Work) }},
		}},
		{"Behaviour", []measure{
			{label: "Tool calls per calling turn", of: func(c model.Candidate) string { return callsPerTurn(c.Work) }},
			{label: "Episodes with thrash", of: func(c model.Candidate) string { return c.Thrash.Text() }},
			{label: "Episodes with a stall", of: func(c model.Candidate) string { return c.Stall.Text() }},
			{label: "Plan revisions", of: planned(func(w *model.Work) []stat.Count { return w.Revisions })},
			{label: "Steps of a plan", of: planned(func(w *model.Work) []stat.Count { return w.Steps })},
			{label: "Largest fan-out of a step", of: planned(func(w *model.Work) []stat.Count { return w.Items })},
		}},
		{"Protocol", []measure{
			{label: "Turns repaired", of: func(c model.Candidate) string { return c.Repaired.Text() }},
			{label: "Turns cut off", of: count(func(c model.Candidate) int { return c.Truncated })},
			{label: "Turns without a reply", of: count(func(c model.Candidate) int { return c.ErrorTurns })},
			{label: "Infrastructure errors", of: count(func(c model.Candidate) int { return c.InfraErrors })},
			{label: "Harness errors", of: count(func(c model.Candidate) int { return c.HarnessErrors })},
			{label: "Budget stops", of: count(func(c model.Candidate) int { return c.BudgetStops })},
			{label: "Unfinished", of: count(func(c model.Candidate) int { return c.Interrupted + c.Unfinished })},
			{label: "Violations", of: func(c model.Candidate) string { return List(c.Violations, 8) }, long: true},
		}},
	}
}

func brier(c model.Candidate) string {
	if c.Brier == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *c.Brier)
}

func asFloat(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// column formats known amounts with aligned decimal points, and others as text does.
func column(all []model.Candidate, text func(model.Metrics) string, amount func(model.Candidate) *float64) func(model.Candidate) string {
	var amounts []*float64
	for _, c := range all {
		amounts = append(amounts, amount(c))
	}
	texts := words.USDColumn(amounts)
	return func(c model.Candidate) string {
		i := slices.IndexFunc(all, func(o model.Candidate) bool { return o.Name == c.Name })
		if i < 0 || amounts[i] == nil {
			return text(c.Metrics)
		}
		return texts[i]
	}
}

// nothing says that a measurement is zero, or that there is none.
func nothing(text string) bool {
	value, _, _ := strings.Cut(text, " (")
	return !strings.ContainsAny(value, "123456789") && value != words.Unknown
}

// overviewSection returns the measurements of the candidates; those without values
// to say, for any candidate, are left out.
func overviewSection(r model.Report) Section {
	s := Section{
		ID: "overview", Title: "Measurements", Fold: "Measurements", First: true,
		Intro: "Rates cover scored episodes; episodes without a result are counted separately. A cost without a known price is shown as unknown. The cost of judges and simulated users is not part of a candidate's. Measurements that are zero for all candidates are left out. " +
			"Thrash: the agent repeats a call. Stall: it only asks questions. Brier score: the mean squared error of the stated confidence; 0 is best, 0.25 is what always stating 50% gets.",
	}
	for _, group := range measures(r.Candidates) {
		t := Table{Label: group.name, Caption: group.name, Titled: true, Columns: []Column{{Name: "Candidate", Head: true, Mark: "bdi"}}}
		for _, c := range r.Candidates {
			t.Rows = append(t.Rows, []Cell{{Text: words.Brief(c.Name, 80)}})
		}
		for _, m := range group.list {
			if !m.always && !slices.ContainsFunc(r.Candidates, func(c model.Candidate) bool { return !nothing(m.of(c)) }) {
				continue
			}
			at := Column{Name: m.label, Class: "n", Own: true}
			if m.long {
				at.Class, at.Own = "dim", false
			}
			t.Columns = append(t.Columns, at)
			for i, c := range r.Candidates {
				t.Rows[i] = append(t.Rows[i], Cell{Text: m.of(c)})
			}
		}
		if len(t.Columns) > 1 && len(t.Rows) > 0 {
			s.Tables = append(s.Tables, t)
		}
	}
	return s
}
