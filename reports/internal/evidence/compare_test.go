package evidence_test

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
)

// change is a pair of runs of one suite; the new run has other probabilities of
// success.
type change struct {
	evidence.Suite
	// worse changes the tasks for the new runs; nil changes none.
	worse func(rng *rand.Rand, tasks []evidence.Task)
	// lose is the losses of the new run only.
	lose func(s *evidence.Suite)
	// rules are those of the comparison.
	rules compare.Rules
	// candidates is the number of candidates, and baselines the number of runs of the
	// baseline; 0 means 1.
	candidates, baselines int
}

// sides draws the runs of the baseline and of each candidate.
func (c change) sides(rng *rand.Rand, tasks []evidence.Task, baseline, newer func(i int, rows ledger.EpisodeRows)) {
	m := c.Manifest("a")
	for i := range max(1, c.baselines) {
		c.Run(rng, tasks, m, "a", func(rows ledger.EpisodeRows) { baseline(i, rows) })
	}
	later := c.Suite
	if c.lose != nil {
		c.lose(&later)
	}
	for i := range max(1, c.candidates) {
		changed := slices.Clone(tasks)
		if c.worse != nil {
			c.worse(rng, changed)
		}
		for k := range changed {
			changed[k] = changed[k-k%max(1, c.Copies)]
		}
		later.Run(rng, changed, m, names[i], func(rows ledger.EpisodeRows) { newer(i, rows) })
	}
}

var names = []string{"b", "c", "d", "e"}

// compared draws the runs and compares them with both methods: the current one with all
// runs of the baseline, the earlier one with the first run of each side.
func (c change) compared(rng *rand.Rand) (now compare.Comparison, old *oldComparison) {
	return c.comparedOf(rng, c.Sample(rng))
}

func (c change) comparedOf(rng *rand.Rand, tasks []evidence.Task) (now compare.Comparison, old *oldComparison) {
	var base []manifest.Manifest
	for i := range max(1, c.baselines) {
		base = append(base, c.Manifest("a"+strconv.Itoa(i), "a"))
	}
	var pairs []compare.Names
	for _, name := range names[:max(1, c.candidates)] {
		pairs = append(pairs, compare.Names{Baseline: "a", New: name})
	}
	b := compare.NewBuilder(base, c.Manifest("b", names[:len(pairs)]...), pairs, c.rules)
	old = newOldComparison()
	c.sides(rng, tasks, func(i int, rows ledger.EpisodeRows) {
		b.AddBaseline(i, rows)
		if i == 0 {
			old.add(0, rows)
		}
	}, func(i int, rows ledger.EpisodeRows) {
		b.AddNew(rows)
		if i == 0 {
			old.add(1, rows)
		}
	})
	now, err := b.Comparison()
	if err != nil {
		panic(err)
	}
	return now, old
}

// says counts how often a comparison has one of the verdicts.
func (c change) says(verdicts ...stat.Verdict) []func(*rand.Rand) []outcome {
	among := func(v stat.Verdict) answer {
		for _, w := range verdicts {
			if v == w {
				return yes
			}
		}
		return no
	}
	return one(func(rng *rand.Rand) []outcome {
		now, old := c.compared(rng)
		return []outcome{{among(old.verdict(0.05)), among(now.Verdict)}}
	})
}

// mixedMean is the mean solved share of mixed tasks.
const mixedMean = 0.5 + 0.2*0.9 + 0.1*0.5 + 0.1*0.1

// mixed draws tasks of which most are always solved, and some never, rarely or often. A
// tenth of them breaks the contract in a tenth of its turns, on average.
func mixed(rng *rand.Rand) (t evidence.Task) {
	t = evidence.Task{Size: evidence.LogNormal(0.5)(rng)}
	t.Solved = testkit.TaskShare(rng)
	if rng.Float64() < 0.1 {
		t.Invalid = 0.2 * rng.Float64()
	}
	return t
}
