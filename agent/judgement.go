package agent

import "github.com/cupel-eval/cupel/agent/tool"

// Judgement is what a strategy made of one model reply. The three booleans
// judge the raw first output, before any repair.
type Judgement struct {
	ValidJSON, Actionable, ContractValid bool
	// Repaired says that the local repair pass made the output usable.
	Repaired bool
	// Violations and Warnings are codes such as next_action.type:enum, in
	// document order.
	Violations, Warnings []string
	// ActionType is tool, respond or clarify; ActionName the tool's name. Both
	// are empty when no action could be read.
	ActionType, ActionName string
	// Confidence is the model's own estimate in [0,1]; nil when absent or invalid.
	Confidence *float64
	Done       bool
	Reason     string
	// Asked are the tool calls that the turn asked for, whether they are carried out
	// or not, in order. Arguments are as the model wrote them, valid or not.
	Asked []tool.Call
	// Thrash and Stall say that this turn's action raised the signal; Cycle that the
	// repetition is one of two alternating actions.
	Thrash, Stall, Cycle bool
	// PlanRev counts changes of the normalised plan text so far, from 0.
	PlanRev int
}
