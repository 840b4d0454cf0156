package agent

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

// minPlannerTokens is the least output cap of a planner: some 50 steps.
const minPlannerTokens = 4_000

// planMachine is the strategy of a planner and its steps: a model makes a plan, the
// plan is checked, and every step of it is its own loop; several run in parallel.
type planMachine struct {
	Params
	loopBase
	bounds strategy.PlanBounds
	known  plan.Known
	answer *plan.Result // by AnswerSchema; nil without one
	event  int          // the command whose outcome the current Step brings

	// Of the planner.
	messages []providers.Message
	ids      callIDs // of its calls so far
	planner  int     // the command that asks it
	whom     string
	attempt  int // from 1
	lastText string

	// Of the steps; progress is nil before there is a plan.
	progress *plan.Progress
	last     string // the step whose result is the answer
	results  map[string]json.RawMessage
	running  map[*loop]work
}

// work is what a loop is at: a step, and which of its items.
type work struct {
	run  *stepRun
	item int
}

func newPlan(p Params) (Machine, error) {
	if err := reserved(p.Tools, plan.Tool, plan.Finish); err != nil {
		return nil, err
	}
	m := &planMachine{
		Params: p, loopBase: loopBase{Tally: Tally{Budgets: p.Budgets}, evidence: newEvidence(p)}, bounds: p.Plan,
		ids: callIDs{}, results: map[string]json.RawMessage{}, running: map[*loop]work{},
	}
	m.MaxIterations = cmp.Or(m.MaxIterations, strategy.MaxIterations.Default)
	m.bounds.Attempts = cmp.Or(m.bounds.Attempts, strategy.PlanAttempts.Default)
	m.bounds.Steps = cmp.Or(m.bounds.Steps, strategy.PlanSteps.Default)
	m.bounds.Concurrency = cmp.Or(m.bounds.Concurrency, strategy.PlanConcurrency.Default)
	m.bounds.ContextTokens = cmp.Or(m.bounds.ContextTokens, strategy.PlanContextTokens.Default)
	if len(p.AnswerSchema) > 0 {
		var err error
		if m.answer, err = plan.NewResult(p.AnswerSchema); err != nil {
			return nil, fmt.Errorf("answer schema: %w", err)
		}
	}
	m.known.MaxSteps, m.known.Inputs = m.bounds.Steps, p.Inputs
	for _, s := range p.Tools.Specs() {
		m.known.Tools = append(m.known.Tools, s.Name)
	}
	for _, in := range p.Inputs {
		m.results[in.Name] = in.Value
	}
	return m, nil
}

// Step implements Machine.
func (m *planMachine) Step(ev Event) Ready {
	m.event = eventID(ev)
	revision := max(m.attempt-1, 0) // of the turn that the event ends
	l := m.take(ev)
	switch ev := ev.(type) {
	case Started:
		m.tell(phasePlanning, statusStarted, "")
		m.askPlanner()
	case Deadline:
		m.stop(MaxSeconds)
	case Cancelled:
		m.finish(Finish{Status: Interrupted})
	case ModelReplied:
		if ev.ID == m.planner {
			m.planned(ev.Reply)
		}
	case ModelFailed:
		if ev.ID == m.planner {
			m.plannerFailed(ev)
		}
	}
	if l != nil {
		m.onLoopEnd(l)
	}
	if m.out.Judgement != nil {
		m.out.Judgement.PlanRev = revision
	}
	return m.ready()
}

// Phases and statuses of updates; a step is a phase by its id.
const (
	phasePlanning = "Planning"
	phaseCreation = "Plan Creation"
	statusStarted = "started"
	statusSuccess = "success"
	statusFailed  = "failed"
)

// tell adds an update.
func (m *planMachine) tell(phase, status, content string) {
	m.out.Updates = append(m.out.Updates, Update{Phase: phase, Status: status, Content: clip.Fit(clean(content), maxData)})
}

// stop ends the episode by a guard; the answer is what is known so far.
func (m *planMachine) stop(why StopReason) {
	m.finish(Finish{Status: Stopped, StopReason: why, Answer: m.findings()})
}
