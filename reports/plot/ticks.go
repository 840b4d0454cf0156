package plot

import (
	"math"

	"gonum.org/v1/plot"

	"github.com/cupel-eval/cupel/reports/words"
)

// shareTicks are at most seven round percentages between low and high.
func shareTicks(low, high float64) []plot.Tick {
	step := 50
	for _, s := range []int{1, 2, 5, 10, 20, 25} {
		if (high-low)*100/float64(s) <= 6 {
			step = s
			break
		}
	}
	var ticks []plot.Tick
	for p := 0; p <= 100; p += step {
		if v := float64(p) / 100; v >= low-1e-9 && v <= high+1e-9 {
			ticks = append(ticks, plot.Tick{Value: v, Label: words.Percent(v)})
		}
	}
	return ticks
}

// logTicks are labelled 1, 2, 5 × 10ⁿ between low and high, thinned to at most
// six. low and high grow until at least two ticks lie between them.
func logTicks(low, high *float64, format func(float64) string) []plot.Tick {
	for {
		all := logValues(*low, *high, 1, 2, 5)
		if len(all) > 4 {
			all = logValues(*low, *high, 1, 3)
		}
		if len(all) > 5 {
			all = logValues(*low, *high, 1)
		}
		if len(all) < 2 {
			*low, *high = *low/1.5, *high*1.5
			continue
		}
		var ticks []plot.Tick
		for i, v := range all {
			if i%(1+len(all)/6) == 0 {
				ticks = append(ticks, plot.Tick{Value: v, Label: format(v)})
			}
		}
		return ticks
	}
}

func logValues(low, high float64, mantissas ...float64) []float64 {
	var values []float64
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range mantissas {
			if v := m * math.Pow(10, e); v >= low && v <= high {
				values = append(values, v)
			}
		}
	}
	return values
}

// linearTicks are round values from 0 to at least high, which grows to the last.
func linearTicks(high *float64, format func(float64) string) []plot.Tick {
	unit := math.Pow(10, math.Floor(math.Log10(*high)))
	step := unit
	for _, s := range []float64{0.2, 0.25, 0.5, 1, 2} {
		if *high/(s*unit) <= 5 {
			step = s * unit
			break
		}
	}
	n := math.Ceil(*high / step)
	*high = n * step
	var ticks []plot.Tick
	for i := 0.0; i <= n; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: format(i * step)})
	}
	return ticks
}
