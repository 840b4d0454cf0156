package reports

import (
	"fmt"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// world is a small run built episode by episode.
type world struct {
	m    manifest.Manifest
	rows ledger.Rows
}

func newWorld(names ...string) *world {
	w := &world{m: manifest.Manifest{RunID: "r", Suite: "s", Status: "complete", Trials: 1}}
	for _, n := range names {
		w.m.Candidates = append(w.m.Candidates, manifest.Candidate{Name: n, Agent: "contract", Provider: "p", Model: "model-" + n, OutputMode: "prompt", PromptProfile: "seed"})
	}
	return w
}

// add appends an episode of the first candidate with the given turns; edit may
// change it and its rows.
func (w *world) add(n int, task string, solved bool, steps int, edit func(*ledger.Episode, []ledger.Turn)) {
	for range n {
		c := w.m.Candidates[0]
		key := ledger.Key{EpisodeID: fmt.Sprintf("e%d", len(w.rows.Episodes)), TaskID: task, Candidate: c.Name, Agent: c.Agent, Provider: c.Provider, Model: c.Model, Trial: 1}
		e := ledger.Episode{Key: key, Status: "answered", ExpectedStatus: "answered", Solved: solved, Steps: int32(steps)}
		turns := make([]ledger.Turn, steps)
		for i := range turns {
			turns[i] = ledger.Turn{Key: key, Turn: int32(i + 1), Role: "main", Kind: "act", FinishReason: "stop", ValidJSON: true, Actionable: true, ContractValid: true, Interaction: -1}
		}
		if edit != nil {
			edit(&e, turns)
		}
		w.rows.Episodes = append(w.rows.Episodes, e)
		w.rows.Turns = append(w.rows.Turns, turns...)
	}
}

func invalid(e *ledger.Episode, turns []ledger.Turn) {
	for i := range turns {
		turns[i].ContractValid = false
	}
}

// tasks adds one solved one-step episode for each of n new tasks.
func tasks(w *world, n int, edit func(*ledger.Episode, []ledger.Turn)) {
	for range n {
		w.add(1, fmt.Sprintf("t%d", len(w.rows.Episodes)), true, 1, edit)
	}
}

// duel is a run of contract and tools with one model; each task has an episode of
// both, solved and with steps as told, at a thousand nano-USD and a second a step.
type duelTask struct {
	id                          string
	contractSolved, toolsSolved bool
	contractSteps, toolsSteps   int32
}

func duel(tasks []duelTask) *world {
	w := byAgent("contract", "tools")
	w.m.Trials = 1
	for _, d := range tasks {
		w.m.Tasks = append(w.m.Tasks, manifest.Task{ID: d.id})
		w.enter(0, d.id, 1, d.contractSolved, d.contractSteps)
		w.enter(1, d.id, 1, d.toolsSolved, d.toolsSteps)
	}
	return w
}

// enter adds an episode of the k-th candidate.
func (w *world) enter(k int, task string, trial int, solved bool, steps int32) {
	c := w.m.Candidates[k]
	w.m.Candidates[0], w.m.Candidates[k] = w.m.Candidates[k], w.m.Candidates[0]
	w.add(1, task, solved, int(steps), func(e *ledger.Episode, turns []ledger.Turn) {
		e.Trial, e.CostNanoUSD, e.ElapsedUs = int32(trial), new(int64(steps)*1000), int64(steps)*1e6
		e.Tokens = ledger.Tokens{In: new(int64(steps) * 100), Out: new(int64), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64)}
	})
	w.m.Candidates[0], w.m.Candidates[k] = w.m.Candidates[k], c
}

// byAgent is a run of one candidate of the given strategy, named after it.
func byAgent(agents ...string) *world {
	w := newWorld(agents...)
	for i, a := range agents {
		c := &w.m.Candidates[i]
		c.Agent, c.Provider, c.Model = a, "p", "m"
	}
	return w
}

// planned makes the turns of a plan: two of the planner, of which the first is no
// plan, one on a step and two on items of another.
func plannedTurns(_ *ledger.Episode, turns []ledger.Turn) {
	for i, step := range []string{"", "", "find", "read[1]", "read[2]"} {
		turns[i].Role, turns[i].Kind, turns[i].PlanStep, turns[i].PlanRev = "step", "act", step, 1
	}
	for i := range 2 {
		turns[i].Role, turns[i].Kind, turns[i].PlanRev = "planner", "plan", int32(i)
	}
	turns[0].ContractValid, turns[0].Violations = false, []string{"plan.depends_on.cycle"}
}

