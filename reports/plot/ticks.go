package plot

import (
	"math"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/reports/internal/dots"
)

// format writes the values of an axis in one format.
type format func([]float64) []string

// inUnits divides values by a unit and writes them with the decimals that the one needs
// which needs most: "$0.001", "$0.010". A zero has none, and no prefix of thousands.
func inUnits(unit float64, before, after string) format {
	return func(values []float64) []string {
		decimals := 0
		for _, v := range values {
			for decimals < 9 && math.Abs(v/unit-rounded(v/unit, decimals)) > 1e-6*math.Abs(v/unit) {
				decimals++
			}
		}
		labels := make([]string, len(values))
		for i, v := range values {
			labels[i] = before + strconv.FormatFloat(v/unit, 'f', decimals, 64) + after
			if v == 0 {
				labels[i] = before + "0" + strings.Trim(after, "kMGTPE")
			}
		}
		return labels
	}
}

func rounded(v float64, decimals int) float64 {
	unit := math.Pow(10, float64(decimals))
	return math.Round(v*unit) / unit
}

// The formats of shares of 1, nano-USD, counts and microseconds.
func shares(values []float64) []string { return inUnits(0.01, "", "%")(values) }
func dollars(values []float64) []string {
	for _, large := range []struct {
		of     float64
		suffix string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if largest(values) >= 10*1e9*large.of {
			return inUnits(1e9*large.of, "$", large.suffix)(values)
		}
	}
	return inUnits(1e9, "$", "")(values)
}
func counts(values []float64) []string {
	for _, large := range []struct {
		of     float64
		suffix string
	}{{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if largest(values) >= large.of {
			return inUnits(large.of, "", large.suffix)(values)
		}
	}
	return inUnits(1, "", "")(values)
}
func durations(values []float64) []string {
	unit, name := 1.0, " µs"
	for _, u := range []struct {
		of   float64
		name string
	}{{1e3, " ms"}, {1e6, " s"}, {60e6, " min"}, {3600e6, " h"}} {
		if largest(values) >= u.of {
			unit, name = u.of, u.name
		}
	}
	labels := inUnits(unit, "", "")(values)
	labels[len(labels)-1] += name
	return labels
}

func largest(values []float64) (most float64) {
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	return most
}

func ticksAt(values []float64, write format) (ticks []tick) {
	if len(values) == 0 {
		return nil
	}
	for i, label := range write(values) {
		ticks = append(ticks, tick{values[i], label})
	}
	return ticks
}

// roundTicks are at most most+1 round values from low to high.
func roundTicks(low, high float64, most int, write format) []tick {
	return ticksAt(dots.Round(low, high, dots.Step(low, high, most)), write)
}

// positive is an axis for values between low and high: logarithmic where they differ
// much, else from 0.
func positive(label string, low, high float64, write format) axis {
	if low <= 0 || high/low < 10 {
		high *= 1.15
		return axis{label: label, high: high, ticks: roundTicks(0, high, 4, write)}
	}
	return logarithmic(label, low/1.6, high*1.6, write)
}

// logarithmic is an axis with ticks at 1, 2, 5 × 10ⁿ between low and high, thinned to
// at most six. It grows until at least two lie on it.
func logarithmic(label string, low, high float64, write format) axis {
	a := axis{label: label + ", logarithmic", low: low, high: high, log: true}
	var all []float64
	for _, mantissas := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		all = nil
		for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
			for _, m := range mantissas {
				if v := m * math.Pow(10, e); v >= low && v <= high {
					all = append(all, v)
				}
			}
		}
		if len(all) < 6 {
			break
		}
	}
	if len(all) < 2 {
		return logarithmic(label, low/1.5, high*1.5, write)
	}
	every := 1 + len(all)/6
	var shown []float64
	for i := 0; i < len(all); i += every {
		shown = append(shown, all[i])
	}
	a.ticks = ticksAt(shown, write)
	return a
}

// shareAxis is an axis of shares from low, or a little less, to 1.
func shareAxis(label string, low float64) axis {
	low = max(0, math.Floor((low-0.01)*20)/20)
	return axis{label: label, low: low, high: 1, grid: true, ticks: roundTicks(low, 1, 5, shares)}
}
