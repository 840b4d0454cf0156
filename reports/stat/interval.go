// Package stat is the arithmetic behind a verdict: counts and observations go
// in; intervals, tests, sizes of plans, quantiles and calibration come out. Every
// function is pure and returns the same bits for the same input; none logs, panics
// on data, or hides a missing answer behind a zero. Where chance is drawn, its seed
// is a hash of the data.
package stat

// Interval is a closed interval, Low ≤ High.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}