// ended makes an episode end with a status of the harness.
func ended(status, kind, text string) func(*ledger.Episode, []ledger.Turn) {
	return func(e *ledger.Episode, _ []ledger.Turn) {
		e.Status, e.InfraError, e.ErrorKind, e.ErrorText = status, status != "cancelled", kind, text
	}
}

// sorted is a run with episodes of every kind: 60 solved, 1 failed, 2
// infrastructure errors, 1 harness error, 3 budget stops, 1 interrupted and 2
// without a row.
func sorted() *world {
	w := newWorld("a")
	w.m.Candidates[0].Planned = 70
	tasks(w, 60, nil)
	w.add(1, "t60", false, 1, func(e *ledger.Episode, _ []ledger.Turn) {
		e.Checks = []ledger.Check{{Name: "numbers", Detail: "want 4"}}
	})
	w.add(2, "t61", false, 1, ended(ledger.StatusInfraError, "overloaded", "529 after 5 attempts"))
	w.add(1, "t62", false, 1, ended(ledger.StatusHarnessError, "tool", "get_counts panicked"))
	w.add(3, "t63", false, 1, ended(ledger.StatusBudgetStop, "run_budget", "the cap of $5 is spent"))
	w.add(1, "t64", false, 1, ended("cancelled", "", ""))
	w.m.Status, w.m.Stopped = "partial", "the cap of $5 is spent"
	return w
}

// says makes an episode fail one check of the given name.
func says(check string) func(*ledger.Episode, []ledger.Turn) {
	return func(e *ledger.Episode, _ []ledger.Turn) { e.Checks = []ledger.Check{{Name: check, Detail: "is wrong"}} }
}

// ways is a run that fails in several ways, none of them in the order shown.
func ways() *world {
	w := newWorld("a", "b")
	lost := func(e *ledger.Episode, _ []ledger.Turn) { e.InfraError, e.ErrorKind = true, "overloaded" }
	w.add(1, "t1", false, 4, lost)
	w.add(1, "t1", false, 3, says("answer_table"))
	w.add(2, "t2", true, 1, nil)
	w.add(2, "t2", false, 5, says("answer_contains_any"))
	w.add(1, "t3", false, 2, says("trajectory.order"))
	w.m.Candidates[0], w.m.Candidates[1] = w.m.Candidates[1], w.m.Candidates[0]
	w.add(1, "t3", false, 3, says("answer_contains_any"))
	w.add(1, "t1", false, 3, says("answer_contains_any"))
	w.add(1, "t1", false, 9, says("answer_numbers"))
	return w
}

// lossyWorld has 60 solved tasks of two trials, of which the second of the first lost
// tasks is lost. Their episodes have two turns, one of them four.
func lossyWorld(lost int, own ...manifest.Criterion) *world {
	w := newWorld("a")
	w.m.Acceptance = manifest.Acceptance{MinValid: 0.5, MinWithin: 0.5, Criteria: own}
	for i := range 60 {
		task := fmt.Sprintf("G%02d", i)
		steps := 2
		if i == 59 {
			steps = 4
		}
		w.add(1, task, true, steps, func(e *ledger.Episode, _ []ledger.Turn) { e.Clarifies, e.CostNanoUSD = int32(i%2), new(int64(100)) })
		w.add(1, task, true, steps, func(e *ledger.Episode, _ []ledger.Turn) {
			e.Trial, e.CostNanoUSD = 2, new(int64(100))
			if i < lost {
				e.Status, e.InfraError, e.Solved = ledger.StatusInfraError, true, false
			}
		})
	}
	return w
}

// sequentialRun is a run of at most five trials of each task; solved says of each
// candidate which share of tasks it solves, and stops in which round it was stopped.
func sequentialRun(tasks int, solved map[string]float64, stops ...manifest.Stop) (manifest.Manifest, ledger.Rows) {
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

// same is a run of two strategies over eight tasks; steps differ as told.
func same(contract, tools int32) *world {
	var list []duelTask
	for i := range int32(8) {
		list = append(list, duelTask{fmt.Sprint("t", i), true, true, contract + i%2, tools + i%2})
	}
	return duel(list)
}

// passing is a run that meets every criterion: 80 tasks, solved in two valid turns each.
func passing() *world {
	w := newWorld("a")
	for i := range 80 {
		w.add(1, fmt.Sprint(i), true, 2, nil)
	}
	w.m.Candidates[0].Planned = 80
	return w
}
