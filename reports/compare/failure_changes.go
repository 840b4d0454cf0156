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

// seenKinds says which of n kinds of failure any episode has.
func seenKinds(tasks []joined, n int) []bool {
	seen := make([]bool, 1+n) // the first is without a failure, -1
	for i := range tasks {
		for _, t := range tasks[i].twins {
			seen[1+t.baseline.kind], seen[1+t.new.kind] = true, true
		}
	}
	return seen[1:]
}

// failureChanges counts the kinds of failure on both sides: those of the model among pairs
// with a result on both sides, infrastructure and harness among all pairs.
func failureChanges(tasks []joined, alpha float64) ([]FailureChange, error) {
	kinds := failure.Kinds()
	list := make([]FailureChange, len(kinds))
	p := make([]float64, 0, len(kinds))
	all := slices.Clone(tasks)
	for i := range all {
		all[i].scored = all[i].twins
	}
	seen := seenKinds(tasks, len(kinds))
	for k, kind := range kinds {
		of := tasks
		if kind == failure.Infrastructure || kind == failure.Harness {
			of = all
		}
		list[k] = FailureChange{Kind: kind}
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
		list[k] = FailureChange{Kind: kind, Baseline: int(base.Num), New: int(newer.Num), BaselineOf: int(base.Den), NewOf: int(newer.Den)}
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
		d.Changed = multiple.Rejects(*d.Adjusted, alpha) && math.Abs(change) >= leastChange-1e-12
	}
	return list, nil
}

// kindByRule is the kind of failure of package failure.
func kindByRule(rows ledger.EpisodeRows) (failure.Kind, bool) {
	c, ok := failure.Of(rows)
	return c.Kind, ok
}
