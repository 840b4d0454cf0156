package goldens

import (
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/agent/tool"
)

// goal is what an episode must meet: demands put together. Without demands, any
// episode will do.
type goal struct {
	prover // whose task has its answer schema only where that is demanded, and no Fails
	expect Expect
	// budgets are the demanded caps by name; 0 is the absence of a cap.
	budgets map[string]int64
	// offered are the tools the task offers; nil where that is not demanded.
	offered []string
	// schemas are the tools whose arguments must be valid, refused those whose
	// every call is refused.
	schemas, refused map[string]bool
	// silent says that nobody answers a question.
	silent bool
}

// obstacle says why there is no witness. Where it is not sure, the builder found
// none, and there may be one.
type obstacle struct {
	reason string
	sure   bool
}

// prover proves the outcomes of one task.
type prover struct {
	task  Task
	tools *tool.Set
	// trees are the schemas of all tools of the suite, by name.
	trees map[string]tool.JSON
}

// goal puts demands together.
func (p prover) goal(demands []*demand) *goal {
	g := &goal{prover: p, budgets: map[string]int64{}, schemas: map[string]bool{}, refused: map[string]bool{}}
	g.task.AnswerSchema, g.task.Fails = nil, nil // a task that must fail has outcomes that can be met
	for _, d := range demands {
		d.add(g)
	}
	g.task.Expect = []Expect{g.expect}
	return g
}

// witness builds an episode that meets the goal, as far as it can, and scores it.
func (g *goal) witness() (Outcome, *obstacle) {
	o := Outcome{Status: g.expect.Status, StopReason: g.expect.StopReason, AllTurnsValidJSON: g.expect.Signals["all_turns_valid_json"] != "false"}
	if o.Status == "stopped" && o.StopReason == "" {
		o.StopReason = "max_steps"
	}
	var found []*obstacle
	note := func(bad *obstacle) {
		if bad != nil {
			found = append(found, bad)
		}
	}
	var bad *obstacle
	note(g.ending())
	o.Answer, bad = g.answer()
	note(bad)
	c := g.counters()
	o.Calls, bad = g.calls(c)
	note(bad)
	c.total(g, o)
	note(c.crossed())
	c.fill(&o)
	if solved, checks := Score(g.task, o); !solved && len(found) == 0 {
		failed := checks[slices.IndexFunc(checks, func(c CheckResult) bool { return !c.Passed })]
		note(&obstacle{reason: failed.Name + ": " + failed.Detail})
	}
	if i := slices.IndexFunc(found, func(bad *obstacle) bool { return bad.sure }); i >= 0 {
		return o, found[i]
	}
	if len(found) > 0 {
		return o, found[0]
	}
	return o, nil
}

// ending says why no episode of the task ends as demanded.
func (g *goal) ending() *obstacle {
	e := g.expect
	if e.StopReason != "" && e.Status != "" && e.Status != "stopped" {
		return &obstacle{"only status stopped has a stop reason", true}
	}
	if budget, ok := stopBudget[e.StopReason]; ok {
		if value, demanded := g.budgets[budget]; demanded && value == 0 {
			return &obstacle{fmt.Sprintf("the task has no budget %s that could stop an episode", budget), true}
		}
	}
	if e.Status == "answered_after_clarify" && g.silent {
		return &obstacle{"the task has no replies: nobody would answer the question", true}
	}
	return nil
}

// stopBudget is the budget that a stop reason needs.
var stopBudget = map[string]string{"max_steps": "max_steps", "max_seconds": "max_seconds", "max_tokens": "max_tokens_total", "max_cost": "max_cost_usd"}

// impossible returns why no episode meets the demands, nil if one may.
func (p prover) impossible(demands []*demand) *obstacle {
	if _, bad := p.goal(demands).witness(); bad != nil && bad.sure {
		return bad
	}
	return nil
}

// conflict returns demands that no episode meets together, while without any one of
// them it might, and why; none if the demands do not contradict each other.
func (p prover) conflict(demands []*demand) ([]*demand, string) {
	if p.impossible(demands) == nil {
		return nil, ""
	}
	core := p.explain(nil, demands, false)
	bad := p.impossible(core)
	if bad == nil {
		return nil, ""
	}
	return core, bad.reason
}

// explain returns the items that are impossible with the background, and none of
// which can be left out. It prefers earlier ones (U. Junker, QuickXplain, AAAI 2004).
func (p prover) explain(background, items []*demand, grown bool) []*demand {
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

// empty reports whether an episode that did nothing meets the goal: one with the
// demanded status, no answer and no tool call. The status alone says what the user
// was told unless that was an answer.
func (g *goal) empty(o Outcome) bool {
	if !answersTask(o.Status) {
		return false
	}
	o.Answer, o.Calls = "", nil
	solved, _ := Score(g.task, o)
	return solved
}

// demand is one thing that an accepted outcome, or its task, asks of an episode.
type demand struct {
	// field is the field of the outcome that asks; empty where the task does.
	field string
	at    func() place
	add   func(*goal)
}
