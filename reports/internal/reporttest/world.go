package reporttest

import (
	"fmt"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// World is a small run built episode by episode.
type World struct {
	M    manifest.Manifest
	Rows ledger.Rows
}

// NewWorld returns a run without episodes.
func NewWorld(names ...string) *World {
	w := &World{M: manifest.Manifest{RunID: "r", Suite: "s", Status: "complete", Trials: 1}}
	for _, n := range names {
		w.M.Candidates = append(w.M.Candidates, manifest.Candidate{Name: n, Agent: "contract", Provider: "p", Model: "model-" + n, OutputMode: "prompt", PromptProfile: "seed"})
	}
	return w
}

// Add appends an episode of the first candidate with the given turns; edit may
// change it and its rows.
func (w *World) Add(n int, task string, solved bool, steps int, edit func(*ledger.Episode, []ledger.Turn)) {
	for range n {
		c := w.M.Candidates[0]
		key := ledger.Key{EpisodeID: fmt.Sprintf("e%d", len(w.Rows.Episodes)), TaskID: task, Candidate: c.Name, Agent: c.Agent, Provider: c.Provider, Model: c.Model, Trial: 1}
		e := ledger.Episode{Key: key, Status: "answered", ExpectedStatus: "answered", Solved: solved, Steps: int32(steps), ElapsedUs: new(int64)}
		turns := make([]ledger.Turn, steps)
		for i := range turns {
			turns[i] = ledger.Turn{Key: key, Turn: int32(i + 1), Role: "main", Kind: "act", FinishReason: "stop", ValidJSON: true, Actionable: true, ContractValid: true, Interaction: -1, DurationUs: new(int64)}
		}
		if edit != nil {
			edit(&e, turns)
		}
		w.Rows.Episodes = append(w.Rows.Episodes, e)
		w.Rows.Turns = append(w.Rows.Turns, turns...)
	}
}

// Invalid makes the turns of an episode invalid.
func Invalid(_ *ledger.Episode, turns []ledger.Turn) {
	for i := range turns {
		turns[i].ContractValid = false
	}
}

// Tasks adds one solved one-step episode for each of n new tasks.
func Tasks(w *World, n int, edit func(*ledger.Episode, []ledger.Turn)) {
	for range n {
		w.Add(1, fmt.Sprintf("t%d", len(w.Rows.Episodes)), true, 1, edit)
	}
}

// DuelTask is a task of Duel: how the episode of each strategy ends, at a thousand nano-USD and a second a step.
type DuelTask struct {
	ID                          string
	ContractSolved, ToolsSolved bool
	ContractSteps, ToolsSteps   int32
}

// Duel is a run of contract and tools with one model; each task has an episode of both.
func Duel(tasks []DuelTask) *World {
	w := ByAgent("contract", "tools")
	w.M.Trials = 1
	for _, d := range tasks {
		w.M.Tasks = append(w.M.Tasks, manifest.Task{ID: d.ID})
		w.Enter(0, d.ID, 1, d.ContractSolved, d.ContractSteps)
		w.Enter(1, d.ID, 1, d.ToolsSolved, d.ToolsSteps)
	}
	return w
}

// Enter adds an episode of the k-th candidate.
func (w *World) Enter(k int, task string, trial int, solved bool, steps int32) {
	c := w.M.Candidates[k]
	w.M.Candidates[0], w.M.Candidates[k] = w.M.Candidates[k], w.M.Candidates[0]
	w.Add(1, task, solved, int(steps), func(e *ledger.Episode, _ []ledger.Turn) {
		e.Trial, e.CostNanoUSD, e.ElapsedUs = int32(trial), new(int64(steps)*1000), new(int64(steps)*1e6)
		e.Tokens = ledger.Tokens{In: new(int64(steps) * 100), Out: new(int64), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64)}
	})
	w.M.Candidates[0], w.M.Candidates[k] = w.M.Candidates[k], c
}

// ByAgent is a run of one candidate of the given strategy, named after it.
func ByAgent(agents ...string) *World {
	w := NewWorld(agents...)
	for i, a := range agents {
		c := &w.M.Candidates[i]
		c.Agent, c.Provider, c.Model = a, "p", "m"
	}
	return w
}

// PlannedTurns makes the turns of a plan: two of the planner, of which the first is no
// plan, one on a step and two on items of another.
func PlannedTurns(_ *ledger.Episode, turns []ledger.Turn) {
	for i, step := range []string{"", "", "find", "read[1]", "read[2]"} {
		turns[i].Role, turns[i].Kind, turns[i].PlanStep, turns[i].PlanRev = "step", "act", step, 1
	}
	for i := range 2 {
		turns[i].Role, turns[i].Kind, turns[i].PlanRev = "planner", "plan", int32(i)
	}
	turns[0].ContractValid, turns[0].Violations = false, []string{"plan.depends_on.cycle"}
}

