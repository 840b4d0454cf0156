package stat_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
)

// size returns the number of synthetic suites and how far a share over them may be from
// what is promised. The default is 200 suites and five points. With CUPEL_EVIDENCE=1 it
// is 10,000 suites and one point; there a share of 95% has a standard error of 0.2
// points. -v prints the figures.
func size() (suites int, slack float64) {
	if testkit.Evidence() {
		return 10_000, 0.01
	}
	return 200, 0.05
}

func coin(rng *rand.Rand, p float64) float64 {
	if rng.Float64() < p {
		return 1
	}
	return 0
}

// pairs returns the differences between two runs of a suite of tasks with the given
// trials. change maps a task's share in the baseline to that in the new run.
func pairs(rng *rand.Rand, tasks, trials int, change func(p float64) float64) []stat.Observation {
	list := make([]stat.Observation, 0, tasks*trials)
	for g := range tasks {
		before := testkit.TaskShare(rng)
		after := change(before)
		for range trials {
			list = append(list, stat.Observation{Cluster: strconv.Itoa(g), Value: coin(rng, after) - coin(rng, before)})
		}
	}
	return list
}

// within requires that hits/n is at most slack from want.
func within(t *testing.T, what string, hits, n int, want, slack float64) {
	t.Helper()
	iv, _ := stat.ClopperPearson(hits, n, 0.99)
	t.Logf("%-46s %.4f of %d, 99 %% interval %.4f to %.4f, promised %.3f", what, float64(hits)/float64(n), n, iv.Low, iv.High, want)
	require.InDelta(t, want, float64(hits)/float64(n), slack, what)
}

// atMost requires that hits of n do not show a share above limit.
func atMost(t *testing.T, what string, hits, n int, limit float64) {
	t.Helper()
	iv, _ := stat.ClopperPearson(hits, n, 0.99)
	t.Logf("%-46s %.4f of %d, 99 %% interval %.4f to %.4f, at most %.3f", what, float64(hits)/float64(n), n, iv.Low, iv.High, limit)
	require.LessOrEqual(t, iv.Low, limit, what)
}

// atLeast requires that hits of n do not show a share below limit.
func atLeast(t *testing.T, what string, hits, n int, limit float64) {
	t.Helper()
	iv, _ := stat.ClopperPearson(hits, n, 0.99)
	t.Logf("%-46s %.4f of %d, 99 %% interval %.4f to %.4f, at least %.3f", what, float64(hits)/float64(n), n, iv.Low, iv.High, limit)
	if iv.High < limit {
		t.Errorf("%s: %d of %d, not %.2f", what, hits, n, limit)
	}
}

// Without a change, tests by task raise an alarm at most as often as their level.
func TestSimulationFalseAlarms(t *testing.T) {
	suites, _ := size()
	const alpha = 0.05
	for _, c := range [][2]int{{12, 8}, {30, 4}, {60, 8}, {60, 1}} {
		rng := rand.New(rand.NewPCG(11, uint64(c[0]*100+c[1])))
		flips, student, worse := 0, 0, 0
		for range suites {
			list := pairs(rng, c[0], c[1], func(p float64) float64 { return p })
			if p, ok := stat.PairedPermutation(list); ok && p.P <= alpha {
				flips++
			}
			m, _ := stat.ClusterMean(list)
			if p, ok := m.P(0); ok && p <= alpha {
				student++
			}
			if v, _ := m.ShareInterval(1 - 2*alpha); v.High < 0 {
				worse++
			}
		}
		name := strconv.Itoa(c[0]) + " tasks × " + strconv.Itoa(c[1])
		atMost(t, name+": permutation", flips, suites, alpha)
		atMost(t, name+": t by task", student, suites, alpha)
		atMost(t, name+": worse, one-sided, no margin", worse, suites, alpha)
	}
}

