package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/plan"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// Violations of a planner turn begin so, and continue with the fault of the plan.
const (
	violationPlan   = "plan."
	violationNoCall = violationPlan + "no_call"
)

// askPlanner asks for a plan, if the budgets and the attempts allow it.
func (m *planMachine) askPlanner() {
	if why := m.Spent(); why != "" {
		m.stop(why)
		return
	}
	if m.messages == nil {
		m.messages = m.plannerOpening()
	}
	if m.whom == "" { // the second model continues with the attempt of the first
		m.attempt++
		m.tell(phaseCreation, statusStarted, fmt.Sprintf("attempt %d of %d", m.attempt, m.bounds.Attempts))
	}
	offer := plan.Offer(m.known.Tools)
	temperature := m.Temperature
	c := m.Model(CallModel{
		Parent: m.planner, Role: turn.RolePlanner, Kind: turn.KindPlan, Whom: m.whom,
		Call: providers.Call{
			System: plannerSystem(m.Params), Messages: append([]providers.Message(nil), m.messages...),
			Tools:     []providers.Tool{{Name: offer.Name, Description: offer.Description, Schema: offer.Schema}},
			Choice:    providers.Choice{Kind: providers.ChoiceNamed, Name: plan.Tool},
			MaxTokens: plannerTokens(m.MaxTokens), Temperature: &temperature, Seed: m.Seed,
		},
	})
	m.planner = c.ID
	m.issue(c, c.ID, nil)
}

// plannerTokens is the output cap of a planner's call: a plan is longer than a turn,
// and one that is cut is not a plan.
func plannerTokens(most int) int {
	if most == 0 {
		return 0 // the provider's own
	}
	return max(most, minPlannerTokens)
}

// plannerFailed asks the second model in the first one's place, if there is one.
func (m *planMachine) plannerFailed(ev ModelFailed) {
	if !ev.Answered || !m.Fallback || m.whom == turn.RoleFallback {
		m.finish(Finish{Status: Failed, Answer: m.findings(), Err: ev.Err})
		return
	}
	m.whom = turn.RoleFallback
	m.askPlanner()
}

// planned takes what the planner said.
func (m *planMachine) planned(r providers.Reply) {
	m.whom = ""
	if text := plan.WithoutThinking(r.Text); strings.TrimSpace(text) != "" {
		m.lastText = text
	}
	p, j, faults := readPlan(r, m.known)
	m.out.Judgement = &j
	switch {
	case m.Budgets.OutOfTime(m.Used()):
		m.stop(MaxSeconds)
	case len(faults) == 0:
		m.tell(phaseCreation, statusSuccess, replySummary(r))
		m.execute(p)
	default:
		m.tell(phaseCreation, statusFailed, list(faults))
		if m.attempt == m.bounds.Attempts {
			m.tell(phasePlanning, statusFailed, fmt.Sprintf("no valid plan in %d attempts", m.attempt))
			m.finish(Finish{Status: Stopped, StopReason: stoppedInvalidPlan, Answer: m.lastText})
			return
		}
		m.sendBack(r, faults)
		m.askPlanner()
	}
}

// readPlan reads the plan of a reply: the arguments of its create_task or, where it
// calls nothing, the object in its text. The faults are those that leave no plan.
func readPlan(r providers.Reply, known plan.Known) (p plan.Plan, j Judgement, faults []fault) {
	text, j, faults := planText(r)
	if text != "" {
		p, faults = readPlanText(text, r.Finish, known)
	}
	j.Actionable, j.Reason = len(faults) == 0, reasonOK
	j.Repaired = j.Actionable && len(r.Calls) == 0
	for _, f := range faults {
		j.ValidJSON = j.ValidJSON && !notJSON(f.Code)
		if text != "" || len(r.Calls) == 0 { // those of other calls are there already
			j.Violations = append(j.Violations, f.Code)
		}
	}
	j.ContractValid = len(j.Violations) == 0
	return p, j, faults
}

