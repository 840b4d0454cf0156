// Package evidence draws synthetic runs for simulations of cupel's statistics. What it
// draws is not independent, as real runs are not: trials and turns of a task resemble
// each other, some tasks fail in every trial, a task may come out otherwise from night to
// night, failures are lost as infrastructure errors, costs have heavy tails, tasks are
// copies of each other. Its tests are the simulations behind the table of
// docs/evidence.md.
//
// Everything is drawn from the source of randomness that is passed in: equal seeds give
// equal rows.
package evidence

import (
	"math/rand/v2"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Task is what a task is like for a model.
type Task struct {
	// Solved is the share of its trials that are solved, and Invalid that of its turns
	// whose first output breaks the contract.
	Solved, Invalid float64
	// Size multiplies the cost and time of its episodes, and their steps beyond the first:
	// an episode takes 1 + 3·Size steps on average. 0 means 1.
	Size float64
}

// Suite describes the runs of one suite of tasks.
type Suite struct {
	Tasks, Trials int
	// Task draws a task of all that there could be.
	Task func(rng *rand.Rand) Task
	// Turns is the mean number of judged turns of an episode, which has 1 to 2·Turns−1
	// of them; 0 means none.
	Turns int
	// Unequal says that each run has 1 to 2·Trials−1 trials of a task, instead of Trials.
	Unequal bool
	// Dominant says that the first task has a hundred times the turns and cost of others.
	Dominant bool
	// Copies is how many names each drawn task has; Tasks counts the names. 0 means 1.
	Copies int
	// Night is the correlation of a task's trials within one run, beyond Task.Solved:
	// 0 draws each trial by itself, and at 1, as of a model at temperature 0, all trials
	// of a task in a run are equal. Copies of a task share it.
	Night float64
	// LostFailed and LostSolved are the chances of a failed and a solved episode to be
	// lost as an infrastructure error, until MaxLost of all episodes are lost.
	LostFailed, LostSolved, MaxLost float64
	// Noise multiplies cost and time of an episode, whose mean is 1,000,000 nano-USD and
	// microseconds; nil means that nothing costs anything or takes time.
	Noise func(rng *rand.Rand) float64
}

// Sample draws the tasks of the suite.
func (s Suite) Sample(rng *rand.Rand) []Task {
	tasks := make([]Task, s.Tasks)
	copies := max(1, s.Copies)
	for i := range tasks {
		if i%copies > 0 {
			tasks[i] = tasks[i-1]
			continue
		}
		tasks[i] = s.Task(rng)
	}
	return tasks
}

// Manifest is that of a finished run of the suite. Its candidates have one provider and
// model each.
func (s Suite) Manifest(runID string, candidates ...string) manifest.Manifest {
	m := manifest.Manifest{Format: manifest.Format, RunID: runID, Suite: "synthetic", SuiteDigest: "s", ConfigDigest: "c", Mode: "live", Status: "complete", Trials: s.Trials}
	for i := range s.Tasks {
		m.Tasks = append(m.Tasks, manifest.Task{ID: taskID(i), Digest: "d"})
	}
	for _, name := range candidates {
		m.Candidates = append(m.Candidates, manifest.Candidate{Name: name, Provider: "p", Model: name})
	}
	return m
}

func taskID(i int) string { return "t" + strconv.Itoa(i) }

// Run draws one run of tasks by a candidate, in the ledger's order. The rows passed to
// add are valid during the call only.
func (s Suite) Run(rng *rand.Rand, tasks []Task, m manifest.Manifest, candidate string, add func(ledger.EpisodeRows)) {
	allowance := int(s.MaxLost * float64(len(tasks)*s.Trials))
	var turns []ledger.Turn
	var task Task
	for i := range tasks {
		if i%max(1, s.Copies) == 0 {
			task = s.tonight(rng, tasks[i])
		}
		trials := s.Trials
		if s.Unequal {
			trials = 1 + rng.IntN(2*s.Trials-1)
		}
		for trial := range trials {
			rows := ledger.EpisodeRows{Episode: ledger.Episode{
				Key:    ledger.Key{RunID: m.RunID, Suite: m.Suite, TaskID: m.Tasks[i].ID, Candidate: candidate, Provider: "p", Model: candidate, Trial: int32(trial + 1)},
				Status: "answered", ExpectedStatus: "answered", Solved: rng.Float64() < task.Solved,
			}}
			rows.Episode.EpisodeID = m.RunID + "-" + candidate + "-" + rows.Episode.TaskID + "-" + strconv.Itoa(trial)
			turns = s.fill(rng, &rows, task, i == 0 && s.Dominant, turns)
			s.lose(rng, &rows.Episode, &allowance)
			add(rows)
		}
	}
}

// tonight is the task as one run meets it.
func (s Suite) tonight(rng *rand.Rand, t Task) Task {
	if t.Size == 0 {
		t.Size = 1
	}
	t.Solved, t.Invalid = Beta(rng, t.Solved, s.Night), Beta(rng, t.Invalid, s.Night)
	return t
}

// fill draws the turns, steps and cost of an episode. Its turns are in the given slice,
// which it returns for the next one.
func (s Suite) fill(rng *rand.Rand, rows *ledger.EpisodeRows, task Task, dominant bool, turns []ledger.Turn) []ledger.Turn {
	n, size := 0, task.Size
	if s.Turns > 0 {
		n = 1 + rng.IntN(2*s.Turns-1)
	}
	if dominant {
		n, size = 100*n, 100*size
	}
	e := &rows.Episode
	e.Steps = int32(1 + distuv.Poisson{Lambda: 3 * task.Size, Src: rng}.Rand())
	cost := 0.0
	if s.Noise != nil {
		cost = 1e6 * size * s.Noise(rng)
	}
	e.CostNanoUSD, e.ElapsedUs = new(int64(cost)), new(int64(cost))
	for len(turns) < n {
		turns = append(turns, ledger.Turn{})
	}
	rows.Turns = turns[:n]
	for i := range rows.Turns {
		rows.Turns[i] = ledger.Turn{
			Key: e.Key, Turn: int32(i + 1), Role: "main", Kind: "act", NextActionType: "tool", NextActionName: "open", DurationUs: new(*e.ElapsedUs / int64(n)),
			ValidJSON: true, ContractValid: rng.Float64() >= task.Invalid,
		}
	}
	return turns
}

// lose turns an episode into one without a result, by chance and outcome.
func (s Suite) lose(rng *rand.Rand, e *ledger.Episode, allowance *int) {
	chance := s.LostFailed
	if e.Solved {
		chance = s.LostSolved
	}
	if chance > 0 && *allowance > 0 && rng.Float64() < chance {
		*allowance--
		e.Status, e.InfraError, e.ErrorKind, e.Solved = ledger.StatusInfraError, true, "overloaded", false
	}
}
