package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/level"
)

// simulated is a kind of noise from night to night.
type simulated struct {
	name string
	// draw returns a night whose level is lower by loss points. Its standard normal
	// deviate is correlated from night to night.
	draw func(rng *rand.Rand, night Run, deviate, loss float64) Run
}

// shares returns shares of this many episodes a night, of which 90% are solved. The
// true share varies with a standard deviation of two points.
func shares(episodes int) func(rng *rand.Rand, night Run, deviate, loss float64) Run {
	return func(rng *rand.Rand, night Run, deviate, loss float64) Run {
		p := min(1, max(0, 0.9+0.02*deviate-loss/100))
		night.Scored = episodes
		for range episodes {
			if rng.Float64() < p {
				night.Solved++
			}
		}
		return night
	}
}

// logNormal returns a mean whose logarithm has the given standard deviation from night
// to night.
func logNormal(spread float64) func(rng *rand.Rand, night Run, deviate, loss float64) Run {
	return func(_ *rand.Rand, night Run, deviate, loss float64) Run {
		steps := 100 * math.Exp(spread*deviate+loss/100)
		night.Solved, night.Steps = 300, &steps
		return night
	}
}

func simulations() []simulated {
	return []simulated{
		{"solved, 100 × 1", shares(100)},
		{"solved, 100 × 3", shares(300)},
		{"solved, 100 × 3, one night in ten cut short", func(rng *rand.Rand, night Run, deviate, loss float64) Run {
			if rng.IntN(10) == 0 {
				return shares(20+rng.IntN(200))(rng, night, deviate, loss)
			}
			return shares(300)(rng, night, deviate, loss)
		}},
		{"solved, 100 × 3, one night in fifty 20 points off", func(rng *rand.Rand, night Run, deviate, loss float64) Run {
			if rng.IntN(50) == 0 {
				loss += 20
			}
			return shares(300)(rng, night, deviate, loss)
		}},
		{"a mean, log-normal, 10%", logNormal(0.1)},
		{"a mean, log-normal, 40%", logNormal(0.4)},
	}
}

// together is the number of series in a history, as one candidate has.
const together = 5

// history draws nights of several series of autocorrelation phi. From the given night
// on, the first series is lower by loss points.
func (s simulated) history(rng *rand.Rand, nights int, phi float64, from int, loss float64) (runs []Run) {
	deviates := make([]float64, together)
	for i := range nights {
		for k := range deviates {
			if deviates[k] = phi*deviates[k] + math.Sqrt(1-phi*phi)*rng.NormFloat64(); i == 0 {
				deviates[k] = rng.NormFloat64()
			}
			lost := 0.0
			if k == 0 && i >= from {
				lost = loss
			}
			runs = append(runs, s.draw(rng, Run{RunID: fmt.Sprint(i), Candidate: fmt.Sprint(k), Started: time.Unix(int64(i)*86400, 0)}, deviates[k], lost))
		}
	}
	return runs
}

// oldAlarm returns the first night from…nights−1 on which a report by the earlier
// method shows a change, if it is read every night; nights if there is none.
func oldAlarm(rng *rand.Rand, f followed, from, nights int) int {
	for night := from; night < nights; night++ {
		points := make([]level.Reading, night+1)
		for i := range points {
			points[i].Value = f.Points[i].Value
		}
		if len(changePoints(rng, points, f.weights, 0.05/together)) > 0 {
			return night
		}
	}
	return nights
}

