package testkit

import "math/rand/v2"

// TaskShare draws a task's true share of passes: half of all tasks always pass, a tenth
// never does, the rest is flaky.
func TaskShare(rng *rand.Rand) float64 {
	switch u := rng.Float64(); {
	case u < 0.5:
		return 1
	case u < 0.6:
		return 0
	case u < 0.8:
		return 0.9
	case u < 0.9:
		return 0.5
	default:
		return 0.1
	}
}
