package compare

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// plan is a run of one candidate, with tasks T00, T01, … and the same number of trials
// for each.
type plan struct {
	candidate     string
	tasks, trials int
	// episode changes an episode, which is solved in three turns by default.
	episode func(task, trial int, rows *ledger.EpisodeRows)
}

func (p plan) manifest() manifest.Manifest {
	m := manifest.Manifest{
		Format: manifest.Format, RunID: "run-" + p.candidate, Suite: "counts", Mode: "replay", Status: "complete", CodeVersion: "v1", Trials: p.trials,
		Candidates: []manifest.Candidate{{Name: p.candidate, Model: "model-" + p.candidate, Planned: p.tasks * p.trials}},
	}
	for i := range p.tasks {
		m.Tasks = append(m.Tasks, manifest.Task{ID: taskID(i), Title: "title of " + taskID(i), Digest: "d"})
	}
	return m
}

func taskID(i int) string { return fmt.Sprintf("T%02d", i) }

// each makes the rows in the order of the ledger.
func (p plan) each(add func(ledger.EpisodeRows)) {
	for task := range p.tasks {
		for trial := 1; trial <= p.trials; trial++ {
			rows := p.rows(taskID(task), trial)
			if p.episode != nil {
				p.episode(task, trial, &rows)
			}
			add(rows)
		}
	}
}

func (p plan) rows(task string, trial int) ledger.EpisodeRows {
	key := ledger.Key{RunID: "run-" + p.candidate, EpisodeID: p.candidate + "-" + task + "-" + strconv.Itoa(trial), TaskID: task, Candidate: p.candidate, Trial: int32(trial)}
	rows := ledger.EpisodeRows{Episode: ledger.Episode{
		Key: key, Status: "answered", ExpectedStatus: "answered", Solved: true, Steps: 3, Clarifies: 1, Tokens: tokens(600, 60), CostNanoUSD: new(int64(3_000_000)), ElapsedUs: new(int64),
	}}
	for i := range 3 {
		rows.Turns = append(rows.Turns, turn(key, i+1, "tool", "get_counts"))
	}
	rows.Turns[2].NextActionType, rows.Turns[2].NextActionName = "respond", ""
	rows.ToolCalls = []ledger.ToolCall{
		{Key: key, Seq: 1, Turn: 1, ToolName: "get_counts", ArgsHash: "aa"}, {Key: key, Seq: 2, Turn: 2, ToolName: "get_counts", ArgsHash: "bb"},
	}
	return rows
}

func turn(key ledger.Key, n int, action, name string) ledger.Turn {
	return ledger.Turn{Key: key, Turn: int32(n), Role: "main", Kind: "act", DurationUs: new(int64(400_000)), ContractValid: true, ValidJSON: true, NextActionType: action, NextActionName: name}
}

func tokens(in, out int64) ledger.Tokens {
	return ledger.Tokens{In: new(in), Out: new(out), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64)}
}

// compared returns the comparison of two plans with a single pair.
func compared(baseline, newer plan, rules Rules) Comparison {
	b := NewBuilder([]manifest.Manifest{baseline.manifest()}, newer.manifest(), []Names{{baseline.candidate, newer.candidate}}, rules)
	baseline.each(b.addBaseline)
	newer.each(b.AddNew)
	return finished(b)
}

// addBaseline adds a row to the only baseline run.
func (b *Builder) addBaseline(rows ledger.EpisodeRows) { b.AddBaseline(0, rows) }

// finished returns the builder's comparison, for tests that expect no error.
func finished(b *Builder) Comparison {
	c, err := b.Comparison()
	if err != nil {
		panic(err)
	}
	return c
}

func metric(p Pair, name string) Metric {
	for _, m := range p.Metrics {
		if m.Name == name {
			return m
		}
	}
	panic("no metric " + name)
}

// fails makes the given trials of tasks fail; the other episodes are solved.
func fails(which func(task, trial int) bool) func(int, int, *ledger.EpisodeRows) {
	return func(task, trial int, rows *ledger.EpisodeRows) {
		if which(task, trial) {
			rows.Episode.Solved = false
		}
	}
}

// flips fails each episode with probability 1 − share of its task.
func flips(seed uint64, share func(task int) float64) func(int, int, *ledger.EpisodeRows) {
	rng := rand.New(rand.NewPCG(seed, 7))
	return func(task, _ int, rows *ledger.EpisodeRows) { rows.Episode.Solved = rng.Float64() < share(task) }
}
