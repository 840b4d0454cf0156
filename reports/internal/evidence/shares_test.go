package evidence_test

import (
	"math"
	"math/rand/v2"

	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
)

// wilson returns the 95% score interval of k in n independent observations. cupel used
// it for turns and trials of one task as if they were independent: E. B. Wilson, JASA
// 22 (1927) 209–212.
func wilson(k, n int) stat.Interval {
	const z = 1.959963984540054
	p, size := float64(k)/float64(n), float64(n)
	center := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return stat.Interval{Low: center - half, High: center + half}
}

const (
	coverage  = "a 95% interval of a share contains the true share"
	falsePass = "acceptance passes a share that equals its threshold"
)

// shares are simulations of the intervals of a share, of solved trials or valid turns,
// in the settings of the table. Of the three true shares 80, 95 and 99%, the worst
// counts.
func shares() (list []simulation) {
	always := func(n int) func(*rand.Rand) int { return func(*rand.Rand) int { return n } }
	between := func(low, high int) func(*rand.Rand) int {
		return func(rng *rand.Rand) int { return low + rng.IntN(high-low+1) }
	}
	for _, d := range []struct {
		name  string
		tasks int
		size  func(rng *rand.Rand) int
	}{
		{"5 × 20", 5, always(20)}, {"20 × 10", 20, always(10)}, {"50 × 5", 50, always(5)},
		{"69 × 1, 1 to 4 turns", 69, between(1, 4)}, {"50 × 1, 10 to 20 turns", 50, between(10, 20)},
	} {
		for _, m := range evidence.Mechanisms() {
			s := simulation{setting: d.name + ", " + m.Name, claims: []claim{{name: coverage, atLeast: 0.94}, {name: falsePass, atMost: 0.035}}}
			for _, p := range []float64{0.8, 0.95, 0.99} {
				s.cases = append(s.cases, func(rng *rand.Rand) []outcome {
					list, k, n := make([]stat.Cluster, d.tasks), 0, 0
					for i := range list {
						own, size, passed := m.Draw(rng, p), d.size(rng), 0
						for range size {
							if rng.Float64() < own {
								passed++
							}
						}
						list[i] = stat.Cluster{Num: float64(passed), Den: float64(size)}
						k, n = k+passed, n+size
					}
					iv, _ := stat.ShareInterval(list, 0.95)
					old := wilson(k, n)
					return []outcome{
						{is(old.Low <= p && p <= old.High), is(iv.Low <= p && p <= iv.High)},
						{is(old.Low >= p), is(iv.Low >= p)},
					}
				})
			}
			list = append(list, s)
		}
	}
	return list
}
