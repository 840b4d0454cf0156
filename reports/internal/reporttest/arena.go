package reporttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Habit is how a synthetic strategy behaves, next to what the task asks of all.
type Habit struct {
	Agent string
	// Solve is added to the task's own chance; Steps, Cost and Time multiply.
	Solve, Steps, Cost, Time float64
	// Calls are made by each calling turn.
	Calls int
}

// SameHabits differ in their names alone.
func SameHabits(agents ...string) (list []Habit) {
	for _, a := range agents {
		list = append(list, Habit{a, 0, 1, 1, 1, 1})
	}
	return list
}

// Arena is a run of strategies with some models.
type Arena struct {
	Models        []string
	Habits        []Habit
	Tasks, Trials int
	// Lost is the share of episodes without a result.
	Lost float64
	Seed uint64
	// Edit may change a row; nil changes none.
	Edit func(*ledger.Episode)
}

// Run draws the run.
func (a Arena) Run() (manifest.Manifest, ledger.Rows) {
	m := manifest.Manifest{
		Format: manifest.Format, RunID: "01JD0Q3V7M6N4Y2ZB8KX5TAGWE", Status: "complete", Mode: "replay", Suite: "research", CodeVersion: "v0.2.0", Trials: a.Trials, Simulated: true,
	}
	for i := range a.Tasks {
		m.Tasks = append(m.Tasks, manifest.Task{ID: fmt.Sprintf("R%02d", i+1), Title: fmt.Sprintf("research %d", i+1), Tier: "core"})
	}
	for _, model := range a.Models {
		for _, h := range a.Habits {
			m.Candidates = append(m.Candidates, manifest.Candidate{Name: model + "-" + h.Agent, Agent: h.Agent, Provider: "sim-" + model, Model: model, OutputMode: "prompt", PromptProfile: "seed", Simulated: true, Planned: a.Tasks * a.Trials})
		}
	}
	var rows ledger.Rows
	rng := rand.New(rand.NewPCG(a.Seed, 8))
	for _, task := range m.Tasks {
		chance, size := 0.4+0.6*rng.Float64(), math.Exp(0.4*rng.NormFloat64())
		for k, c := range m.Candidates {
			h := a.Habits[k%len(a.Habits)]
			for trial := 1; trial <= a.Trials; trial++ {
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

func (a Arena) episode(rows *ledger.Rows, key ledger.Key, h Habit, rng *rand.Rand, chance, size float64) {
	noise := func() float64 { return math.Exp(0.25 * rng.NormFloat64()) }
	e := ledger.Episode{Key: key, Status: "answered", ExpectedStatus: "answered", Solved: rng.Float64() < chance+h.Solve, Answer: "It is Alder Point."}
	if !e.Solved {
		e.Checks = []ledger.Check{{Name: "answer_numbers", Detail: `want 41, found 38 in "38 m"`}}
	}
	e.Steps = int32(max(1, math.Round(4*size*h.Steps*noise())))
	e.CostNanoUSD, e.ElapsedUs = new(int64(2e6*size*h.Cost*noise())), new(int64(3e6*size*h.Time*noise()))
	e.Tokens = ledger.Tokens{In: new(int64(4000 * size * h.Cost * noise())), Out: new(int64(300)), CacheRead: new(int64), CacheWrite: new(int64), Reasoning: new(int64)}
	if rng.Float64() < a.Lost {
		e.Status, e.InfraError, e.ErrorKind, e.Solved, e.Checks = ledger.StatusInfraError, true, "overloaded", false, nil
	}
	if a.Edit != nil {
		a.Edit(&e)
	}
	for i := range int(e.Steps) {
		t := ledger.Turn{
			Key: key, Turn: int32(i + 1), Role: "main", Kind: "act", FinishReason: "stop", ValidJSON: true, Actionable: true, ContractValid: rng.Float64() < 0.95,
			NextActionType: "tool", NextActionName: "open", DurationUs: new(*e.ElapsedUs / int64(e.Steps)), Interaction: -1, StepsUsed: int32(i + 1),
		}
		switch {
		case h.Agent == "plan" && i == 0:
			t.Role, t.Kind, t.NextActionType, t.NextActionName = "planner", "plan", "plan", "create_task"
		case h.Agent == "plan":
			t.Role, t.PlanStep, t.PlanRev = "step", []string{"find", fmt.Sprintf("read[%d]", i)}[min(i-1, 1)], 1
		}
		if !t.ContractValid {
			t.Violations = []string{map[string]string{"contract": "not_json:prose", "tools": "call.args", "plan": "step.no_finish"}[h.Agent]}
		}
		if i+1 == int(e.Steps) {
			t.NextActionType, t.NextActionName = "respond", ""
		} else {
			for range h.Calls {
				e.ToolCalls++
				rows.ToolCalls = append(rows.ToolCalls, ledger.ToolCall{Key: key, Seq: e.ToolCalls, Turn: t.Turn, ToolName: "open", Outcome: "ok", DurationUs: 90_000, ArgsHash: strings.Repeat("a", 8)})
			}
		}
		rows.Turns = append(rows.Turns, t)
	}
	rows.Episodes = append(rows.Episodes, e)
}

// Research is a run in which tools is quick, plan solves most and contract neither.
func Research() (manifest.Manifest, ledger.Rows) {
	return Arena{
		Models: []string{"strong", "weak"}, Tasks: 25, Trials: 1, Seed: 11, Lost: 0.02,
		Habits: []Habit{{"contract", -0.1, 1.6, 1.4, 1.7, 1}, {"tools", 0, 0.8, 1, 0.8, 3}, {"plan", 0.15, 1.8, 1.9, 1, 1}},
	}.Run()
}