// If tasks drift up and down between runs without a common direction, trials of one
// task are correlated. Tests by task keep their level. The sign test over trials, which
// must not be used for this, does not.
func TestSimulationClusteredFalseAlarms(t *testing.T) {
	suites, _ := size()
	rng := rand.New(rand.NewPCG(12, 1))
	flips, student, signs := 0, 0, 0
	for range suites {
		drift := func(p float64) float64 { return min(1, max(0, p+0.4*(rng.Float64()-0.5))) }
		var list []stat.Observation
		for g := range 40 {
			p := 0.2 + 0.6*rng.Float64()
			before, after := drift(p), drift(p)
			for range 8 {
				list = append(list, stat.Observation{Cluster: strconv.Itoa(g), Value: coin(rng, after) - coin(rng, before)})
			}
		}
		p, _ := stat.PairedPermutation(list)
		m, _ := stat.ClusterMean(list)
		s, _ := m.P(0)
		plus, minus := 0, 0
		for _, o := range list {
			plus, minus = plus+int(max(0, o.Value)), minus+int(max(0, -o.Value))
		}
		n, _ := stat.McNemar(plus, minus)
		for _, c := range []struct {
			p    float64
			hits *int
		}{{p.P, &flips}, {s, &student}, {n, &signs}} {
			if c.p <= 0.05 {
				*c.hits++
			}
		}
	}
	atMost(t, "drifting tasks: permutation", flips, suites, 0.05)
	atMost(t, "drifting tasks: t by task", student, suites, 0.05)
	t.Logf("drifting tasks: signs of trials, misused        %.4f", float64(signs)/float64(suites))
	require.Greater(t, float64(signs)/float64(suites), 0.06)
}

// A candidate that is worse by exactly the margin is called not worse with probability
// α. Losses of pass and fail are skewed, so up to one point is added.
func TestSimulationNonInferiority(t *testing.T) {
	suites, _ := size()
	for _, c := range [][2]int{{30, 8}, {60, 4}, {150, 1}} {
		rng := rand.New(rand.NewPCG(13, uint64(c[0])))
		passed := 0
		for range suites {
			// Every task loses a tenth of its passes: the true loss is a tenth of the
			// mean share, 0.5 + 0.18 + 0.05 + 0.01.
			list := pairs(rng, c[0], c[1], func(p float64) float64 { return 0.9 * p })
			m, _ := stat.ClusterMean(list)
			if v, ok := m.ShareInterval(0.9); ok && v.Low > -0.074 {
				passed++
			}
		}
		atMost(t, strconv.Itoa(c[0])+" tasks × "+strconv.Itoa(c[1])+": not worse, at the margin", passed, suites, 0.06)
	}
}

// covered counts how often intervals contain the true value.
type covered map[string]int

func (c covered) add(name string, truth float64, iv stat.Interval, ok bool) {
	if ok && iv.Low <= truth && truth <= iv.High {
		c[name]++
	}
}

// Intervals over suites contain the true value as often as promised. The true value is
// the mean over all possible tasks; a suite is a sample of them.
func TestSimulationCoverage(t *testing.T) {
	suites, slack := size()
	for _, tasks := range []int{20, 60} {
		rng, hits := rand.New(rand.NewPCG(16, uint64(tasks))), covered{}
		for range suites {
			differences, steps := []stat.Observation{}, []stat.Observation{}
			perTask := make([]stat.Trials, tasks)
			for g := range tasks {
				p, hard := 0.5+0.5*rng.Float64(), 5+rng.NormFloat64()
				perTask[g].N = 8
				for range 8 {
					v := coin(rng, p)
					perTask[g].Passed += int(v)
					differences = append(differences, stat.Observation{Cluster: strconv.Itoa(g), Value: coin(rng, p) - v})
					steps = append(steps, stat.Observation{Cluster: strconv.Itoa(g), Value: math.Round(hard + rng.NormFloat64())})
				}
			}
			interval := func(m stat.Mean, _ bool) (stat.Interval, bool) { return m.Interval(0.95) }
			iv, ok := interval(stat.ClusterMean(steps))
			hits.add("t around steps", 5, iv, ok)
			iv, ok = interval(stat.ClusterMean(differences))
			hits.add("t around differences", 0, iv, ok)
			iv, ok = stat.ShareInterval(stat.PassesAll(perTask, 3), 0.95)
			hits.add("pass^3", (1-math.Pow(0.5, 4))/4/0.5, iv, ok) // ∫ p³ over ½…1
		}
		for _, name := range []string{"t around steps", "t around differences"} {
			within(t, strconv.Itoa(tasks)+" tasks: "+name, hits[name], suites, 0.95, slack)
		}
		atLeast(t, strconv.Itoa(tasks)+" tasks: pass^3", hits["pass^3"], suites, 0.94)
	}
}

