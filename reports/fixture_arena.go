package reports

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// habit is how a synthetic strategy behaves, next to what the task asks of all.
type habit struct {
	agent string
	// solve is added to the task's own chance; steps, cost and time multiply.
	solve, steps, cost, time float64
	// calls are made by each calling turn.
	calls int
}

// sameHabits differ in their names alone.
func sameHabits(agents ...string) (list []habit) {
	for _, a := range agents {
		list = append(list, habit{a, 0, 1, 1, 1, 1})
	}
	return list
}

// arena is a run of strategies with some models.
type arena struct {
	models        []string
	habits        []habit
	tasks, trials int
	// lost is the share of episodes without a result.
	lost float64
	seed uint64
	// edit may change a row; nil changes none.
	edit func(*ledger.Episode)
}

func (a arena) run() (manifest.Manifest, ledger.Rows) {
	m := manifest.Manifest{
		Format: manifest.Format, RunID: "01JD0Q3V7M6N4Y2ZB8KX5TAGWE", Status: "complete", Mode: "replay", Suite: "research", CodeVersion: "v0.2.0", Trials: a.trials, Simulated: true,
	}
	for i := range a.tasks {
		m.Tasks = append(m.Tasks, manifest.Task{ID: fmt.Sprintf("R%02d", i+1), Title: fmt.Sprintf("research %d", i+1), Tier: "core"})
	}
	for _, model := range a.models {
		for _, h := range a.habits {
			m.Candidates = append(m.Candidates, manifest.Candidate{Name: model + "-" + h.agent, Agent: h.agent, Provider: "sim-" + model, Model: model, OutputMode: "prompt", PromptProfile: "seed", Simulated: true, Planned: a.tasks * a.trials})
		}
	}
	var rows ledger.Rows
	rng := rand.New(rand.NewPCG(a.seed, 8))
	for _, task := range m.Tasks {
		chance, size := 0.4+0.6*rng.Float64(), math.Exp(0.4*rng.NormFloat64())
		for k, c := range m.Candidates {
			h := a.habits[k%len(a.habits)]
			for trial := 1; trial <= a.trials; trial++ {
				key := ledger.Key{
					RunID: m.RunID, EpisodeID: fmt.Sprintf("01JD0Q3V7M%016X", len(rows.Episodes)), Suite: m.Suite, TaskID: task.ID, Candidate: c.Name, Agent: c.Agent,
					Provider: c.Provider, Model: c.Model, OutputMode: "prompt", PromptProfile: "seed", Trial: int32(trial), Replayed: true,
				}
				a.episode(&rows, key, h, rng, chance, size)
			}
		}
	}
	m.Episodes, m.Turns, m.ToolCalls = len(rows.Episodes), len(rows.Turns), len(rows.ToolCalls)
	return m, rows
}

func (a arena) episode(rows *ledger.Rows, key ledger.Key, h habit, rng *rand.Rand, chance, size float64) {
	noise := func() float64 { return math.Exp(0.25 * rng.NormFloat64()) }
	e := ledger.Episode{Key: key, Status: "answered", ExpectedStatus: "answered", Solved: rng.Float64() < chance+h.solve, Answer: "It is Alder Point."}
	if !e.Solved {
		e.Checks = []ledger.Check{{Name: "answer_numbers", Detail: `want 41, found 38 in "38 m"`}}
	}
	e.Steps = int32(max(1, math.Round(4*size*h.steps*noise())))
	e.CostNanoUSD, e.ElapsedUs = new(int64(2e6*size*h.cost*noise())), int64(3e6*size*h.time*noise())
	e.Tokens = ledger.Tokens{In: new(int64(4000 * size * h.cost * noise())), Out: new(int64(300)), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64)}
	if rng.Float64() < a.lost {
		e.Status, e.InfraError, e.ErrorKind, e.Solved, e.Checks = ledger.StatusInfraError, true, "overloaded", false, nil
	}
	if a.edit != nil {
		a.edit(&e)
	}
	for i := range int(e.Steps) {
		t := ledger.Turn{
			Key: key, Turn: int32(i + 1), Role: "main", Kind: "act", FinishReason: "stop", ValidJSON: true, Actionable: true, ContractValid: rng.Float64() < 0.95,
			NextActionType: "tool", NextActionName: "open", DurationUs: e.ElapsedUs / int64(e.Steps), Interaction: -1, StepsUsed: int32(i + 1),
		}
		switch {
		case h.agent == "plan" && i == 0:
			t.Role, t.Kind, t.NextActionType, t.NextActionName = "planner", "plan", "plan", "create_task"
		case h.agent == "plan":
			t.Role, t.PlanStep, t.PlanRev = "step", []string{"find", fmt.Sprintf("read[%d]", i)}[min(i-1, 1)], 1
		}
		if !t.ContractValid {
			t.Violations = []string{map[string]string{"contract": "not_json:prose", "tools": "call.args", "plan": "step.no_finish"}[h.agent]}
		}
		if i+1 == int(e.Steps) {
			t.NextActionType, t.NextActionName = "respond", ""
		} else {
			for range h.calls {
				e.ToolCalls++
				rows.ToolCalls = append(rows.ToolCalls, ledger.ToolCall{Key: key, Seq: e.ToolCalls, Turn: t.Turn, ToolName: "open", Outcome: "ok", DurationUs: 90_000, ArgsHash: strings.Repeat("a", 8)})
			}
		}
		rows.Turns = append(rows.Turns, t)
	}
	rows.Episodes = append(rows.Episodes, e)
}

// research is a run in which tools is quick, plan solves most and contract neither.
func research() (manifest.Manifest, ledger.Rows) {
	return arena{
		models: []string{"strong", "weak"}, tasks: 25, trials: 1, seed: 11, lost: 0.02,
		habits: []habit{{"contract", -0.1, 1.6, 1.4, 1.7, 1}, {"tools", 0, 0.8, 1, 0.8, 3}, {"plan", 0.15, 1.8, 1.9, 1, 1}},
	}.run()
}
