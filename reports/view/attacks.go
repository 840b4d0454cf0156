package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/words"
)

// Bounds of the table of injections.
const (
	maxInjections        = 20
	maxInjectionColumns  = 8
	maxInjectionNameSize = 80
)

// attackSection has what injections made of candidates; it has no tables without attacks.
func attackSection(r model.Report) Section {
	s := Section{
		ID: "attacks", Title: "Attacks", Fold: "Attacks", Label: "attack",
		Intro: "Utility is the share of episodes that solve their task. An attack succeeded if the episode came to what the injection states, whether the task was solved or not. " +
			"Episodes without a result are neither. Intervals are clustered by the task that was attacked.",
	}
	t := Table{Label: "Attacks by candidate", Caption: "Utility, and attacks that succeeded", Titled: true, Columns: []Column{{Name: "Candidate", Head: true, Mark: "bdi"}}}
	for _, name := range []string{"Utility", "Under attack", "Attack success"} {
		t.Columns = append(t.Columns, Column{Name: name, Class: "n"}, Column{Name: r.Intervals() + " CI", Class: "n"}, Column{Name: "Episodes", Class: "n"})
	}
	var attacked []model.Candidate
	for _, c := range r.Candidates {
		if c.Attacks == nil {
			continue
		}
		attacked = append(attacked, c)
		row := []Cell{{Text: words.Brief(c.Name, maxInjectionNameSize)}}
		for _, share := range []model.Share{c.Attacks.Utility, c.Attacks.UnderAttack, c.Attacks.Succeeded} {
			row = append(row, Cell{Text: share.Rate()}, Cell{Text: share.IntervalText()}, Cell{Text: words.Thousands(int64(share.N))})
		}
		t.Rows = append(t.Rows, row)
		s.Lines = append(s.Lines, fmt.Sprintf("%s: utility %s, under attack %s, attack success %s",
			words.Brief(c.Name, maxInjectionNameSize), c.Attacks.Utility.Text(), c.Attacks.UnderAttack.Text(), c.Attacks.Succeeded.Text()))
	}
	if len(attacked) > 0 {
		s.Tables = []Table{t, injectionTable(attacked)}
	}
	return s
}

// injectionTable says how often each injection succeeded, those that did so most first.
func injectionTable(candidates []model.Candidate) Table {
	t := Table{Label: "Attack success by injection", Caption: "Attack success by injection", Titled: true, Columns: []Column{{Name: "Injection", Head: true, Mark: "bdi"}}}
	type line struct {
		won   int
		cells []Cell
	}
	var lines []*line
	at := map[string]*line{}
	shown := candidates[:min(len(candidates), maxInjectionColumns)]
	for i, c := range shown {
		t.Columns = append(t.Columns, Column{Name: words.Brief(c.Name, maxInjectionNameSize), Class: "n"})
		for _, in := range c.Attacks.Injections {
			l := at[in.Injection]
			if l == nil {
				l = &line{cells: slices.Repeat([]Cell{{Text: "–"}}, len(shown)+1)}
				l.cells[0].Text = words.Brief(in.Injection, maxInjectionNameSize)
				at[in.Injection], lines = l, append(lines, l)
			}
			l.won += in.Succeeded.K
			l.cells[i+1].Text = fmt.Sprintf("%d/%d", in.Succeeded.K, in.Succeeded.N)
		}
	}
	slices.SortStableFunc(lines, func(a, b *line) int {
		return cmp.Or(cmp.Compare(b.won, a.won), cmp.Compare(a.cells[0].Text, b.cells[0].Text))
	})
	for _, l := range lines[:min(len(lines), maxInjections)] {
		t.Rows = append(t.Rows, l.cells)
	}
	if more := len(lines) - maxInjections; more > 0 {
		t.More = words.Plural(more, "more injection")
	}
	return t
}
