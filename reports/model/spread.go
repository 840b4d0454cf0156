package model

import (
	"math"
	"slices"
	"sort"

	"github.com/cupel-eval/cupel/reports/stat"
)

// Spread are quantiles of a distribution, in microseconds.
type Spread struct {
	P5  float64 `json:"p5"`
	P25 float64 `json:"p25"`
	P50 float64 `json:"p50"`
	P75 float64 `json:"p75"`
	P95 float64 `json:"p95"`
}

// LogBin counts values. Bins are a factor 10^(1/12) wide, about a fifth.
type LogBin struct {
	// From is the least value counted, in microseconds.
	From float64 `json:"from"`
	// To is the least value that is not, in microseconds.
	To float64 `json:"to"`
	// N is how many there are.
	N int `json:"n"`
}

// A distribution has at most maxBins bins: of 1 µs, which also holds less, to 11
// days, of which the last also holds more.
const (
	binsPerDecade = 12
	maxBins       = 12 * binsPerDecade
)

// spread sorts values in place.
func spread(values []float64) *Spread {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	at := func(p float64) float64 {
		q, _ := stat.Quantile(values, p)
		return q
	}
	return &Spread{P5: at(0.05), P25: at(0.25), P50: at(0.5), P75: at(0.75), P95: at(0.95)}
}

// logBins counts sorted values; bins without any are left out.
func logBins(sorted []float64) []LogBin {
	bins := []LogBin{}
	edge := func(i int) float64 { return math.Pow(10, float64(i)/binsPerDecade) }
	for i, from := 0, 0; from < len(sorted) && i < maxBins; i++ {
		to := len(sorted)
		if i < maxBins-1 {
			to = from + sort.SearchFloat64s(sorted[from:], edge(i+1))
		}
		if to > from {
			bins = append(bins, LogBin{From: edge(i), To: edge(i + 1), N: to - from})
		}
		from = to
	}
	return bins
}
