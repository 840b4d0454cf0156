package judging

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"

	"github.com/cupel-eval/cupel/reports/stat"
)

// ones are n labels or observations of so many tasks, k of them good.
func ones(k, n int) (list []stat.Cluster) {
	for i := range n {
		list = append(list, stat.Cluster{Num: map[bool]float64{true: 1}[i < k], Den: 1})
	}
	return list
}

// decided are n tasks with one episode each, k of which the judges of the set passed.
func decided(k, n int) (list []Cluster) {
	for i := range n {
		p := Pattern{Judges: 1}
		if i < k {
			p.Passed = 1
		}
		list = append(list, Cluster{N: 1, Decided: map[Pattern]float64{p: 1}})
	}
	return list
}

// melded is the interval of k of n verdicts by numerical integration over the beta distributions,
// written without the code of the package: P(value ≤ t) is the mean over sensitivity and
// specificity of the probability that the share of passed verdicts is at most what t makes of it.
func melded(k, n, passes, people, fails, others int, confidence float64) (low, high float64) {
	const steps = 100
	quantiles := func(a, b float64) (q []float64) {
		for i := range steps {
			u := (float64(i) + 0.5) / steps
			switch {
			case a == 0:
				q = append(q, 0)
			case b == 0:
				q = append(q, 1)
			default:
				q = append(q, mathext.InvRegIncBeta(a, b, u))
			}
		}
		return q
	}
	below := func(a, b, x float64) float64 {
		switch {
		case x >= 1 || a == 0 && x >= 0:
			return 1
		case x <= 0 || b == 0:
			return 0
		}
		return mathext.RegIncBeta(a, b, x)
	}
	end := func(se, sp []float64, a, b, level float64, lower bool) float64 {
		at, to := 0.0, 1.0
		for range 40 {
			mid := (at + to) / 2
			chance := 0.0
			for _, s := range se {
				for _, p := range sp {
					if s+p > 1 {
						chance += below(a, b, mid*(s+p-1)+1-p) / steps / steps
					} else if lower {
						chance += 1.0 / steps / steps
					}
				}
			}
			if chance < level {
				at = mid
			} else {
				to = mid
			}
		}
		return (at + to) / 2
	}
	f := func(n int) float64 { return float64(n) }
	tail := (1 - confidence) / 2
	low = end(quantiles(f(passes)+1, f(people-passes)), quantiles(f(fails), f(others-fails)+1), f(k), f(n-k)+1, tail, true)
	high = end(quantiles(f(passes), f(people-passes)+1), quantiles(f(fails)+1, f(others-fails)), f(k)+1, f(n-k), 1-tail, false)
	return low, high
}

// With one episode and one label a task, the interval is the melded one of beta distributions.
func TestCorrectAgainstIntegration(t *testing.T) {
	for _, c := range [][6]int{{85, 100, 90, 100, 95, 100}, {50, 60, 40, 50, 30, 40}, {20, 20, 60, 60, 60, 60}, {0, 30, 45, 50, 50, 50}, {30, 50, 12, 20, 11, 20}} {
		value, iv, ok := Correct(decided(c[0], c[1]), []Errors{{ones(c[2], c[3]), ones(c[4], c[5])}}, 0.95)
		require.True(t, ok)
		low, high := melded(c[0], c[1], c[2], c[3], c[4], c[5], 0.95)
		require.InDelta(t, low, iv.Low, 0.012, "%v", c)
		require.InDelta(t, high, iv.High, 0.012, "%v", c)
		s, p := float64(c[2])/float64(c[3]), float64(c[4])/float64(c[5])
		require.InDelta(t, min(1, max(0, (float64(c[0])/float64(c[1])+p-1)/(s+p-1))), *value, 1e-12, "Rogan and Gladen")
	}
}

