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
)

// Confidence is that of the intervals of a Run.
const Confidence = 0.95

// metric reads its value off a run, and how many observations it is of: none
// where it is unknown.
type metric struct {
	name string
	of   func(Run) (value float64, iv *stat.Interval, n int)
}

func metrics() []metric {
	return []metric{
		{Solved, func(r Run) (float64, *stat.Interval, int) { return share(r.Solved, r.Scored, r.SolvedWithin) }},
		{Valid, func(r Run) (float64, *stat.Interval, int) { return share(r.Valid, r.Judged, r.ValidWithin) }},
		{Steps, func(r Run) (float64, *stat.Interval, int) { return known(r.Steps, r.Solved) }},
		{Cost, func(r Run) (float64, *stat.Interval, int) { return known(r.CostNanoUSD, r.Scored) }},
		{Latency, func(r Run) (float64, *stat.Interval, int) { return known(r.LatencyUs, r.Judged) }},
	}
}

func share(k, n int, iv *stat.Interval) (float64, *stat.Interval, int) {
	if n == 0 {
		return 0, nil, 0
	}
	return float64(k) / float64(n), iv, n
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
//
// Changes are those of stat.ChangePoints, each point weighing as much as it has
// observations, at a level of 0.05 divided by the number of series: more of them
// do not make false alarms more likely, but looking again every night does.
func Of(history []Run) []Series {
	var out []Series
	var samples [][]stat.Sample
	for _, name := range candidates(history) {
		own := slices.DeleteFunc(slices.Clone(history), func(r Run) bool { return r.Candidate != name })
		for _, m := range metrics() {
			if s, list := m.series(own); len(s.Points) > 1 {
				out, samples = append(out, s), append(samples, list)
			}
		}
	}
	for i := range out {
		out[i].find(samples[i], len(out))
	}
	return out
}

// series follows a metric through the runs of one candidate.
func (m metric) series(runs []Run) (s Series, list []stat.Sample) {
	var last Run
	for _, r := range runs {
		v, iv, n := m.of(r)
		if n == 0 {
			continue
		}
		p := Point{RunID: r.RunID, Started: r.Started, Value: v, Interval: iv}
		if len(s.Points) > 0 {
			p.Changed = purpose(last, r)
		}
		s.Points, list, last = append(s.Points, p), append(list, stat.Sample{Value: v, Weight: float64(n)}), r
	}
	s.Candidate, s.Metric, s.Changes = last.Candidate, m.name, []Change{}
	return s, list
}

func candidates(history []Run) (names []string) {
	for _, r := range history {
		if !slices.Contains(names, r.Candidate) {
			names = append(names, r.Candidate)
		}
	}
	return names
}

// find fills in the changes of one of several series.
func (s *Series) find(samples []stat.Sample, several int) {
	found, _ := stat.ChangePoints(samples, alpha/float64(several), least)
	for _, c := range found {
		with := append([]string{}, s.Points[c.At].Changed...)
		s.Changes = append(s.Changes, Change{At: c.At, Before: c.Before, After: c.After, P: min(1, c.P*float64(several)), With: with})
	}
}

// purpose names what was changed on purpose between two runs.
func purpose(before, after Run) (with []string) {
	if before.Digest != after.Digest {
		with = append(with, "candidate")
	}
	if before.SuiteDigest != after.SuiteDigest {
		with = append(with, "suite")
	}
	return with
}
