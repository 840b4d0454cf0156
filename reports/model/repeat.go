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
}

// addPasses fills in PassAt and PassAll of runs with several trials.
func (r *Report) addPasses() {
	if r.Run.Trials < 2 {
		return
	}
	for i := range r.Candidates {
		var tasks []stat.Trials
		for _, t := range r.Tasks {
			tasks = append(tasks, stat.Trials{Passed: t.Cells[i].Solved, N: t.Cells[i].Scored})
		}
		confidence := lookOf(&r.Run, r.Candidates[i].Name).Confidence(r.Run.Acceptance.Confidence)
		r.Candidates[i].PassAt = r.pass(stat.PassesAt(tasks, r.Run.Trials), confidence)
		r.Candidates[i].PassAll = r.pass(stat.PassesAll(tasks, r.Run.Trials), confidence)
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
