package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
)

// sequentialTasks and sequentialTrials are the size of the simulated runs.
const sequentialTasks, sequentialTrials = 100, 5

// growth is a simulated run that grows by one trial of each task at a time. It counts
// the passes of each task so far.
type growth struct {
	rng    *rand.Rand
	share  []float64 // of each task
	passed []float64
	trials int
}

func (g *growth) round() {
	for i, p := range g.share {
		if g.rng.Float64() < p {
			g.passed[i]++
		}
	}
	g.trials++
}

func newGrowth(rng *rand.Rand, share []float64) *growth {
	return &growth{rng: rng, share: share, passed: make([]float64, len(share))}
}

// acceptance compares the share of passes with a threshold of 80%, by an interval of
// this confidence.
func (g *growth) acceptance(confidence float64) stat.Verdict {
	list := make([]stat.Cluster, len(g.passed))
	for i, n := range g.passed {
		list[i] = stat.Cluster{Num: n, Den: float64(g.trials)}
	}
	iv, _ := stat.ShareInterval(list, confidence)
	switch {
	case iv.Low >= 0.8:
		return stat.Pass
	case iv.High < 0.8:
		return stat.Fail
	}
	return stat.Inconclusive
}

// regression judges the paired difference to a baseline. It returns fail for a
// significant loss, pass if a loss of 5 points is ruled out, and no regression if the
// power to detect a loss of 10 points is 80%.
func (g *growth) regression(baseline []float64, level float64) stat.Verdict {
	list := make([]stat.Observation, len(g.passed))
	for i, n := range g.passed {
		list[i] = stat.Observation{Cluster: fmt.Sprint(i), Value: n/float64(g.trials) - baseline[i]}
	}
	m, _ := stat.ClusterMean(list)
	change, _ := m.ShareInterval(1 - 2*level)
	switch power := evidence.Power(len(list), m.SE*math.Sqrt(float64(len(list))), 2*level, 0.1); {
	case change.High < 0:
		return stat.Fail
	case change.Low > -0.05:
		return stat.Pass
	case power >= 0.8 && m.SE > 0:
		return stat.NoRegression
	}
	return stat.Inconclusive
}

// tally counts the verdicts of many runs and the rounds that they took.
type tally struct{ pass, fail, none, rounds float64 }

func (c *tally) add(v stat.Verdict, rounds, runs int) {
	c.rounds += float64(rounds) / float64(runs)
	switch v {
	case stat.Pass:
		c.pass += 1 / float64(runs)
	case stat.Fail:
		c.fail += 1 / float64(runs)
	case stat.NoRegression:
		c.none += 1 / float64(runs)
	}
}

func (c tally) saved() float64 { return 1 - c.rounds/sequentialTrials }

// setting describes the simulated agent.
type setting struct {
	name, test string
	icc        int // of evidence.Mechanisms
	// share is the true share of passes, in a comparison that of the baseline. broken
	// and fixed are the shares of tasks that never and always pass in the new run.
	share, broken, fixed float64
}

// simulate runs one setting in three ways: in rounds with corrected levels, in rounds
// with the level of a single look, and all trials at once.
func (s setting) simulate(rng *rand.Rand, runs int) (corrected, naive, fixed tally) {
	draw := evidence.Mechanisms()[s.icc].Draw
	rounds := equalRounds(sequentialTrials)
	var levels, confidences []float64
	for at := range rounds {
		l := stat.Look{Rounds: rounds, At: at + 1}
		levels, confidences = append(levels, l.Level(0.05)), append(confidences, l.Confidence(0.95))
	}
	for range runs {
		share, baseline := make([]float64, sequentialTasks), make([]float64, sequentialTasks)
		for i := range share {
			share[i] = draw(rng, s.share)
			for range 3 * sequentialTrials { // three pooled runs
				if rng.Float64() < share[i] {
					baseline[i] += 1.0 / (3 * sequentialTrials)
				}
			}
			switch u := rng.Float64(); {
			case u < s.broken:
				share[i] = 0
			case u > 1-s.fixed:
				share[i] = 1
			}
		}
		g := newGrowth(rng, share)
		judge := func(level, confidence float64) stat.Verdict {
			if s.test == "acceptance" {
				return g.acceptance(confidence)
			}
			return g.regression(baseline, level)
		}
		open := [2]bool{true, true}
		for at := range rounds {
			g.round()
			last := at == len(rounds)-1
			if v := judge(levels[at], confidences[at]); open[0] && (v != stat.Inconclusive || last) {
				corrected.add(v, at+1, runs)
				open[0] = false
			}
			v := judge(0.05, 0.95)
			if open[1] && (v != stat.Inconclusive || last) {
				naive.add(v, at+1, runs)
				open[1] = false
			}
			if last {
				fixed.add(v, at+1, runs)
			}
		}
	}
	return corrected, naive, fixed
}