func TestCorrect(t *testing.T) {
	perfect := Errors{ones(5000, 5000), ones(5000, 5000)}
	exact, _ := stat.ClopperPearson(85, 100, 0.95)
	value, iv, ok := Correct(decided(85, 100), []Errors{perfect}, 0.95)
	require.True(t, ok)
	require.InDelta(t, 0.85, *value, 1e-12)
	require.InDelta(t, exact.Low, iv.Low, 0.01)
	require.InDelta(t, exact.High, iv.High, 0.01)

	for name, errors := range map[string]Errors{
		"nothing is known": {}, "only of what people pass": {Passes: ones(50, 50)},
		"says nothing": {ones(25, 50), ones(25, 50)}, "is wrong more often than not": {ones(10, 50), ones(10, 50)},
	} {
		value, iv, ok := Correct(decided(100, 100), []Errors{errors}, 0.95)
		require.True(t, ok)
		require.Nil(t, value, name)
		require.Zero(t, iv.Low, name)
		require.Equal(t, 1.0, iv.High, name)
	}

	// What no judge decides is not corrected: the unknown judge of one task in a hundred changes
	// the share by no more than that task.
	list := []Cluster{{N: 1, Decided: map[Pattern]float64{{1, 1}: 1}}}
	for range 99 {
		list = append(list, Cluster{N: 1, Sure: 1})
	}
	_, iv, _ = Correct(list, []Errors{{}}, 0.95)
	exact, _ = stat.ClopperPearson(99, 100, 0.95)
	require.InDelta(t, exact.Low, iv.Low, 0.01)
	require.Equal(t, 1.0, iv.High)

	// Two judges, of whom both must pass: values are multiplied.
	list = nil
	for range 10 {
		list = append(list, Cluster{N: 4, Decided: map[Pattern]float64{{3, 3}: 3, {3, 1}: 1}})
	}
	value, _, _ = Correct(list, []Errors{{ones(90, 100), ones(80, 100)}, {ones(95, 100), ones(85, 100)}}, 0.95)
	first, second, failed := 0.8/0.7, 1.0, -0.15/0.8
	require.InDelta(t, max(0, min(1, (3*first*(0.85+0.15)/0.8*second+first*failed)/4)), *value, 0.2)

	// The order does not matter, and no data is no answer.
	a, b := decided(3, 9), decided(3, 9)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(b), func(i, k int) { b[i], b[k] = b[k], b[i] })
	_, one, _ := Correct(a, []Errors{perfect}, 0.95)
	_, other, _ := Correct(b, []Errors{perfect}, 0.95)
	require.Equal(t, one, other)
	for _, none := range [][]Cluster{nil, {{}}} {
		_, _, ok = Correct(none, []Errors{perfect}, 0.95)
		require.False(t, ok)
	}
	_, _, ok = Correct(a, []Errors{perfect}, 1)
	require.False(t, ok)
}

// setting is what the simulation draws: a run of so many tasks and trials, and labels of other
// episodes, or of the run's own.
type setting struct {
	name                string
	tasks, trials       int
	truth, se, sp, icc  float64
	labels, labelTrials int
	decided             float64 // the share that the judge decides
	own                 bool    // the labels are a random sample of the run's episodes
	low, high           int     // runs whose interval is above the truth, and below
}

func settings() (list []setting) {
	for _, truth := range []float64{0.8, 0.95, 0.5} {
		list = append(list,
			setting{name: "100 × 1, 200 labels", tasks: 100, trials: 1, truth: truth, se: 0.9, sp: 0.85, labels: 200, labelTrials: 1, decided: 1},
			setting{name: "50 × 5, 60 labels, tasks differ", tasks: 50, trials: 5, truth: truth, se: 0.9, sp: 0.85, icc: 0.3, labels: 60, labelTrials: 1, decided: 1},
			setting{name: "50 × 5, 40 × 3 labels, tasks differ", tasks: 50, trials: 5, truth: truth, se: 0.95, sp: 0.7, icc: 0.3, labels: 40, labelTrials: 3, decided: 1},
			setting{name: "30 × 4, 100 labels of the run itself", tasks: 30, trials: 4, truth: truth, se: 0.9, sp: 0.9, icc: 0.3, labels: 100, decided: 1, own: true},
			setting{name: "60 × 2, the judge decides half", tasks: 60, trials: 2, truth: truth, se: 0.85, sp: 0.9, labels: 120, labelTrials: 1, decided: 0.5},
			setting{name: "200 × 1, a weak judge", tasks: 200, trials: 1, truth: truth, se: 0.75, sp: 0.7, labels: 150, labelTrials: 1, decided: 1})
	}
	return list
}

