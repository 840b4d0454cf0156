// Package contract reads a model's raw output under the JSON contract. It returns
// three separate judgements, typed violations, warnings and the decoded turn. It
// also contains the one deterministic repair pass.
package contract

import (
	"encoding/json"
	"slices"
	"strings"
)

// The names in JSON of the types below are part of the interface: docs/contract.md lists
// them.

// Turn is one decoded contract object.
type Turn struct {
	Done   bool            `json:"done"`
	Reason string          `json:"reason"` // ok, cannot_proceed, need_clarification
	Type   string          `json:"type"`   // tool, respond, clarify
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	// Message is the answer or the question.
	Message string `json:"message"`
	// Plan, Observation and Confidence are the state update; Confidence is nil
	// when absent or out of range.
	Plan        string   `json:"plan"`
	Observation string   `json:"observation"`
	Confidence  *float64 `json:"confidence"`
}

// Disposition is what to do with an output.
type Disposition string

// The dispositions.
const (
	RunTool       Disposition = "run_tool"
	RejectArgs    Disposition = "reject_args" // a tool call whose arguments fail the schema: not executed
	AskAndPause   Disposition = "ask_and_pause"
	AnswerAndExit Disposition = "answer_and_exit"
	CannotProceed Disposition = "cannot_proceed"
	Violated      Disposition = "violation"
)

// Violation is a breach of the contract.
type Violation struct {
	// Code is stable, such as next_action.type:enum.
	Code string `json:"code"`
	// Fatal reports that the output cannot be acted on.
	Fatal bool `json:"fatal"`
	// Pointer is the JSON pointer (RFC 6901) of the offending value's place.
	Pointer string `json:"pointer"`
}

// Warning is something legal that was not asked for.
type Warning struct {
	// Code is stable, such as plan:more_than_6_lines.
	Code string `json:"code"`
	// Pointer is the JSON pointer (RFC 6901) of what it is about.
	Pointer string `json:"pointer"`
}

// Verdict is the judgement of one output.
type Verdict struct {
	Turn Turn
	// ValidJSON: one JSON object and nothing else. Actionable: no fatal
	// violation. Valid: the output satisfies the whole contract.
	ValidJSON, Actionable, Valid bool
	Violations                   []Violation
	// Warnings decide nothing: what is legal, but not what was asked for.
	Warnings []Warning
	// ArgsViolations are field errors of a tool call, such as args.label:enum.
	ArgsViolations []string
	Disposition    Disposition
}

// Contradicts reports a done flag or reason that does not go with the action.
func (v Verdict) Contradicts() bool {
	return slices.ContainsFunc(v.Warnings, func(w Warning) bool { return strings.HasPrefix(w.Code, contradiction) })
}

// WarningCodes returns the codes of the warnings, nil if there are none.
func (v Verdict) WarningCodes() []string {
	var codes []string
	for _, w := range v.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}
