package plot

import (
	"math"

	"gonum.org/v1/plot"

	"github.com/cupel-eval/cupel/reports/internal/dots"
	"github.com/cupel-eval/cupel/reports/words"
)

// roundTicks are at most most+1 round values from low to high.
func roundTicks(low, high float64, most int, format func(float64) string) (ticks []plot.Tick) {
	for _, v := range dots.Round(low, high, dots.Step(low, high, most)) {
		ticks = append(ticks, plot.Tick{Value: v, Label: format(v)})
	}
	return ticks
}

// positive is an axis for values between low and high: logarithmic where they differ
// much, else from 0.
func positive(label string, low, high float64, format func(float64) string) axis {
	if low <= 0 || high/low < 10 {
		high *= 1.15
		return axis{label: label, high: high, ticks: roundTicks(0, high, 5, format)}
	}
	return logarithmic(label, low/1.6, high*1.6, format)
}

// logarithmic is an axis with ticks at 1, 2, 5 × 10ⁿ between low and high, thinned to
// at most six. It grows until at least two lie on it.
func logarithmic(label string, low, high float64, format func(float64) string) axis {
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
		return logarithmic(label, low/1.5, high*1.5, format)
	}
	every := 1 + len(all)/6
	for i := 0; i < len(all); i += every {
		a.ticks = append(a.ticks, plot.Tick{Value: all[i], Label: format(all[i])})
	}
	return a
}

// shareAxis is an axis of shares from low, or a little less, to 1.
func shareAxis(label string, low float64) axis {
	low = max(0, math.Floor((low-0.01)*20)/20)
	return axis{label: label, low: low, high: 1, grid: true, ticks: roundTicks(low, 1, 6, words.Setting)}
}
