package evidence_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/trend"
)

const (
	quietNights = "an unchanged series alarms within 40 nights, looked at every night"
	nights      = 40
)

// quiet is the probability of an alarm in this number of nights, at a rate of one false
// alarm in 200 nights.
var quiet = -math.Expm1(-nights / 200.0)

// history draws the runs of an unchanged agent, night by night, with 300 episodes each.
// 90% are solved, with noise of 3 points that is correlated from night to night.
func history(rng *rand.Rand, phi float64) (runs []trend.Run) {
	const episodes = 300
	for i, noise := range evidence.AR1(rng, nights, phi, 0.03) {
		k, share := 0, min(1, 0.9+noise)
		for range episodes {
			if rng.Float64() < share {
				k++
			}
		}
		runs = append(runs, trend.Run{
			RunID: fmt.Sprint("r", i), Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i), Candidate: "a", Solved: k, Scored: episodes,
		})
	}
	return runs
}

// alarms reports whether the report of one of the nights shows a change.
func alarms(runs []trend.Run) bool {
	for n := 2; n <= len(runs); n++ {
		for _, s := range trend.Of(runs[:n]) {
			if len(s.Changes) > 0 {
				return true
			}
		}
	}
	return false
}

// oldAlarms does the same with the search that cupel used before. The cut between the
// two stretches that differ most, the second possibly with an end, gets a p-value from
// random orders of the points, as if these were exchangeable. Nothing corrects for
// looking again every night.
func oldAlarms(rng *rand.Rand, runs []trend.Run) bool {
	const draws, alpha, first = 399, 0.05, 8 // no order of fewer than 8 points is rare enough
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = float64(r.Solved) / float64(r.Scored)
	}
	for n := first; n <= len(values); n++ {
		series := append([]float64(nil), values[:n]...)
		reach, far := oldCut(series), 1
		for k := 0; k < draws && float64(far) <= alpha*(draws+1); k++ {
			rng.Shuffle(n, func(i, j int) { series[i], series[j] = series[j], series[i] })
			if oldCut(series) >= reach*(1-1e-9) {
				far++
			}
		}
		if float64(far) <= alpha*(draws+1) {
			return true
		}
	}
	return false
}

// oldCut returns the largest sum of squares between the points before a cut and those
// after it, up to some end. Both sides have at least two points.
func oldCut(series []float64) (most float64) {
	left := 0.0
	for cut, v := range series {
		if cut >= 2 {
			right := 0.0
			for end := cut; end < len(series); end++ {
				right += series[end]
				a, b := float64(cut), float64(end+1-cut)
				if d := left/a - right/b; b >= 2 {
					most = max(most, d*d*a*b/(a+b))
				}
			}
		}
		left += v
	}
	return most
}

func trends() (list []simulation) {
	for _, phi := range []float64{0, 0.5, 0.8} {
		list = append(list, simulation{
			setting: fmt.Sprintf("300 episodes a night, noise of 3 points, autocorrelation %g", phi), suites: 1000, claims: []claim{{name: quietNights, atMost: quiet}},
			cases: one(func(rng *rand.Rand) []outcome {
				runs := history(rng, phi)
				return []outcome{{is(oldAlarms(rng, runs)), is(alarms(runs))}}
			}),
		})
	}
	return list
}
