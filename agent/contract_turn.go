package agent

import (
	"slices"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// truncated is the violation of an output that the token cap cut off.
const truncated = contract.Truncated

// maxConsecutiveViolations is how many consecutive violations end an episode; one less brings
// the rescue turn.
const maxConsecutiveViolations = 3

// The words of the contract that routing looks at.
const (
	typeClarify             = "clarify"
	reasonNeedClarification = "need_clarification"
)

// modelReplied judges a reply and does what it asks for.
func (m *contractMachine) modelReplied(r providers.Reply) {
	m.prompts.said(r.Text)
	v, j, fatal := judge(r, m.Tools)
	m.out.Judgement = &j
	if v.Actionable {
		m.violations = 0
		m.pad.replan(v.Turn.Plan)
		if m.Compress {
			m.log.add(noted(m.used.Steps, v.Turn.Observation))
		}
	}
	j.PlanRev = m.pad.planRev
	if m.Budgets.OutOfTime(m.used) {
		m.stop(MaxSeconds)
		return
	}
	answers := v.Disposition == contract.AnswerAndExit || v.Disposition == contract.CannotProceed
	if v.Actionable && !answers {
		j.Stall = m.stall.Turn(v.Turn.Type == typeClarify || v.Turn.Reason == reasonNeedClarification)
	}
	switch {
	case j.Stall:
		m.stop(stoppedStall)
	case !v.Actionable:
		m.violated(fatal)
	case v.Disposition == contract.RunTool:
		j.Thrash, j.Cycle = m.useTool(v.Turn)
	case v.Disposition == contract.RejectArgs:
		m.rejectArgs(v.Turn, v.ArgsViolations)
	case v.Disposition == contract.AskAndPause:
		m.askUser(v.Turn.Message)
	case v.Disposition == contract.CannotProceed:
		m.finish(Finish{Status: CannotProceed, Answer: v.Turn.Message})
	default:
		m.finish(Finish{Status: m.evidence.status(false), Answer: v.Turn.Message})
	}
	// What is planned already, a reflect turn, comes first in the order of escalation.
	if m.RescueOnContradiction && v.Actionable && v.Contradicts() && !m.over && m.next == turn.KindAct {
		m.escalate()
	}
}

// violated takes a turn that cannot be acted on.
func (m *contractMachine) violated(fatal []string) {
	m.violations++
	if m.violations >= maxConsecutiveViolations || m.kind == turn.KindRescue {
		m.stop(ContractViolation)
		return
	}
	m.observe(sawViolation(m.used.Steps, fatal))
	if m.violations == maxConsecutiveViolations-1 {
		m.escalate()
	}
	m.callModel()
}

// escalate makes the next turn the rescue turn, if there is one left.
func (m *contractMachine) escalate() bool {
	if !m.Rescue || m.tried.rescued {
		return false
	}
	m.tried.rescued = true
	m.next = turn.KindRescue
	return true
}

// judge reads a reply, repaired if need be. The Judgement's three booleans are
// about the raw output; the Verdict, and the codes of its fatal violations, are
// about what there is to act on.
func judge(r providers.Reply, tools *tool.Set) (v contract.Verdict, j Judgement, fatal []string) {
	read := contract.Read(r.Text, r.Finish == providers.FinishLength, tools)
	v = read.Verdict
	j = Judgement{ValidJSON: read.Raw.ValidJSON, Actionable: read.Raw.Actionable, ContractValid: read.Raw.Valid, Repaired: read.Repaired()}
	violations := read.Raw.Violations
	if read.Repair != nil && read.Repair.Text != "" {
		violations = slices.Concat(violations, v.Violations)
	}
	for _, violation := range violations {
		j.Violations = append(j.Violations, violation.Code)
		if violation.Fatal {
			fatal = append(fatal, violation.Code)
		}
	}
	j.Warnings = v.WarningCodes()
	j.ActionType, j.ActionName = v.Turn.Type, oneLine(v.Turn.Name, maxName)
	if v.Turn.Name != "" {
		j.Asked = []tool.Call{{Name: v.Turn.Name, Args: v.Turn.Args}}
	}
	j.Confidence, j.Done, j.Reason = v.Turn.Confidence, v.Turn.Done, v.Turn.Reason
	return v, j, fatal
}
