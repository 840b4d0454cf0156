package evidence_test

import (
	"math/rand/v2"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
)

const (
	roundsFail  = "a run in rounds fails an unchanged agent"
	roundsPass  = "a run in rounds passes a loss of the margin"
	roundsGreen = "a run in rounds with an agent that solves 10 points less ends with 0"
	roundsSaved = "a trial of an unchanged agent is not needed in rounds"
)

// inRounds compares a run, trial by trial, with a baseline of three runs, up to the
// round that decides. fixed is the comparison after all trials.
func (c change) inRounds(rng *rand.Rand) (verdict, fixed stat.Verdict, rounds int) {
	tasks, base := c.Sample(rng), c.Manifest("a", "a")
	var before [3][]ledger.EpisodeRows
	var after []ledger.EpisodeRows
	draw := func(to *[]ledger.EpisodeRows) func(ledger.EpisodeRows) {
		return func(rows ledger.EpisodeRows) {
			rows.Turns = append([]ledger.Turn{}, rows.Turns...)
			*to = append(*to, rows)
		}
	}
	for i := range before {
		c.Run(rng, tasks, base, "a", draw(&before[i]))
	}
	if c.worse != nil {
		c.worse(rng, tasks)
	}
	c.Run(rng, tasks, base, "a", draw(&after))

	look := func(trials int, decide *manifest.Decide) stat.Verdict {
		newer := c.Manifest("b", "a")
		newer.Trials, newer.Decide = trials, decide
		runs := []manifest.Manifest{c.Manifest("a0", "a"), c.Manifest("a1", "a"), c.Manifest("a2", "a")}
		b := compare.NewBuilder(runs, newer, []compare.Names{{Baseline: "a", New: "a"}}, c.rules)
		for i, list := range before {
			for _, rows := range list {
				b.AddBaseline(i, rows)
			}
		}
		for _, rows := range after {
			if int(rows.Episode.Trial) <= trials {
				b.AddNew(rows)
			}
		}
		compared, err := b.Comparison()
		if err != nil {
			panic(err)
		}
		return compared.Verdict
	}
	decide := manifest.Decide{}
	for trial := range c.Trials {
		decide.Rounds = append(decide.Rounds, trial+1)
	}
	for rounds < c.Trials && (rounds == 0 || verdict == stat.Inconclusive) {
		rounds++
		decide.Finished = rounds
		verdict = look(rounds, &decide)
	}
	return verdict, look(c.Trials, nil), rounds
}

// rounds are simulations of runs whose trials stop when the comparison is decided.
func rounds() (list []simulation) {
	suite := func(icc float64) evidence.Suite {
		return evidence.Suite{Tasks: 100, Trials: 5, Turns: 3, Task: shared(0.9, 0.02, icc)}
	}
	equal := evidence.Suite{Tasks: 100, Trials: 5, Turns: 3, Task: mixed, Night: 0.3}
	for _, c := range []struct {
		setting string
		change
	}{
		{"100 × at most 5, three runs of the baseline, ICC 0.3", change{Suite: suite(0.3)}},
		{"100 × at most 5, three runs of the baseline, ICC 0", change{Suite: suite(0)}},
		{"100 × at most 5, three runs of the baseline, trials of a task in a run resemble each other", change{Suite: equal}},
	} {
		list = append(list, simulation{
			setting: c.setting, suites: 1000, claims: []claim{{name: roundsFail, atMost: 0.05}, {name: roundsSaved, atLeast: 0.3}},
			cases: one(func(rng *rand.Rand) []outcome {
				verdict, fixed, rounds := c.inRounds(rng)
				return []outcome{{is(fixed == stat.Fail), is(verdict == stat.Fail)}, {no, is(rng.IntN(c.Trials) >= rounds)}}
			}),
		})
	}
	for _, c := range []struct {
		setting, claim string
		change
		limit    float64
		verdicts []stat.Verdict
	}{
		{"100 × at most 5, ICC 0.3, every task loses 5 points", roundsPass, change{Suite: suite(0.3), worse: fades(0.05, 0.9)}, 0.05, []stat.Verdict{stat.Pass}},
		{"100 × at most 5, ICC 0.3, tasks break for 10 points", roundsGreen, change{Suite: suite(0.3), worse: breaksOf(0.1)}, 0.2, green},
	} {
		among := func(v stat.Verdict) answer {
			for _, w := range c.verdicts {
				if v == w {
					return yes
				}
			}
			return no
		}
		list = append(list, simulation{
			setting: c.setting, suites: 1000, claims: []claim{{name: c.claim, atMost: c.limit}},
			cases: one(func(rng *rand.Rand) []outcome {
				verdict, fixed, _ := c.inRounds(rng)
				return []outcome{{among(fixed), among(verdict)}}
			}),
		})
	}
	return list
}
