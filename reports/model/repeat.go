package model

import "github.com/cupel-eval/cupel/reports/stat"

// Repeat estimates the chance that K trials of a task go well, as a mean over tasks.
type Repeat struct {
	// K is the number of trials of the run.
	K int `json:"k"`
	// Value is the estimate, from 0 to 1.
	Value float64 `json:"value"`
	// Interval is that of stat.ShareInterval, each task with the same weight.
	Interval *stat.Interval `json:"interval"`
	// Tasks have K scored trials; the others are left out.
	Tasks int `json:"tasks"`
	// Fewer are the estimates for 1 to K−1 trials, of the tasks that have so many; absent of runs
	// with 2 trials or more than 8.
	Fewer []float64 `json:"fewer,omitempty"`
}

// maxFewer bounds K of runs whose estimates for fewer trials are shown.
const maxFewer = 8

// addPasses fills in PassAt and PassAll of runs with several trials.
func (r *Report) addPasses() {
	if r.Run.Trials < 2 {
		return
	}
	for i := range r.Candidates {
		var tasks []stat.Trials
		for _, t := range r.Tasks {
			if t.Base != "" {
				continue // it is measured as an attack
			}
			tasks = append(tasks, stat.Trials{Passed: t.Cells[i].Solved, N: t.Cells[i].Scored})
		}
		confidence := lookOf(&r.Run, r.Candidates[i].Name).Confidence(r.Run.Acceptance.Confidence)
		r.Candidates[i].PassAt = r.pass(stat.PassesAt(tasks, r.Run.Trials), confidence)
		all := r.pass(stat.PassesAll(tasks, r.Run.Trials), confidence)
		for k := 1; all != nil && all.K > 2 && all.K <= maxFewer && k < all.K; k++ {
			m, _ := stat.ClusterRatio(stat.PassesAll(tasks, k)) // tasks with K trials have k
			all.Fewer = append(all.Fewer, m.Value)
		}
		r.Candidates[i].PassAll = all
	}
}

func (r *Report) pass(tasks []stat.Cluster, confidence float64) *Repeat {
	m, ok := stat.ClusterRatio(tasks)
	if !ok {
		return nil
	}
	p := &Repeat{K: r.Run.Trials, Value: m.Value, Tasks: m.Clusters}
	if iv, ok := stat.ShareInterval(tasks, confidence); ok {
		p.Interval = &iv
	}
	return p
}
