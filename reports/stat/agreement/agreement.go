// Package agreement measures how far two raters agree on pass and fail: a person and a check, a
// judge and a person, or two people.
package agreement

import (
	"github.com/cupel-eval/cupel/reports/stat"
)

// Table counts the things of one cluster, such as the trials of a task, by who said pass. Things of
// one cluster may resemble each other; clusters must be independent.
type Table struct {
	BothPass int `json:"both_pass"`
	OnlyA    int `json:"only_first_passes"`
	OnlyB    int `json:"only_second_passes"`
	BothFail int `json:"both_fail"`
}

// Add counts one thing by the verdicts of two raters.
func (t *Table) Add(a, b bool) {
	switch {
	case a && b:
		t.BothPass++
	case a:
		t.OnlyA++
	case b:
		t.OnlyB++
	default:
		t.BothFail++
	}
}

// N is the number of things.
func (t Table) N() int { return t.BothPass + t.OnlyA + t.OnlyB + t.BothFail }

// Agreement says how far two raters agree.
type Agreement struct {
	// Table has the sums over all clusters.
	Table
	// Share is that of equal verdicts, and Interval that of stat.ShareInterval. Both are
	// null if the tables are empty.
	Share    *float64       `json:"agreement"`
	Interval *stat.Interval `json:"agreement_interval"`
	// Kappa is Cohen's: 0 is the agreement of raters who do not look, 1 that of raters who always
	// agree. It is null if both gave one and the same verdict to everything, which says nothing.
	Kappa *float64 `json:"kappa"`
	// KappaInterval is null if Kappa is, with fewer than two clusters, and if the clusters do not
	// differ, as where one rater gave the same verdict to everything.
	KappaInterval *stat.Interval `json:"kappa_interval"`
}

// Of computes the agreement over clusters, with two-sided intervals at a confidence strictly between 0
// and 1.
//
// Kappa is (p − e)/(1 − e), with the share p of equal verdicts and the share e that raters of the
// same shares of passes would reach without looking: J. Cohen, "A Coefficient of Agreement for
// Nominal Scales", Educational and Psychological Measurement 20 (1960) 37–46. Its interval is the
// t interval of the linearised kappa, clustered as in stat.ClusterMean; for clusters of one thing this
// is the large-sample error of J. L. Fleiss, J. Cohen and B. S. Everitt, "Large Sample Standard
// Errors of Kappa and Weighted Kappa", Psychological Bulletin 72 (1969) 323–327. It is
// approximate, and too narrow for few clusters or almost perfect agreement. If all verdicts are
// equal, its lower end comes from the exact one of the agreement in place of that.
func Of(clusters []Table, confidence float64) (a Agreement) {
	var equal []stat.Cluster
	for _, t := range clusters {
		a.BothPass, a.OnlyA, a.OnlyB, a.BothFail = a.BothPass+t.BothPass, a.OnlyA+t.OnlyA, a.OnlyB+t.OnlyB, a.BothFail+t.BothFail
		if t.N() > 0 {
			equal = append(equal, stat.Cluster{Num: float64(t.BothPass + t.BothFail), Den: float64(t.N())})
		}
	}
	n := float64(a.N())
	if n == 0 {
		return a
	}
	share := float64(a.BothPass+a.BothFail) / n
	a.Share = &share
	if iv, ok := stat.ShareInterval(equal, confidence); ok {
		a.Interval = &iv
	}
	passA, passB := float64(a.BothPass+a.OnlyA)/n, float64(a.BothPass+a.OnlyB)/n
	chance := passA*passB + (1-passA)*(1-passB)
	if chance == 1 {
		return a
	}
	kappa := (share - chance) / (1 - chance)
	a.Kappa = &kappa
	if share == 1 {
		if a.Interval != nil && len(equal) > 1 {
			a.KappaInterval = &stat.Interval{Low: max(-1, (a.Interval.Low-chance)/(1-chance)), High: 1}
		}
		return a
	}
	// The derivatives of kappa by the share of equal verdicts, and by those of passes.
	slope := 1 / (1 - chance)
	down := (1 - share) * slope * slope
	byA, byB := down*(2*passB-1), down*(2*passA-1)
	linear := make([]stat.Cluster, 0, len(equal))
	for _, t := range clusters {
		n := float64(t.N())
		u := slope*(float64(t.BothPass+t.BothFail)-share*n) - byA*(float64(t.BothPass+t.OnlyA)-passA*n) - byB*(float64(t.BothPass+t.OnlyB)-passB*n)
		if n > 0 {
			linear = append(linear, stat.Cluster{Num: kappa*n + u, Den: n})
		}
	}
	mean, _ := stat.ClusterRatio(linear) // all sums are small
	if iv, ok := mean.Interval(confidence); ok && mean.SE > 0 {
		a.KappaInterval = &stat.Interval{Low: max(-1, iv.Low), High: min(1, iv.High)}
	}
	return a
}