// Over all of its looks, a run in rounds errs at most as often as promised. It saves at
// least 30% of the episodes if an agent is unchanged, clearly worse or clearly better.
// Rounds that use the level of a single look err more often than that. With
// CUPEL_EVIDENCE the rows must be those of docs/sequential.md.
func TestSequentialSimulation(t *testing.T) {
	testkit.Slow(t)
	runs := 60
	if testkit.Evidence() {
		runs = 4000
	}
	rng := rand.New(rand.NewPCG(15, 7))
	percent := func(v float64) string { return fmt.Sprintf("%.1f", 100*max(0, v)) }
	row := func(name string, icc int, of func(tally) float64, a, b, c tally) string {
		return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", name, []string{"0", "0.1", "0.3", "0.6"}[icc], percent(of(a)), percent(of(c)), percent(of(b)), percent(a.saved()))
	}
	worstNaive := 0.0
	fail, pass := func(c tally) float64 { return c.fail }, func(c tally) float64 { return c.pass }
	good := func(c tally) float64 { return c.pass + c.none }
	for icc := range 4 {
		for _, s := range []struct {
			setting
			of    func(tally) float64
			most  float64 // of errors; 0 if the rate is not one of errors
			saves bool
		}{
			{setting{"acceptance: false passes at the threshold of 80%", "acceptance", icc, 0.8, 0, 0}, pass, 0.035, false},
			{setting{"acceptance: false fails at the threshold of 80%", "acceptance", icc, 0.8, 0, 0}, fail, 0.035, false},
			{setting{"acceptance: passes of an agent at 95%", "acceptance", icc, 0.95, 0, 0}, pass, 0, true},
			{setting{"acceptance: fails of an agent at 50%", "acceptance", icc, 0.5, 0, 0}, fail, 0, true},
			{setting{"baseline: false fails of an unchanged agent", "regression", icc, 0.8, 0, 0}, fail, 0.05, true},
			{setting{"baseline: passes or no significant regression of an unchanged agent", "regression", icc, 0.8, 0, 0}, good, 0, true},
			{setting{"baseline: false passes at a loss of 5 points", "regression", icc, 0.8, 0.0625, 0}, pass, 0.05, false},
			{setting{"baseline: fails at a loss of 10 points", "regression", icc, 0.8, 0.125, 0}, fail, 0, false},
			{setting{"baseline: fails at a loss of 20 points", "regression", icc, 0.8, 0.25, 0}, fail, 0, true},
			{setting{"baseline: passes at a gain of 10 points", "regression", icc, 0.8, 0, 0.5}, pass, 0, true},
		} {
			corrected, naive, fixed := s.simulate(rng, runs)
			t.Log(row(s.name, icc, s.of, corrected, naive, fixed))
			if s.most > 0 {
				require.LessOrEqual(t, s.of(corrected), s.most+4*math.Sqrt(s.most/float64(runs)), s.name)
				if s.of(fixed) > 0 {
					worstNaive = max(worstNaive, s.of(naive)/s.most)
				}
			}
			if s.saves {
				require.GreaterOrEqual(t, corrected.saved(), 0.3, "%s, ICC %d", s.name, icc)
			}
		}
	}
	require.Greater(t, worstNaive, 1.4, "looks without correction")
}
