package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// CriterionTable is a criterion with what each candidate and group has of it.
type CriterionTable struct {
	// Needs is the threshold. Explanation says what is measured, Count how many candidates
	// pass.
	Title, Needs, Explanation, Count string
	// Notes are what is to be said of rows, each with whom it is about.
	Notes []Fact
	// Reported says that the criterion decides nothing.
	Reported bool
	// Open says that a candidate does not pass.
	Open bool
	Rows []CriterionRow
}

// CriterionRow is what a candidate, or a group, has of a criterion.
type CriterionRow struct {
	model.Criterion
	Name string
	// Pooled says whom a group pools; empty for a candidate.
	Pooled string
	// Simulated is false for a group.
	Simulated bool
	// Sample is the size with its unit: "168 turns".
	Sample string
}

// explained says in a sentence what each of the program's criteria measures.
var explained = map[string]string{
	"solved":                "Share of episodes that pass every check of their task: answer, tool calls and limits.",
	"valid_json":            "Share of turns whose first output, before any repair, keeps the agent's output format.",
	"clarifies_per_success": "Questions that the agent asks the user, per solved episode.",
	"steps_per_solved":      "Mean number of the agent's steps in a solved episode.",
	"within_steps":          "Share of solved episodes that took no more steps than this.",
	"harm":                  "Share of episodes that changed something to the user's harm.",
}

// CriterionTables are the criteria of all candidates and groups, those that decide first.
func CriterionTables(list []Judgement) (tables []CriterionTable) {
	at := map[string]int{}
	for _, j := range list {
		for _, c := range j.Criteria {
			i, known := at[c.Name]
			if !known {
				i = len(tables)
				at[c.Name], tables = i, append(tables, CriterionTable{Title: c.Title, Needs: c.NeedsText(), Explanation: explained[c.Name], Reported: true})
			}
			t := &tables[i]
			if len(c.Title) < len(t.Title) { // strategies name it after their protocols
				t.Title = c.Title
			}
			if c.Verdict != stat.NotJudged {
				t.Reported, t.Needs = false, c.NeedsText()
			}
			t.Rows = append(t.Rows, CriterionRow{c, words.Brief(j.Name, 80), words.Clip(j.About, 300), j.Simulated, sampleText(c)})
		}
	}
	for i := range tables {
		tables[i].finish()
	}
	slices.SortStableFunc(tables, func(a, b CriterionTable) int {
		return cmp.Compare(map[bool]int{true: 1}[a.Reported], map[bool]int{true: 1}[b.Reported])
	})
	return tables
}

// sampleText is "168 turns".
func sampleText(c model.Criterion) string {
	unit := c.Unit
	if c.N == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	return words.Thousands(int64(c.N)) + " " + unit
}

// finish collects what is to be said of rows, and counts.
func (t *CriterionTable) finish() {
	n := map[stat.Verdict]int{}
	for _, row := range t.Rows {
		if row.Pooled == "" {
			n[row.Verdict]++
		}
		t.Open = t.Open || row.Verdict == stat.Fail || row.Verdict == stat.Inconclusive
		if row.Note == "" {
			continue
		}
		if i := slices.IndexFunc(t.Notes, func(f Fact) bool { return f.Value == row.Note }); i >= 0 {
			t.Notes[i].Name += ", " + row.Name
		} else {
			t.Notes = append(t.Notes, Fact{row.Name, row.Note})
		}
	}
	for i, note := range t.Notes {
		t.Notes[i].Value = words.Visible(note.Value)
		if strings.Contains(note.Value, "Design effect ") && !strings.Contains(t.Explanation, "design effect") {
			t.Explanation += " A design effect above 1 says that episodes of one task resemble each other, so that the interval is wider."
		}
	}
	judged := n[stat.Pass] + n[stat.Fail] + n[stat.Inconclusive]
	switch {
	case t.Reported:
		t.Count = "reported, decides nothing"
	case n[stat.Pass] == judged:
		t.Count = model.Of(judged, judged, "passes", "pass")
	case n[stat.Fail] > 0:
		t.Count = model.Of(n[stat.Fail], judged, "fails", "fail")
		if open := n[stat.Inconclusive]; open > 0 {
			t.Count += fmt.Sprintf(", %d inconclusive", open)
		}
	default:
		t.Count = model.Of(n[stat.Inconclusive], judged, "is inconclusive", "are inconclusive")
	}
	if judged == 0 && !t.Reported {
		t.Count = "" // a group alone
	}
}

// allMet names the candidates that meet every criterion, with how many there are: "strong
// and weak meet all 4 criteria."; empty without any.
func allMet(r model.Report) string {
	var names []string
	text := ""
	for _, c := range r.Candidates {
		if c.Verdict == stat.Pass {
			names = append(names, words.Brief(c.Name, 60))
			text = strings.TrimPrefix(c.Sentence, "meets ")
		}
	}
	if len(names) == 0 {
		return ""
	}
	if text, _, _ = strings.Cut(strings.TrimSuffix(text, "."), ","); len(names) == 1 {
		return fmt.Sprintf("%s meets %s.", names[0], text)
	}
	return fmt.Sprintf("%s meet %s.", words.And(names), text)
}