// Ended makes an episode end with a status of the harness.
func Ended(status, kind, text string) func(*ledger.Episode, []ledger.Turn) {
	return func(e *ledger.Episode, _ []ledger.Turn) {
		e.Status, e.InfraError, e.ErrorKind, e.ErrorText = status, status != "cancelled", kind, text
	}
}

// Sorted is a run with episodes of every kind: 60 solved, 1 failed, 2
// infrastructure errors, 1 harness error, 3 budget stops, 1 interrupted and 2
// without a row.
func Sorted() *World {
	w := NewWorld("a")
	w.M.Candidates[0].Planned = 70
	Tasks(w, 60, nil)
	w.Add(1, "t60", false, 1, func(e *ledger.Episode, _ []ledger.Turn) {
		e.Checks = []ledger.Check{{Name: "numbers", Detail: "want 4"}}
	})
	w.Add(2, "t61", false, 1, Ended(ledger.StatusInfraError, "overloaded", "529 after 5 attempts"))
	w.Add(1, "t62", false, 1, Ended(ledger.StatusHarnessError, "tool", "get_counts panicked"))
	w.Add(3, "t63", false, 1, Ended(ledger.StatusBudgetStop, "run_budget", "the cap of $5 is spent"))
	w.Add(1, "t64", false, 1, Ended("cancelled", "", ""))
	w.M.Status, w.M.Stopped = "partial", "the cap of $5 is spent"
	return w
}

// Says makes an episode fail one check of the given name.
func Says(check string) func(*ledger.Episode, []ledger.Turn) {
	return func(e *ledger.Episode, _ []ledger.Turn) { e.Checks = []ledger.Check{{Name: check, Detail: "is wrong"}} }
}

// Ways is a run that fails in several ways, none of them in the order shown.
func Ways() *World {
	w := NewWorld("a", "b")
	lost := func(e *ledger.Episode, _ []ledger.Turn) { e.InfraError, e.ErrorKind = true, "overloaded" }
	w.Add(1, "t1", false, 4, lost)
	w.Add(1, "t1", false, 3, Says("answer_table"))
	w.Add(2, "t2", true, 1, nil)
	w.Add(2, "t2", false, 5, Says("answer_contains_any"))
	w.Add(1, "t3", false, 2, Says("trajectory.order"))
	w.M.Candidates[0], w.M.Candidates[1] = w.M.Candidates[1], w.M.Candidates[0]
	w.Add(1, "t3", false, 3, Says("answer_contains_any"))
	w.Add(1, "t1", false, 3, Says("answer_contains_any"))
	w.Add(1, "t1", false, 9, Says("answer_numbers"))
	return w
}

// SequentialRun is a run of at most five trials of each task; solved says of each
// candidate which share of tasks it solves, and stops in which round it was stopped.
func SequentialRun(tasks int, solved map[string]float64, stops ...manifest.Stop) (manifest.Manifest, ledger.Rows) {
	m := manifest.Manifest{
		Format: 2, RunID: "R", Status: "complete", Mode: "replay", Suite: "s", Trials: 5, Acceptance: manifest.Acceptance{}.Resolved(),
		Decide: &manifest.Decide{Rounds: []int{1, 2, 3, 4, 5}, Stops: stops},
	}
	for _, s := range stops {
		m.Decide.Finished = max(m.Decide.Finished, s.Round)
	}
	var rows ledger.Rows
	for i := range tasks {
		id := fmt.Sprintf("T%03d", i)
		m.Tasks = append(m.Tasks, manifest.Task{ID: id, Title: id, Digest: "d"})
		for _, s := range stops {
			for trial := 1; trial <= m.TrialsOf(s.Candidate); trial++ {
				key := ledger.Key{RunID: "R", EpisodeID: fmt.Sprint(id, s.Candidate, trial), TaskID: id, Candidate: s.Candidate, Agent: "contract", Provider: "p", Model: s.Candidate, Trial: int32(trial)}
				ok := float64(i) < solved[s.Candidate]*float64(tasks)
				rows.Episodes = append(rows.Episodes, ledger.Episode{Key: key, Status: "answered", Solved: ok, Steps: 1, Checks: []ledger.Check{{Name: "numbers", Passed: ok}}})
				rows.Turns = append(rows.Turns, ledger.Turn{Key: key, Turn: 1, Role: "main", Kind: "act", ValidJSON: true, Actionable: true, ContractValid: true, NextActionType: "respond"})
			}
		}
	}
	for _, s := range stops {
		m.Candidates = append(m.Candidates, manifest.Candidate{Name: s.Candidate, Agent: "contract", Provider: "p", Model: s.Candidate, Planned: tasks * m.TrialsOf(s.Candidate)})
	}
	return m, rows
}

// Passing is a run that meets every criterion: 80 tasks, solved in two valid turns each.
func Passing() *World {
	w := NewWorld("a")
	for i := range 80 {
		w.Add(1, fmt.Sprint(i), true, 2, nil)
	}
	w.M.Candidates[0].Planned = 80
	return w
}
