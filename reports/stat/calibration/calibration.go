// Package calibration compares stated probabilities with what happened. Its functions are
// pure; a probability outside of [0, 1] is left out.
package calibration

// Forecast is a stated probability and its outcome.
type Forecast struct {
	// P is the stated probability in [0, 1].
	P float64
	// Came says that the event happened.
	Came bool
}

// Bin is one bin of a reliability diagram.
type Bin struct {
	// Low and High bound the stated probabilities: Low ≤ P < High, and
	// P ≤ High in the last bin.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	N    int     `json:"n"`
	// Stated is the mean stated probability, Came the share of events that
	// happened; both are 0 when N is 0.
	Stated float64 `json:"stated"`
	Came   float64 `json:"came"`
}

// Reliability sorts forecasts into count equal bins over [0, 1]. Forecasts
// outside [0, 1] or not a number are left out.
//
// A. H. Murphy and R. L. Winkler, "Reliability of Subjective Probability
// Forecasts of Precipitation and Temperature", Applied Statistics 26 (1977) 41–47.
func Reliability(forecasts []Forecast, count int) []Bin {
	if count < 1 {
		return nil
	}
	bins := make([]Bin, count)
	for i := range bins {
		bins[i].Low, bins[i].High = float64(i)/float64(count), float64(i+1)/float64(count)
	}
	for _, f := range forecasts {
		if !(f.P >= 0 && f.P <= 1) {
			continue
		}
		i := min(int(f.P*float64(count)), count-1)
		// The product may round across an edge that the quotient names exactly.
		if i+1 < count && f.P >= bins[i].High {
			i++
		} else if f.P < bins[i].Low {
			i--
		}
		bins[i].N++
		bins[i].Stated += f.P
		if f.Came {
			bins[i].Came++
		}
	}
	for i := range bins {
		if n := float64(bins[i].N); n > 0 {
			bins[i].Stated /= n
			bins[i].Came /= n
		}
	}
	return bins
}

// Brier is the mean squared difference between stated probability and outcome:
// 0 is perfect, 0.25 is what always stating 0.5 earns, 1 is always wrong and
// sure. Forecasts outside [0, 1] or not a number are left out; ok is false when
// none is left.
//
// G. W. Brier, "Verification of Forecasts Expressed in Terms of Probability",
// Monthly Weather Review 78 (1950) 1–3, in the one-category form.
func Brier(forecasts []Forecast) (score float64, ok bool) {
	n := 0
	for _, f := range forecasts {
		if !(f.P >= 0 && f.P <= 1) {
			continue
		}
		miss := f.P
		if f.Came {
			miss = 1 - f.P
		}
		score += miss * miss
		n++
	}
	if n == 0 {
		return 0, false
	}
	return score / float64(n), true
}
