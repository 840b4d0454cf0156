package level

import (
	"math"
	"sort"
)

// levelNights is the mean number of readings to a false alarm of Shifts at the
// limits 3.4, 3.6, … of the score: by simulation, over readings 12 to 200 of noise of
// which three fifths (of the variance) are autoregressive with φ = 0.8 and the rest is
// independent, with an outlier of 6 standard deviations in one of 50 readings. Such
// noise alarms most often: the independent part makes φ look smaller than it is. See
// TestSimulationLevelLimits.
var levelNights = [...]float64{92, 138, 202, 300, 469, 717, 1083, 1785, 2768, 4234, 6648, 10584, 17182, 25689, 42677}

// levelLow is the limit of the first of levelNights, levelStep the step to the next one.
const levelLow, levelStep = 3.4, 0.2

// levelLimit is the limit of the score for a mean number of readings to a false alarm,
// linear in the logarithm of that number between the simulated ones and beyond them; it
// is at least levelLow.
func levelLimit(nights float64) float64 {
	i := min(max(1, sort.SearchFloat64s(levelNights[:], nights)), len(levelNights)-1)
	low, high := math.Log(levelNights[i-1]), math.Log(levelNights[i])
	return levelLow + levelStep*(float64(i-1)+max(0, (math.Log(nights)-low)/(high-low)))
}
