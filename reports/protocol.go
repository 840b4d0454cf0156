package reports

import "fmt"

// Strategies whose protocol reports know. An empty name is of rows from before
// there were others.
const (
	agentContract = "contract"
	agentTools    = "tools"
	agentPlan     = "plan"
)

// contractual says that a strategy's protocol is the contract.
func contractual(agent string) bool { return agent == agentContract || agent == "" }

// allContractual says so of all candidates: their report has nothing of other strategies.
func (r *Report) allContractual() bool {
	for _, c := range r.Candidates {
		if !contractual(c.Agent) {
			return false
		}
	}
	return true
}

// protocols is what the candidates are to keep, in words.
func (r *Report) protocols() string {
	if r.allContractual() {
		return "the contract"
	}
	return "the strategy's protocol"
}

// validTitle names the share of first outputs that keep the strategy's own protocol.
func validTitle(contract bool) string {
	if contract {
		return "Contract-valid first outputs"
	}
	return "Protocol-valid first outputs"
}

// validNote says what keeping the protocol of a strategy means.
func validNote(agent string) string {
	switch {
	case contractual(agent):
		return ""
	case agent == agentTools:
		return "Valid: all calls are of known tools, their arguments are JSON objects that fit, and a final answer has the form asked for."
	case agent == agentPlan:
		return "Valid: a plan keeps all rules of plans, calls fit the tools of their step, and a step ends with a result that fits its schema."
	}
	return fmt.Sprintf("Valid by the protocol of strategy %s itself.", brief(agent, 40))
}

// clarifiesNote says where a strategy's nature decides how much it asks.
func clarifiesNote(agent string) string {
	if agent == agentPlan {
		return "A plan never asks the user, so this is 0 by its nature; a task whose right outcome is a question it cannot solve."
	}
	return ""
}

// stepsNote says what a step is, where it is not one action, and what follows when
// the criterion is missed.
func stepsNote(agent string, v Verdict) string {
	switch agent {
	case agentTools:
		return "A step is a model turn, however many calls it makes."
	case agentPlan:
		note := "A step is a model turn: the planner's, and each one of every plan step and every item of a fan-out."
		if v != Pass {
			note += " A plan of n steps takes n + 1 turns at least, by its nature."
		}
		return note
	}
	return ""
}
