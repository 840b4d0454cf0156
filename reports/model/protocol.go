package model

import (
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// contractual says that a strategy's protocol is the contract; an empty name is of
// rows from before there were other strategies.
func contractual(agent string) bool { return strategy.Of(agent).Name == strategy.Contract }

// AllContractual says so of all candidates: their report has nothing of other strategies.
func (r *Report) AllContractual() bool {
	return !slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return !contractual(c.Agent) })
}

// Protocols is what the candidates are to keep, in words.
func (r *Report) Protocols() string {
	if r.AllContractual() {
		return "the contract"
	}
	return "the strategy's protocol"
}

// ValidTitle names the share of first outputs that keep the strategy's own protocol.
func ValidTitle(contract bool) string {
	if contract {
		return "Contract-valid first outputs"
	}
	return "Protocol-valid first outputs"
}

// validNote says what keeping the protocol of a strategy means.
func validNote(agent string) string {
	s := strategy.Of(agent)
	if agent == strategy.Imported {
		return "Valid: a turn has a text, or calls whose arguments are JSON objects. Which tools there were, the source does not say."
	}
	if !s.BuiltIn() {
		return fmt.Sprintf("Valid by the protocol of strategy %s itself.", words.Brief(agent, 40))
	}
	return s.Validity
}

// clarifiesNote says where a strategy's nature decides how much it asks.
func clarifiesNote(agent string) string { return strategy.Of(agent).Clarifies }

// stepsNote says what a step is, where it is not one action, and what follows when
// the criterion is missed.
func stepsNote(agent string, v stat.Verdict) string {
	s := strategy.Of(agent)
	if v != stat.Pass && s.StepsMissed != "" {
		return s.Steps + " " + s.StepsMissed
	}
	return s.Steps
}
