// Package witness proves that an accepted outcome of a task can be met: it builds an
// episode that Score accepts, or says which demands contradict each other.
package witness

import (
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world/judge"
)

// Goal is what an episode must meet: demands put together. Without demands, any
// episode will do.
type Goal struct {
	Prover // whose task has its answer schema only where that is demanded, and no Fails
	Expect goldens.Expect
	// Budgets are the demanded caps by name; 0 is the absence of a cap.
	Budgets map[string]int64
	// Offered are the tools the task offers; nil where that is not demanded.
	Offered []string
	// Schemas are the tools whose arguments must be valid, refused those whose
	// every call is refused.
	Schemas, Refused map[string]bool
	// Silent reports that a question has no answer.
	Silent bool
}

// Obstacle says why there is no witness. Where it is not sure, the builder found
// none, and there may be one.
type Obstacle struct {
	reason string
	Sure   bool
}

// Prover proves the outcomes of one task.
type Prover struct {
	Task  goldens.Task
	Tools *tool.Set
	// Trees are the schemas of all tools of the suite, by name.
	Trees map[string]tool.JSON
}

// Goal puts demands together.
func (p Prover) Goal(demands []*Demand) *Goal {
	g := &Goal{Prover: p, Budgets: map[string]int64{}, Schemas: map[string]bool{}, Refused: map[string]bool{}}
	g.Task.AnswerSchema, g.Task.Fails = nil, nil // a task that must fail has outcomes that can be met
	for _, d := range demands {
		d.Add(g)
	}
	g.Task.Expect = []goldens.Expect{g.Expect}
	// What the tools of the world do to its state is not known here, nor who calls them, what
	// people say and what programs find.
	g.Task.Expect[0].Scores, g.Task.Expect[0].Before, g.Task.Expect[0].Approvals = nil, nil, human.Approvals{}
	required := &g.Task.Expect[0].Trajectory.Required
	*required = slices.Clone(*required)
	for i := range *required {
		(*required)[i].Role = ""
	}
	g.Task.Expect[0].State, g.Task.Expect[0].Unchanged, g.Task.Expect[0].StateHash = nil, nil, ""
	g.Task.Expect[0].Workflow, g.Task.Expect[0].Effects, g.Task.Expect[0].BFCL = "", "", ""
	return g
}

// Witness builds an episode that meets the goal, as far as it can, and scores it.
func (g *Goal) Witness() (goldens.Outcome, *Obstacle) {
	o := goldens.Outcome{Status: g.Expect.Status, StopReason: g.Expect.StopReason, AllTurnsValidJSON: g.Expect.Signals["all_turns_valid_json"] != "false"}
	if o.Status == "stopped" && o.StopReason == "" {
		o.StopReason = "max_steps"
	}
	var found []*Obstacle
	note := func(bad *Obstacle) {
		if bad != nil {
			found = append(found, bad)
		}
	}
	var bad *Obstacle
	note(g.ending())
	o.Answer, bad = g.answer()
	note(bad)
	c := g.counters()
	o.Calls, bad = g.calls(c)
	note(bad)
	c.total(g, o)
	note(c.rangeConflict())
	c.fill(&o)
	if solved, checks := goldens.Score(g.Task, o); !solved && len(found) == 0 {
		failed := checks[slices.IndexFunc(checks, func(c goldens.CheckResult) bool { return !c.Passed })]
		note(&Obstacle{reason: failed.Name + ": " + failed.Detail})
	}
	if i := slices.IndexFunc(found, func(bad *Obstacle) bool { return bad.Sure }); i >= 0 {
		return o, found[i]
	}
	if len(found) > 0 {
		return o, found[0]
	}
	return o, nil
}

// ending says why no episode of the task ends as demanded.
func (g *Goal) ending() *Obstacle {
	e := g.Expect
	if e.StopReason != "" && e.Status != "" && e.Status != "stopped" {
		return &Obstacle{"only status stopped has a stop reason", true}
	}
	if budget, ok := stopBudget[e.StopReason]; ok {
		if value, demanded := g.Budgets[budget]; demanded && value == 0 {
			return &Obstacle{fmt.Sprintf("the task has no budget %s that could stop an episode", budget), true}
		}
	}
	if e.Status == "answered_after_clarify" && g.Silent {
		return &Obstacle{"the task has no replies: nobody would answer the question", true}
	}
	return nil
}

// stopBudget is the budget that a stop reason needs.
var stopBudget = map[string]string{"max_steps": "max_steps", "max_seconds": "max_seconds", "max_tokens": "max_tokens_total", "max_cost": "max_cost_usd"}

// impossible returns why no episode meets the demands, nil if one may.
func (p Prover) impossible(demands []*Demand) *Obstacle {
	if _, bad := p.Goal(demands).Witness(); bad != nil && bad.Sure {
		return bad
	}
	return nil
}

// Conflict returns demands that no episode meets together, while without any one of
// them it might, and why; none if the demands do not contradict each other. o is the
// witness of all of them, as far as there is one.
func (p Prover) Conflict(demands []*Demand) (core []*Demand, why string, o goldens.Outcome) {
	o, bad := p.Goal(demands).Witness()
	if bad == nil || !bad.Sure {
		return nil, "", o
	}
	core = p.explain(nil, demands, false)
	if bad = p.impossible(core); bad == nil {
		return nil, "", o
	}
	return core, bad.reason, o
}

// explain returns the items that are impossible with the background, and none of
// which can be left out. It prefers earlier ones (U. Junker, QuickXplain, AAAI 2004).
func (p Prover) explain(background, items []*Demand, grown bool) []*Demand {
	if grown && p.impossible(background) != nil {
		return nil
	}
	if len(items) == 1 {
		return items
	}
	half := len(items) / 2
	second := p.explain(slices.Concat(background, items[:half]), items[half:], true)
	first := p.explain(slices.Concat(background, second), items[:half], len(second) > 0)
	return slices.Concat(first, second)
}

// Empty reports whether an episode that did nothing meets the goal: one with the
// demanded status, no answer and no tool call. The status alone says what the user
// was shown, except for an answer.
func (g *Goal) Empty(o goldens.Outcome) bool {
	if !goldens.AnswersTask(o.Status) {
		return false
	}
	o.Answer, o.Calls, o.StateBefore, o.StateAfter = "", nil, judge.Initial(g.Task.World), judge.Initial(g.Task.World)
	idle := g.Task
	idle.Expect = []goldens.Expect{g.Expect}
	solved, _ := goldens.Score(idle, o)
	return solved
}

// Demand is one thing that an accepted outcome, or its task, asks of an episode.
type Demand struct {
	// Field is the field of the outcome that asks; empty where the task does.
	Field string
	At    func() yamlfile.Place
	Add   func(*Goal)
}
