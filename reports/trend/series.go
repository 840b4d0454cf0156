package trend

import (
	"math"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/level"
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
	// FalseAlarmNights is the mean number of nights between two false alarms, over all
	// series of a history together. Each of n series is given n times as many. Once in
	// 200 nights is about twice a year: a report of four candidates has 20 series, and one
	// false alarm of each in 200 nights would be one in ten nights.
	FalseAlarmNights = 200
	// Shown is how many of the newest points a series has. Changes are searched for in all
	// of them, so a change does not vanish when older runs are no longer shown.
	Shown = 60
)

// Confidence is that of the intervals of a Run.
const Confidence = 0.95

// metric reads its value off a run, and how many observations it is of: none
// where it is unknown.
type metric struct {
	name string
	of   func(Run) (value float64, iv *stat.Interval, n int)
	// scale turns a value of n observations into one whose noise does not grow with it.
	scale func(value float64, n int) level.Reading
}

func metrics() []metric {
	return []metric{
		{Solved, func(r Run) (float64, *stat.Interval, int) { return share(r.Solved, r.Scored, r.SolvedWithin) }, arcsine},
		{Valid, func(r Run) (float64, *stat.Interval, int) { return share(r.Valid, r.Judged, r.ValidWithin) }, arcsine},
		{Steps, func(r Run) (float64, *stat.Interval, int) { return known(r.Steps, r.Solved) }, logarithm},
		{Cost, func(r Run) (float64, *stat.Interval, int) { return known(r.CostNanoUSD, r.Scored) }, logarithm},
		{Latency, func(r Run) (float64, *stat.Interval, int) { return known(r.LatencyUs, r.Judged) }, logarithm},
	}
}

// arcsine is the scale of a share: F. J. Anscombe, "The Transformation of Poisson,
// Binomial and Negative-Binomial Data", Biometrika 35 (1948) 246–254.
func arcsine(share float64, n int) level.Reading {
	of := float64(n)
	return level.Reading{Value: math.Asin(math.Sqrt((share*of + 0.375) / (of + 0.75))), Spread: 0.5 / math.Sqrt(of)}
}

// logarithm is the scale of a mean or median, in its smallest unit: less than one counts
// as one, so a cost of 0 has a place. A single observation is taken to spread by a fifth.
func logarithm(value float64, n int) level.Reading {
	return level.Reading{Value: math.Log(max(1, value)), Spread: 0.2 / math.Sqrt(float64(n))}
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
// Changes are those of level.Shifts: shares on an arcsine scale, means and medians on
// a logarithmic one. On each night the limit is that of FalseAlarmNights times the number
// of series that had begun by then. So a change that a report has shown, a report of a
// later night shows as well, unless runs or candidates were removed from the history.
func Of(history []Run) []Series {
	var out []Series
	for _, f := range follow(history) {
		if len(f.Points) > 1 {
			out = append(out, f.newest(Shown))
		}
	}
	return out
}

// follow makes all series of a history, with the changes in all of their points.
func follow(history []Run) (all []followed) {
	for _, name := range candidates(history) {
		own := slices.DeleteFunc(slices.Clone(history), func(r Run) bool { return r.Candidate != name })
		for _, m := range metrics() {
			if f := m.follow(own); len(f.Points) > 0 {
				all = append(all, f)
			}
		}
	}
	for i := range all {
		all[i].find(func(night time.Time) (begun int) {
			for _, f := range all {
				if !f.Points[0].Started.After(night) {
					begun++
				}
			}
			return begun
		})
	}
	return all
}

// followed is a series of all runs, with what its points weigh and how they count.
type followed struct {
	Series
	weights  []float64
	readings []level.Reading
}

// follow takes a metric from the runs of one candidate.
func (m metric) follow(runs []Run) (f followed) {
	var last Run
	for _, r := range runs {
		v, iv, n := m.of(r)
		if n == 0 {
			continue
		}
		p := Point{RunID: r.RunID, Started: r.Started, Value: v, Interval: iv}
		if len(f.Points) > 0 {
			p.Changed = purpose(last, r)
		}
		f.Points, f.weights, f.readings, last = append(f.Points, p), append(f.weights, float64(n)), append(f.readings, m.scale(v, n)), r
	}
	f.Candidate, f.Metric, f.Changes = last.Candidate, m.name, []Change{}
	return f
}

func candidates(history []Run) (names []string) {
	for _, r := range history {
		if !slices.Contains(names, r.Candidate) {
			names = append(names, r.Candidate)
		}
	}
	return names
}

// find fills in the changes. begun says how many series had begun by a night.
func (f *followed) find(begun func(time.Time) int) {
	shifts, _ := level.Shifts(f.readings, func(i int) float64 { return float64(FalseAlarmNights * begun(f.Points[i].Started)) })
	from := 0
	for i, c := range shifts {
		to := len(f.Points)
		if i+1 < len(shifts) {
			to = shifts[i+1].At
		}
		f.Changes = append(f.Changes, Change{
			At: c.At, Detected: c.Detected, Before: f.mean(from, c.At), After: f.mean(c.At, to),
			Evidence: c.Score, Limit: c.Limit, With: append([]string{}, f.Points[c.At].Changed...),
		})
		from = c.At
	}
}

// newest is the series of the newest points, with the changes between two of them.
func (f *followed) newest(points int) Series {
	s, hidden := f.Series, max(0, len(f.Points)-points)
	s.Points, s.Changes = s.Points[hidden:], []Change{}
	for _, c := range f.Changes {
		if c.At > hidden {
			c.At, c.Detected = c.At-hidden, c.Detected-hidden
			s.Changes = append(s.Changes, c)
		}
	}
	return s
}

// mean is that of points from…to−1, weighted by their observations.
func (f *followed) mean(from, to int) float64 {
	sum, weight := 0.0, 0.0
	for i := from; i < to; i++ {
		sum, weight = sum+f.Points[i].Value*f.weights[i], weight+f.weights[i]
	}
	return sum / weight
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