// histories calls of with histories, in parallel, each with its own random numbers.
func histories(n int, seed uint64, of func(rng *rand.Rand) (add func())) {
	var wait sync.WaitGroup
	adds, work := make([]func(), n), make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range work {
				adds[i] = of(rand.New(rand.NewPCG(seed, uint64(i))))
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wait.Wait()
	for _, add := range adds {
		add()
	}
}

// alarms counts false alarms in nights.
type alarms struct{ nights, alarms int }

// String returns the mean number of nights to an alarm with its 99% interval, computed
// from that of the share of nights with an alarm.
func (a alarms) String() string {
	iv, _ := stat.ClopperPearson(a.alarms, a.nights, 0.99)
	if a.alarms == 0 {
		return fmt.Sprintf("none (%.0f or more)", 1/iv.High)
	}
	return fmt.Sprintf("%.0f (%.0f–%.0f)", float64(a.nights)/float64(a.alarms), 1/iv.High, 1/iv.Low)
}

// sizes returns the number of histories, and of those that the earlier method searches.
func sizes() (many, few int) {
	if testkit.Evidence() {
		return 1500, 40
	}
	return testkit.SlowN(4, 10), 1
}

// If nothing changes, all series of a report together raise on average at most one alarm in
// FalseAlarmNights nights, for any autocorrelation. The earlier method raises more.
func TestSimulationTrendFalseAlarms(t *testing.T) {
	const nights, oldNights = 200, 60
	many, few := sizes()
	for i, s := range simulations() {
		for _, phi := range []float64{0, 0.5, 0.8} {
			var early, late, old alarms
			histories(many, uint64(100*i)+uint64(10*phi), func(rng *rand.Rand) func() {
				series := follow(s.history(rng, nights, phi, nights, 0))
				return func() {
					require.Len(t, series, together)
					for _, f := range series {
						for _, c := range f.Changes {
							if c.Detected < 40 {
								early.alarms++
							} else {
								late.alarms++
							}
						}
					}
					early.nights, late.nights = early.nights+40-11, late.nights+nights-40
				}
			})
			histories(few, 7+uint64(100*i)+uint64(10*phi), func(rng *rand.Rand) func() {
				night := oldNights
				for _, f := range follow(s.history(rng, oldNights, phi, oldNights, 0)) {
					night = min(night, oldAlarm(rng, f, 7, night))
				}
				return func() {
					old.nights += min(night+1, oldNights) - 7
					if night < oldNights {
						old.alarms++
					}
				}
			})
			all := alarms{early.nights + late.nights, early.alarms + late.alarms}
			t.Logf("| %s | %.1f | %s | %s | %s | %s |", s.name, phi, early, late, all, old)
			iv, _ := stat.ClopperPearson(all.alarms, all.nights, 0.99)
			require.LessOrEqual(t, iv.Low, 1.0/FalseAlarmNights, "%s, φ %.1f", s.name, phi)
		}
	}
}

// A loss is found within nights: the median and the 90% quantile of histories in which the
// first of five series loses after 40 nights.
func TestSimulationTrendDelays(t *testing.T) {
	const before, after = 40, 30
	many, few := sizes()
	for i, s := range simulations()[:2] {
		for _, phi := range []float64{0, 0.5, 0.8} {
			for _, loss := range []float64{5, 10} {
				var delays, olds [after + 1]int // after: not found
				near := 0
				seed := 1000 + uint64(100*i) + uint64(10*phi) + uint64(loss)
				histories(many, seed, func(rng *rand.Rand) func() {
					f := follow(s.history(rng, before+after, phi, before, loss))[0]
					return func() {
						for _, c := range f.Changes {
							if c.Detected >= before {
								delays[c.Detected-before]++
								if c.At >= before-1 && c.At <= before+1 {
									near++
								}
								return
							}
						}
						delays[after]++
					}
				})
				histories(few, seed+7, func(rng *rand.Rand) func() {
					f := follow(s.history(rng, before+after, phi, before, loss))[0]
					night := oldAlarm(rng, f, before, before+after)
					return func() { olds[night-before]++ }
				})
				found, _ := stat.ClopperPearson(many-delays[after], many, 0.99)
				t.Logf("| %s | %.1f | %.0f | %s | %s | %.0f%% (%.0f–%.0f) | %.0f%% | %s | %s |", s.name, phi, loss, within(delays[:], 0.5), within(delays[:], 0.9),
					100*float64(many-delays[after])/float64(many), 100*found.Low, 100*found.High, 100*float64(near)/float64(max(1, many-delays[after])),
					within(olds[:], 0.5), within(olds[:], 0.9))
				if phi == 0 && loss == 10 {
					require.Greater(t, found.High, 0.9, "%s: a loss of 10 points", s.name)
					require.NotEqual(t, "–", within(delays[:], 0.5))
				}
			}
		}
	}
}

// within returns the number of nights in which a share of all changes is found, or – if
// it is not.
func within(delays []int, share float64) string {
	all, sum := 0, 0
	for _, n := range delays {
		all += n
	}
	for i, n := range delays[:len(delays)-1] {
		if sum += n; float64(sum) >= share*float64(all) {
			return fmt.Sprint(i + 1)
		}
	}
	return "–"
}
