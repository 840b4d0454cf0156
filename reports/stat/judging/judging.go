// Package judging corrects shares that rest on judges for the errors that labels of people show. Every function is pure and returns the same bits
// for the same input.
package judging

import (
	"github.com/cupel-eval/cupel/reports/stat"
)

// Table counts the labelled episodes of one task by the verdict of people, first, and of the
// judge, second. Counts may be weighted.
type Table struct{ PassPass, PassFail, FailPass, FailFail float64 }

func (t Table) passes() float64 { return t.PassPass + t.PassFail }
func (t Table) fails() float64  { return t.FailPass + t.FailFail }

// Rate is an estimate. Value is nil without data, Interval where it cannot be had.
type Rate struct {
	Value    *float64       `json:"value"`
	Interval *stat.Interval `json:"interval"`
}

// RateOf is a share over clusters, with the interval of stat.ShareInterval.
func RateOf(clusters []stat.Cluster, confidence float64) (r Rate) {
	if m, ok := stat.ClusterRatio(clusters); ok {
		r.Value = &m.Value
	}
	if iv, ok := stat.ShareInterval(clusters, confidence); ok {
		r.Interval = &iv
	}
	return r
}