// planText finds the text of the plan in a reply, empty if there is none; the faults
// say why.
func planText(r providers.Reply) (text string, j Judgement, faults []fault) {
	if len(r.Calls) == 0 {
		return planProse(r)
	}
	j = Judgement{ValidJSON: true, ActionType: typeTool, ActionName: oneLine(r.Calls[0].Name, maxName)}
	for _, c := range r.Calls {
		switch {
		case c.Name != plan.Tool:
			j.Violations = append(j.Violations, violationUnknownTool)
			faults = append(faults, fault{violationUnknownTool, tellUnknown(tool.Label(c.Name), plan.Tool)})
			j.Asked = append(j.Asked, tool.Call{Name: c.Name, Args: json.RawMessage(c.Args)})
		case j.ActionType == typePlan:
			j.Warnings = []string{warnIgnored}
		default:
			text, j.ActionType, j.ActionName = cmp.Or(strings.TrimSpace(c.Args), "{}"), typePlan, plan.Tool
		}
	}
	return text, j, faults
}

// planProse finds the plan in the text of a reply that calls nothing.
func planProse(r providers.Reply) (text string, j Judgement, faults []fault) {
	j = Judgement{ActionType: typeRespond, ValidJSON: true}
	text, ok := plan.FromText(r.Text)
	switch {
	case ok:
		j.Violations = []string{violationNoCall}
		j.ValidJSON = text == strings.TrimSpace(r.Text)
	case r.Finish == providers.FinishLength:
		faults = []fault{{truncated, tellCut}}
	case invisible.Blank(r.Text):
		faults = []fault{{violationEmpty, tellEmpty}}
	default:
		j.ValidJSON = false
		faults = []fault{{violationNoCall, "the output has no plan"}}
	}
	return text, j, faults
}

// readPlanText reads a plan's text. In a cut reply, text that is not JSON is the cut's
// fault.
func readPlanText(text string, finish providers.Finish, known plan.Known) (plan.Plan, []fault) {
	p, wrong := plan.Read(text, known)
	var faults []fault
	for _, w := range wrong {
		f := fault{violationPlan + w.Code, w.Detail}
		if notJSON(f.Code) && finish == providers.FinishLength {
			f = fault{truncated, tellCut}
		}
		faults = append(faults, f)
	}
	return p, faults
}

// sendBack reports to the planner what is wrong: as the answer to every call it made, or
// in the user's place where it made none.
func (m *planMachine) sendBack(r providers.Reply, faults []fault) {
	said := providers.Message{Role: providers.RoleAssistant, Text: r.Text, Continuation: r.Continuation}
	if len(r.Calls) == 0 && invisible.Blank(r.Text) {
		said.Text, said.Continuation = noOutput, nil
	}
	for i, c := range r.Calls {
		c.Name, c.ID = wireName(c.Name), m.ids.unique(c.ID, fmt.Sprintf("plan_%d", m.attempt), i)
		said.Calls = append(said.Calls, c)
	}
	m.messages = append(m.messages, said)
	text := tellInvalid(m.attempt, m.bounds.Attempts, faults)
	for _, c := range said.Calls {
		m.messages = append(m.messages, providers.Message{Role: providers.RoleTool, CallID: c.ID, Name: c.Name, Text: text, Failed: true})
	}
	if len(said.Calls) > 0 {
		return
	}
	if _, ok := plan.FromText(r.Text); !ok {
		text = tellNoPlan(m.attempt, m.bounds.Attempts)
	}
	m.messages = append(m.messages, providers.Message{Role: providers.RoleUser, Text: text})
}

// replySummary shows a reply to people: its text without thoughts, and what it calls.
func replySummary(r providers.Reply) string {
	parts := []string{}
	if text := singleLine(plan.WithoutThinking(r.Text)); text != "" {
		parts = append(parts, text)
	}
	for _, c := range r.Calls {
		parts = append(parts, "["+oneLine(c.Name, maxName)+"]")
	}
	return strings.Join(parts, " ")
}
