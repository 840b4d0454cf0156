package model

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/stat"
)

// decideOld is the rule that cupel used before: up to max_infra, lost episodes were
// excluded as if they were lost at random. It is kept for comparison.
func decideOld(criteria []Criterion, p *pool, a manifest.Acceptance) stat.Verdict {
	o := p.outcomes()
	if stat.CompareRatio(int64(lostOutcomes(o).WithoutResult()), int64(planned(o)), a.MaxInfra) > 0 {
		return stat.Inconclusive
	}
	return verdictOf(criteria)
}

// lossy draws the episodes of a candidate with a true share of solved episodes and an
// intra-task correlation of 0.3. It loses some episodes, at most a share of all: failed
// ones, or random ones.
func lossy(rng *rand.Rand, tasks, trials int, solves, loses float64, failures bool, a manifest.Acceptance) *pool {
	const size = 1/0.3 - 1
	p := &pool{}
	solved := make([]bool, 0, tasks*trials)
	for range tasks {
		own := distuv.Beta{Alpha: solves * size, Beta: (1 - solves) * size, Src: rng}.Rand()
		for range trials {
			solved = append(solved, rng.Float64() < own)
		}
	}
	lost, left := make([]bool, len(solved)), int(loses*float64(len(solved)))
	for _, i := range rng.Perm(len(solved)) {
		if left > 0 && (!failures || !solved[i]) {
			lost[i] = true
			left--
		}
	}
	turns := []ledger.Turn{{Role: "main", ContractValid: true}, {Role: "main", ContractValid: true}}
	for i, ok := range solved {
		e := &Episode{Task: strconv.Itoa(i / trials), Trial: i%trials + 1, Solved: ok, Steps: 2}
		row := ledger.Episode{Status: "answered", Solved: ok}
		if lost[i] {
			e.Excluded = ledger.LostToInfra
		}
		p.add(e.Task, e, ledger.EpisodeRows{Episode: row, Turns: turns}, a.MaxSteps)
	}
	return p
}

// Failures can be lost, as when a provider loses long answers. A candidate whose true
// share equals the threshold of 80% then passes in at most 2.5% of runs; with the old
// rule it passes far more often. Random losses cost a good candidate little. With
// CUPEL_EVIDENCE the rows must be those of docs/evidence.md.
func TestSimulationLostFailures(t *testing.T) {
	runs := 40
	evidence := testkit.Evidence()
	if evidence {
		runs = 4000
	}
	a := manifest.Acceptance{MinValid: 0.5}.Resolved() // so that the share of solved episodes decides
	oldFalse := 0
	for si, s := range [][2]int{{100, 1}, {100, 3}, {300, 1}, {300, 3}} {
		for ci, c := range []struct {
			solves, loses float64
			failures      bool
		}{{0.8, 0.05, true}, {0.77, 0.05, true}, {0.9, 0.01, false}, {0.95, 0.01, false}, {0.95, 0.05, false}} {
			rng := rand.New(rand.NewPCG(uint64(si), uint64(ci)))
			was, is := 0, 0
			for range runs {
				p := lossy(rng, s[0], s[1], c.solves, c.loses, c.failures, a)
				criteria := p.criteria(a, strategy.Contract)
				v, said := decide(criteria, p, &manifest.Manifest{RunID: "r", Acceptance: a}, false)
				old := decideOld(criteria, p, a)
				require.False(t, v == stat.Pass && old != stat.Pass && lostOutcomes(p.outcomes()).InfraErrors <= s[0]*s[1]/20, "what passes passed before: %s", said)
				was, is = was+int(one(old == stat.Pass)), is+int(one(v == stat.Pass))
			}
			what := "by chance"
			if c.failures {
				what = "failures"
				oldFalse += was
				iv, _ := stat.ClopperPearson(is, runs, 0.99)
				require.LessOrEqual(t, iv.Low, 0.025, "%v: false passes", s)
			}
			row := fmt.Sprintf("| %d × %d | %.0f%% | %.0f%%, %s | %s | %s |", s[0], s[1], 100*c.solves, 100*c.loses, what, measured(was, runs), measured(is, runs))
			t.Log(row)
			if evidence {
				page, err := os.ReadFile("../../docs/evidence.md")
				require.NoError(t, err)
				require.Contains(t, string(page), row)
			}
		}
	}
	require.Greater(t, oldFalse, runs, "the old rule let losses pass, in more than one of eight runs")
}

// measured formats a simulated rate with its 99% interval, in percent.
func measured(hits, n int) string {
	iv, _ := stat.ClopperPearson(hits, n, 0.99)
	return fmt.Sprintf("%.1f (%.1f–%.1f)", 100*float64(hits)/float64(n), 100*iv.Low, 100*iv.High)
}
