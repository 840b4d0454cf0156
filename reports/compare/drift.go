package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// leastChange is the least change of a share that is reported.
const leastChange = 0.05

// failureChanges counts the kinds of failure on both sides: those of the model among pairs
// with a result on both sides, infrastructure and harness among all pairs.
func failureChanges(tasks []joined, alpha float64) ([]Drift, error) {
	kinds := failure.Kinds()
	list := make([]Drift, len(kinds))
	p := make([]float64, 0, len(kinds))
	all := slices.Clone(tasks)
	for i := range all {
		all[i].scored = all[i].twins
	}
	seen := make([]bool, len(kinds)) // of any episode
	for i := range tasks {
		for _, t := range tasks[i].twins {
			for _, r := range []*record{t.baseline, t.new} {
				if r.kind >= 0 {
					seen[r.kind] = true
				}
			}
		}
	}
	for k, kind := range kinds {
		of := tasks
		if kind == failure.Infrastructure || kind == failure.Harness {
			of = all
		}
		list[k] = Drift{Kind: kind}
		if !seen[k] { // only the pairs are counted
			for i := range of {
				list[k].BaselineOf += len(of[i].scored)
			}
			if list[k].NewOf = list[k].BaselineOf; list[k].NewOf > 0 {
				list[k].P = new(1.0)
				p = append(p, 1)
			}
			continue
		}
		var m measured
		m.gather(&measure{of: func(r *record) (float64, float64) { return one(r.kind == int8(k)), 1 }}, of)
		base, newer := totals(m.sides)
		list[k] = Drift{Kind: kind, Baseline: int(base.Num), New: int(newer.Num), BaselineOf: int(base.Den), NewOf: int(newer.Den)}
		if len(m.sides) == 0 {
			continue
		}
		list[k].P = new(1.0)
		if base.Num+newer.Num > 0 {
			test, _ := swapped(m.tasks, scores(m.sides))
			list[k].P = &test.two
		}
		p = append(p, *list[k].P)
	}
	adjusted, err := multiple.BenjaminiHochberg(p)
	if err != nil {
		return nil, fmt.Errorf("compare kinds of failure: %w", err)
	}
	for i := range list {
		d := &list[i]
		if d.P == nil {
			continue
		}
		d.Adjusted, adjusted = new(adjusted[0]), adjusted[1:]
		change := float64(d.New-d.Baseline) / float64(d.BaselineOf)
		d.Moved = multiple.Rejects(*d.Adjusted, alpha) && math.Abs(change) >= leastChange-1e-12
	}
	return list, nil
}

// kindByRule is the kind of failure of package failure.
func kindByRule(rows ledger.EpisodeRows) (failure.Kind, bool) {
	c, ok := failure.Of(rows)
	return c.Kind, ok
}
