package compare

import (
	"math"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/failure"
	"github.com/cupel-eval/cupel/reports/stat"
)

// moved is the least change of a share that is worth a word.
const moved = 0.05

// drift counts the kinds of failure on both sides: those of the model among pairs
// with a result on both sides, infrastructure and harness among all pairs.
func drift(tasks []joined, alpha float64) []Drift {
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
			d.TrialOf += len(twins)
			for _, t := range twins {
				if t.baseline.kind == int8(k) {
					d.Baseline++
					sum--
				}
				if t.trial.kind == int8(k) {
					d.Trial++
					sum++
				}
			}
			if len(twins) > 0 {
				obs = append(obs, stat.Observation{Cluster: tasks[i].id, Value: float64(sum)})
			}
		}
		if d.Baseline+d.Trial == 0 {
			obs = obs[:min(1, len(obs))] // nothing: p is 1
		}
		if test, ok := stat.PairedPermutation(obs); ok {
			d.P = &test.P
			p = append(p, test.P)
		}
	}
	adjusted, _ := stat.BenjaminiHochberg(p)
	for i := range list {
		d := &list[i]
		if d.P == nil {
			continue
		}
		d.Adjusted, adjusted = new(adjusted[0]), adjusted[1:]
		change := float64(d.Trial-d.Baseline) / float64(d.BaselineOf)
		d.Moved = stat.Rejects(*d.Adjusted, alpha) && math.Abs(change) >= moved-1e-12
	}
	return list
}

// simpleKind tells kinds of failure by the status alone.
func simpleKind(rows ledger.EpisodeRows) (failure.Kind, bool) {
	e := &rows.Episode
	switch why := excluded(e); {
	case why == "infrastructure error":
		return failure.Infrastructure, true
	case why == "harness error":
		return failure.Harness, true
	case why != "" || solved(e):
		return "", false
	case e.Status == "stopped":
		return failure.Budget, true
	case e.Status != e.ExpectedStatus:
		return failure.Trajectory, true
	}
	return failure.Answer, true
}