// taskRate draws the true rate of a task: of mean m, with correlation icc between its episodes.
func taskRate(rng *rand.Rand, m, icc float64) float64 {
	if icc == 0 {
		return m
	}
	n := 1/icc - 1
	return mathext.InvRegIncBeta(m*n, (1-m)*n, rng.Float64())
}

// draw makes a run and labels, and returns the true share of the population.
func (s setting) draw(rng *rand.Rand) (run []Cluster, labels []Table) {
	verdict := func(good bool) bool {
		if good {
			return rng.Float64() < s.se
		}
		return rng.Float64() >= s.sp
	}
	label := func(t *Table, good, passed bool) {
		switch {
		case good && passed:
			t.PassPass++
		case good:
			t.PassFail++
		case passed:
			t.FailPass++
		default:
			t.FailFail++
		}
	}
	own := make([]Table, s.tasks)
	chosen := map[int]bool{}
	for _, i := range rng.Perm(s.tasks * s.trials)[:min(s.labels, s.tasks*s.trials)] {
		chosen[i] = true
	}
	for i := range s.tasks {
		c := Cluster{Decided: map[Pattern]float64{}}
		rate := taskRate(rng, s.truth, s.icc)
		for k := range s.trials {
			good := rng.Float64() < rate
			c.N++
			if rng.Float64() >= s.decided {
				c.Sure += map[bool]float64{true: 1}[good]
				continue
			}
			passed := verdict(good)
			c.Decided[Pattern{1, map[bool]uint32{true: 1}[passed]}]++
			if chosen[i*s.trials+k] {
				label(&own[i], good, passed)
			}
		}
		run = append(run, c)
	}
	if s.own {
		return run, own
	}
	for range s.labels {
		var t Table
		rate := taskRate(rng, s.truth, s.icc)
		for range s.labelTrials {
			good := rng.Float64() < rate
			label(&t, good, verdict(good))
		}
		labels = append(labels, t)
	}
	return run, labels
}

// Simulated judges of known error rates show that the interval of a corrected share keeps its
// coverage, and that the uncorrected one does not. With CUPEL_EVIDENCE=1 there are 2,000 runs of
// each setting; -v prints the rows of docs/scorers.md.
func TestSimulationCorrect(t *testing.T) {
	runs, list := 10, settings()[1:3]
	if os.Getenv("CUPEL_EVIDENCE") != "" {
		runs, list = 2000, settings()
	}
	for _, s := range list {
		rng := rand.New(rand.NewPCG(7, math.Float64bits(s.truth)))
		naive := 0
		for range runs {
			run, labels := s.draw(rng)
			_, iv, ok := Correct(run, []Errors{ErrorsOf(labels)}, 0.95)
			require.True(t, ok)
			s.low += map[bool]int{true: 1}[iv.Low > s.truth]
			s.high += map[bool]int{true: 1}[iv.High < s.truth]
			var raw []stat.Cluster
			for _, c := range run {
				raw = append(raw, stat.Cluster{Num: c.Sure + c.Decided[Pattern{1, 1}], Den: c.N})
			}
			if iv, ok := stat.ShareInterval(raw, 0.95); ok && (iv.Low > s.truth || iv.High < s.truth) {
				naive++
			}
		}
		share := func(k int) float64 { return 100 * float64(k) / float64(runs) }
		t.Logf("| %s | %.0f%% | %.0f%%, %.0f%% | %.1f | %.1f | %.1f |", s.name, 100*s.truth, 100*s.se, 100*s.sp, share(runs-naive), share(runs-s.low-s.high), share(s.low))
		for _, k := range []int{s.low, s.high} {
			iv, _ := stat.ClopperPearson(k, runs, 0.999)
			require.LessOrEqual(t, iv.Low, 0.025, "%s at %v: each end errs in at most 2.5%%", s.name, s.truth)
		}
	}
}
