package trend

import (
	"slices"

	"github.com/cupel-eval/cupel/reports/stat"
)

// Metrics, in the order of a candidate's series.
const (
	// Solved and Valid are shares, of scored episodes and of judged turns.
	Solved = "solved"
	Valid  = "valid"
	// Steps is a mean of solved episodes.
	Steps = "steps"
	// Cost is the mean of scored episodes in nano-USD, Latency the median turn in
	// microseconds.
	Cost    = "cost"
	Latency = "latency"
)

const (
	// alpha is how often any of all series shows a change where there is none.
	alpha = 0.05
	// least is how many runs a level lasts: one alone may be an accident.
	least = 2
	// confidence is that of the intervals.
	confidence = 0.95
)

// metric reads its value off a run, and how many observations it is of: none
// where it is unknown.
type metric struct {
	name string
	of   func(Run) (value float64, iv *stat.Interval, n int)
}

func metrics() []metric {
	return []metric{
		{Solved, func(r Run) (float64, *stat.Interval, int) { return share(r.Solved, r.Scored) }},
		{Valid, func(r Run) (float64, *stat.Interval, int) { return share(r.Valid, r.Judged) }},
		{Steps, func(r Run) (float64, *stat.Interval, int) { return known(r.Steps, r.Solved) }},
		{Cost, func(r Run) (float64, *stat.Interval, int) { return known(r.CostNanoUSD, r.Scored) }},
		{Latency, func(r Run) (float64, *stat.Interval, int) { return known(r.LatencyUs, r.Judged) }},
	}
}

func share(k, n int) (float64, *stat.Interval, int) {
	iv, ok := stat.Wilson(k, n, confidence)
	if !ok {
		return 0, nil, 0
	}
	return float64(k) / float64(n), &iv, n
}

func known(value *float64, n int) (float64, *stat.Interval, int) {
	if value == nil {
		return 0, nil, 0
	}
	return *value, nil, n
}

// Of makes a series of each metric of each candidate, in the order in which the
// candidates appear; history is in the order of time. Runs in which a metric is
// unknown are left out of its series, and a series of one run is left out.
// Intervals are Wilson's, at 95 %.
//
// Changes are those of stat.ChangePoints, each point weighing as much as it has
// observations, at a level of 0.05 divided by the number of series: more of them
// do not make false alarms more likely, but looking again every night does.
func Of(history []Run) []Series {
	var out []Series
	var runs [][]Run // of each series, its points
	var samples [][]stat.Sample
	for _, name := range candidates(history) {
		for _, m := range metrics() {
			s := Series{Candidate: name, Metric: m.name, Changes: []Change{}}
			var of []Run
			var list []stat.Sample
			for _, r := range history {
				if r.Candidate != name {
					continue
				}
				if v, iv, n := m.of(r); n > 0 {
					s.Points = append(s.Points, Point{RunID: r.RunID, Started: r.Started, Value: v, Interval: iv})
					of, list = append(of, r), append(list, stat.Sample{Value: v, Weight: float64(n)})
				}
			}
			if len(of) > 1 {
				out, runs, samples = append(out, s), append(runs, of), append(samples, list)
			}
		}
	}
	for i := range out {
		out[i].Changes = append(out[i].Changes, changes(runs[i], samples[i], len(out))...)
	}
	return out
}

func candidates(history []Run) (names []string) {
	for _, r := range history {
		if !slices.Contains(names, r.Candidate) {
			names = append(names, r.Candidate)
		}
	}
	return names
}

// changes are those of one of several series.
func changes(runs []Run, samples []stat.Sample, several int) (out []Change) {
	found, _ := stat.ChangePoints(samples, alpha/float64(several), least)
	for _, c := range found {
		out = append(out, Change{
			At: c.At, Before: c.Before, After: c.After, P: min(1, c.P*float64(several)), With: purpose(runs[c.At-1], runs[c.At]),
		})
	}
	return out
}

// purpose names what was changed on purpose between two runs.
func purpose(before, after Run) []string {
	with := []string{}
	if before.Digest != after.Digest {
		with = append(with, "candidate")
	}
	if before.SuiteDigest != after.SuiteDigest {
		with = append(with, "suite")
	}
	return with
}