// The durations are skewed and correlated within a task. The true quantiles are those
// of the mixture: exp(X+Y), with X+Y normal of variance 0.5+0.5.
func TestSimulationCoverageOfQuantiles(t *testing.T) {
	suites, slack := size()
	rng, hits := rand.New(rand.NewPCG(19, 1)), map[float64]int{}
	shares := []float64{0.5, 0.9, 0.95}
	for range suites / 2 {
		list := make([]stat.Observation, 0, 480)
		for g := range 60 {
			shared := rng.NormFloat64()
			for range 8 {
				list = append(list, stat.Observation{Cluster: strconv.Itoa(g), Value: math.Exp((shared + rng.NormFloat64()) * math.Sqrt(0.5))})
			}
		}
		for _, p := range shares {
			truth := math.Exp(math.Sqrt2 * math.Erfinv(2*p-1))
			if iv, ok := stat.QuantileInterval(list, p, 0.95); ok && iv.Low <= truth && truth <= iv.High {
				hits[p]++
			}
		}
	}
	for _, p := range shares {
		within(t, "quantile "+strconv.FormatFloat(p, 'g', -1, 64), hits[p], suites/2, 0.95, slack+0.01)
	}
}

// Coverage of intervals for plain shares needs no simulation: it is a sum over all
// counts. Clopper–Pearson never falls below its level, on either side.
func TestCoverageOfShares(t *testing.T) {
	const n, points = 60, 999
	for i := 1; i <= points; i++ {
		p := float64(i) / (points + 1)
		exact, above, weight := 0.0, 0.0, math.Pow(1-p, n)
		for k := 0; k <= n; k++ {
			iv, _ := stat.ClopperPearson(k, n, 0.95)
			if iv.Low <= p && p <= iv.High {
				exact += weight
			}
			if iv.Low > p {
				above += weight
			}
			weight *= float64(n-k) / float64(k+1) * p / (1 - p)
		}
		require.GreaterOrEqual(t, exact, 0.95-1e-9, "at %v", p)
		require.LessOrEqual(t, above, 0.025+1e-9, "at %v", p)
	}
}

// Two runs have eight trials each. Without a change, a task is called broken with
// probability at most alpha, and fixed with probability at most alpha. A solid task is
// called what it is. A task that fails half the time is flaky, except in 2·2^-16 of
// cases and false alarms.
func TestSimulationFlakes(t *testing.T) {
	suites, slack := size()
	classes := []flake.Stability{flake.StablePass, flake.StableFail, flake.Flaky, flake.NewlyBroken, flake.NewlyFixed, flake.Unclear}
	rng := rand.New(rand.NewPCG(18, 1))
	draw := func(p float64) stat.Trials {
		task := stat.Trials{N: 8}
		for range 8 {
			task.Passed += int(coin(rng, p))
		}
		return task
	}
	for _, c := range []struct {
		before, after float64
		want          map[flake.Stability]float64 // exact, from sums over the binomial distribution
	}{
		{0, 0, map[flake.Stability]float64{flake.StableFail: 1}},
		{0.1, 0.1, map[flake.Stability]float64{flake.StableFail: math.Pow(0.9, 16)}},
		{0.5, 0.5, map[flake.Stability]float64{flake.StablePass: 0, flake.StableFail: 0}},
		{0.9, 0.9, map[flake.Stability]float64{flake.StablePass: math.Pow(0.9, 16)}},
		{1, 1, map[flake.Stability]float64{flake.StablePass: 1}},
		{1, 0, map[flake.Stability]float64{flake.NewlyBroken: 1}},
		{0, 1, map[flake.Stability]float64{flake.NewlyFixed: 1}},
		// For a task that always passed before, four or more failures of eight are
		// significant.
		{1, 0.5, map[flake.Stability]float64{flake.NewlyBroken: 163.0 / 256}},
		{0.9, 0.1, nil},
		{0.1, 0.9, nil},
	} {
		counts := map[flake.Stability]int{}
		for range suites {
			e, ok := flake.Classify(draw(c.before), draw(c.after), 0.05)
			require.True(t, ok)
			counts[e.Class]++
		}
		row := ""
		for _, class := range classes {
			got := float64(counts[class]) / float64(suites)
			row += "  " + string(class) + " " + strconv.FormatFloat(got, 'f', 4, 64)
			if want, ok := c.want[class]; ok {
				require.InDelta(t, want, got, 2*slack, "%v to %v: %s", c.before, c.after, class)
			}
		}
		t.Logf("p %.1f to %.1f:%s", c.before, c.after, row)
		if c.before == c.after {
			atMost(t, "called broken", counts[flake.NewlyBroken], suites, 0.05)
			atMost(t, "called fixed", counts[flake.NewlyFixed], suites, 0.05)
		}
	}
}
