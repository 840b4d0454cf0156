// Package trend looks at a candidate's past runs: their figures go in, one by
// one in time; series with the points where something changed come out.
package trend

import (
	"time"

	"github.com/cupel-eval/cupel/reports/stat"
)

// Run are the figures of one candidate in one past run.
type Run struct {
	RunID     string    `json:"run_id"`
	Started   time.Time `json:"started"`
	Candidate string    `json:"candidate"`
	// Solved of Scored episodes; Valid of Judged turns.
	Solved int `json:"solved"`
	Scored int `json:"scored"`
	Valid  int `json:"valid"`
	Judged int `json:"judged"`
	// SolvedWithin and ValidWithin are the intervals of the two shares, clustered by
	// task, at Confidence; null is unknown.
	SolvedWithin *stat.Interval `json:"solved_interval"`
	ValidWithin  *stat.Interval `json:"valid_interval"`
	// Steps is the mean of solved episodes; CostNanoUSD the mean of scored ones, null
	// when that of any is unknown; LatencyUs the median of Judged turns. Null is
	// unknown.
	Steps       *float64 `json:"steps"`
	CostNanoUSD *float64 `json:"cost_nanousd"`
	LatencyUs   *float64 `json:"latency_us"`
	// Digest is the candidate's, SuiteDigest the suite's: what changed on purpose.
	Digest      string `json:"candidate_digest"`
	SuiteDigest string `json:"suite_digest"`
}

// Series is one metric of one candidate over time.
type Series struct {
	Candidate string `json:"candidate"`
	Metric    string `json:"metric"`
	// Points are the newest 60 runs, or fewer.
	Points []Point `json:"points"`
	// Changes are in the order of time.
	Changes []Change `json:"changes"`
}

// Point is one run of a series. Interval is null where none is known.
type Point struct {
	RunID    string         `json:"run_id"`
	Started  time.Time      `json:"started"`
	Value    float64        `json:"value"`
	Interval *stat.Interval `json:"interval"`
	// Changed names what was changed on purpose since the point before: "candidate",
	// "suite", or nothing.
	Changed []string `json:"changed,omitempty"`
}

// Change is where a series changed level.
type Change struct {
	// At indexes Points: the first of the new level, as it was located on the night of
	// the alarm. Detected is that night. Neither depends on later points.
	At       int `json:"at"`
	Detected int `json:"detected"`
	// Before and After are the levels: means up to the neighbouring changes, weighted by
	// observations. After includes the points since the alarm.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// Evidence is the score on the night of the alarm, in standard deviations, and Limit
	// what it had to reach for one false alarm in 200 nights over all series of a report.
	Evidence float64 `json:"evidence"`
	Limit    float64 `json:"limit"`
	// With is what was changed on purpose between the two runs, as in Point.Changed.
	With []string `json:"with"`
}
