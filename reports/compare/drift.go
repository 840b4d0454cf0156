package compare

import (
	"fmt"
	"math"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/stat"
)

// moved is the least change of a share that is reported.
const moved = 0.05

// drift counts the kinds of failure on both sides: those of the model among pairs
// with a result on both sides, infrastructure and harness among all pairs.
func drift(tasks []joined, alpha float64) ([]Drift, error) {
	kinds := failure.Kinds()
	list := make([]Drift, len(kinds))
	p := make([]float64, 0, len(kinds))
	for k, kind := range kinds {
		d, outside := &list[k], kind == failure.Infrastructure || kind == failure.Harness
		d.Kind = kind
		var obs []stat.Observation // the sum of each task
		for i := range tasks {
			twins, sum := tasks[i].scored, 0
			if outside {
				twins = tasks[i].twins
			}
			d.BaselineOf += len(twins)
			d.NewOf += len(twins)
			for _, t := range twins {
				if t.baseline.kind == int8(k) {
					d.Baseline++
					sum--
				}
				if t.new.kind == int8(k) {
					d.New++
					sum++
				}
			}
			if len(twins) > 0 {
				obs = append(obs, stat.Observation{Cluster: tasks[i].id, Value: float64(sum)})
			}
		}
		if d.Baseline+d.New == 0 {
			obs = obs[:min(1, len(obs))] // nothing: p is 1
		}
		if test, ok := stat.PairedPermutation(obs); ok {
			d.P = &test.P
			p = append(p, test.P)
		}
	}
	adjusted, err := stat.BenjaminiHochberg(p)
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
		d.Moved = stat.Rejects(*d.Adjusted, alpha) && math.Abs(change) >= moved-1e-12
	}
	return list, nil
}

// kindByRule is the kind of failure of package failure.
func kindByRule(rows ledger.EpisodeRows) (failure.Kind, bool) {
	c, ok := failure.Of(rows)
	return c.Kind, ok
}
