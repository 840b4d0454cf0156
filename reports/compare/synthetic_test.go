package compare

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// world is a population of synthetic tasks. Two runs of one suite are drawn from it.
type world struct {
	tasks, trials, pairs int
	// share draws a task's true share of passes in the baseline and in the new run.
	share func(rng *rand.Rand) (before, after float64)
	// The other values are drawn only on request: turns, of which most are valid, each
	// with a latency; steps and cost that differ between tasks and trials.
	turns, sizes bool
	// after is the factor for the sizes of a trial of the new run; 1 means no change.
	after float64
	// lost is the share of episodes without a result.
	lost float64
}

// traits are the properties of a task.
type traits struct {
	before, after float64
	valid, size   float64
}

// compare draws both runs and compares them. judge stops at the verdicts, which
// Comparison computes first.
func (w world) compare(rng *rand.Rand, rules Rules) Comparison {
	return finished(w.draw(rng, rules))
}

func (w world) judge(rng *rand.Rand, rules Rules) []comparing {
	all, err := w.draw(rng, rules).judge(nil)
	if err != nil {
		panic(err)
	}
	return all
}

func (w world) draw(rng *rand.Rand, rules Rules) *Builder {
	m := manifest.Manifest{Trials: w.trials, Status: "complete", Acceptance: manifest.Acceptance{MaxInfra: 1}}
	for i := range w.tasks {
		m.Tasks = append(m.Tasks, manifest.Task{ID: taskID(i)})
	}
	var pairs []Names
	for i := range w.pairs {
		pairs = append(pairs, Names{"a", "b" + strconv.Itoa(i)})
	}
	b := NewBuilder([]manifest.Manifest{m}, m, pairs, rules)
	turns := make([]ledger.Turn, 8)
	for i := range w.tasks {
		t := traits{valid: 1, size: 1}
		t.before, t.after = w.share(rng)
		if rng.Float64() < 0.3 {
			t.valid = 0.7 + 0.3*rng.Float64()
		}
		t.size = math.Exp(0.5 * rng.NormFloat64())
		id := m.Tasks[i].ID
		w.run(rng, b.addBaseline, id, "a", t, t.before, 1, turns)
		for _, p := range pairs {
			w.run(rng, b.AddNew, id, p.New, t, t.after, w.after, turns)
		}
	}
	return b
}

// run draws the trials of one task by one candidate.
func (w world) run(rng *rand.Rand, add func(ledger.EpisodeRows), id, candidate string, t traits, share, growth float64, turns []ledger.Turn) {
	for trial := range w.trials {
		rows := ledger.EpisodeRows{Episode: ledger.Episode{
			Key: ledger.Key{TaskID: id, Candidate: candidate, Trial: int32(trial + 1)}, Status: "answered", ExpectedStatus: "answered",
			Solved: rng.Float64() < share,
		}}
		e := &rows.Episode
		if w.lost > 0 && rng.Float64() < w.lost {
			e.Status = ledger.StatusInfraError
		}
		if w.sizes {
			e.Steps = int32(math.Round(1 + 3*t.size*growth*math.Exp(0.3*rng.NormFloat64())))
			e.CostNanoUSD = new(int64(1e6 * t.size * growth * math.Exp(0.5*rng.NormFloat64())))
		}
		if w.turns {
			rows.Turns = turns[:2+rng.IntN(5)]
			for i := range rows.Turns {
				rows.Turns[i] = ledger.Turn{Turn: int32(i + 1), Role: "main", NextActionType: "tool", ContractValid: rng.Float64() < t.valid}
				if w.sizes {
					rows.Turns[i].DurationUs = new(int64(3e5 * t.size * growth * math.Exp(0.5*rng.NormFloat64())))
				}
			}
		}
		add(rows)
	}
}

// still does not change the share. With drifting, tasks go up and down without a common
// direction.
func still(rng *rand.Rand) (float64, float64) {
	p := testkit.TaskShare(rng)
	return p, p
}

func drifting(rng *rand.Rand) (float64, float64) {
	p := 0.2 + 0.6*rng.Float64()
	return p + 0.4*(rng.Float64()-0.5), p + 0.4*(rng.Float64()-0.5)
}

func always(before, after float64) func(*rand.Rand) (float64, float64) {
	return func(*rand.Rand) (float64, float64) { return before, after }
}
