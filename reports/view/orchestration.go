package view

import (
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/orchestration"
	"github.com/cupel-eval/cupel/reports/words"
)

// orchestrationSection has what agents handed to sub-agents and asked people for; it has no
// tables if it has nothing to show.
func orchestrationSection(r model.Report) Section {
	var all []orchestration.Candidate
	for _, c := range r.Candidates {
		if c.Orchestration != nil {
			all = append(all, orchestration.Candidate{Name: words.Brief(c.Name, 80), Totals: *c.Orchestration})
		}
	}
	s := Section{
		ID: "orchestration", Title: "Sub-agents and approvals", Fold: "Sub-agents, tasks and approvals", Label: "agents",
		Intro: "What agents planned, handed to sub-agents and asked people for, over all episodes. Waits are virtual times until an answer. The page of a task has the tree of agents, the timeline and the requests of each episode.",
		Lines: orchestration.Lines(all),
	}
	for _, g := range orchestration.Grids(all) {
		t := Table{Label: g.Caption, Caption: g.Caption, Titled: true}
		for i, name := range g.Columns {
			c := Column{Name: name, Head: i == 0, Mark: "bdi"}
			if i >= g.Texts {
				c.Class, c.Mark = "n", ""
			}
			t.Columns = append(t.Columns, c)
		}
		for _, row := range g.Rows {
			cells := make([]Cell, len(row))
			for i, text := range row {
				cells[i].Text = text
			}
			t.Rows = append(t.Rows, cells)
		}
		s.Tables = append(s.Tables, t)
	}
	return s
}
