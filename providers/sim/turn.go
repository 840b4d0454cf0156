package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// actionKind is next_action.type of the contract.
type actionKind string

const (
	useTool actionKind = "tool"
	respond actionKind = "respond"
	clarify actionKind = "clarify"
)

// action is what a model decided to do.
type action struct {
	kind actionKind
	// name, args and query are of a tool call; query only of get_counts, whose args
	// follow from it. No args are an empty object.
	name  string
	args  any
	query query
	// message is of the other kinds.
	message string
	// stuck says that the model cannot proceed.
	stuck bool
	// unsure says that the answer is incomplete or the model is stuck.
	unsure bool
	// deceived says that it rests on a result about something else.
	deceived bool
	// said is what an answer says, by the names that a schema's properties have: value,
	// label, name, items, and so on.
	said map[string]any
	// plan and observation go into the state update.
	plan, observation string
}

// call is a call of get_counts.
func call(q query) action { return action{kind: useTool, name: getCounts, query: q} }

// giveUp says why the model cannot proceed.
func giveUp(format string, args ...any) action {
	return action{kind: respond, stuck: true, message: fmt.Sprintf(format, args...)}
}

// answer ends the episode with a message.
func answer(format string, args ...any) action {
	return action{kind: respond, message: fmt.Sprintf(format, args...)}
}

// ask asks the user the one question.
func ask(format string, args ...any) action {
	return action{kind: clarify, message: fmt.Sprintf(format, args...)}
}

// The contract object, in the order of the contract.
type contractTurn struct {
	Control struct {
		Done   bool   `json:"done"`
		Reason string `json:"reason"`
	} `json:"control"`
	NextAction  contractAction `json:"next_action"`
	StateUpdate struct {
		Plan        string      `json:"plan"`
		Observation string      `json:"observation"`
		Confidence  json.Number `json:"confidence"`
	} `json:"state_update"`
}

type contractAction struct {
	Type    actionKind `json:"type"`
	Name    string     `json:"name,omitempty"`
	Args    any        `json:"args,omitempty"`
	Message string     `json:"message,omitempty"`
}

type countArgs struct {
	StartDate string `json:"start_date"`
	EndDate   string `json:"end_date"`
	Label     string `json:"label"`
}

// arguments are those of a tool call.
func (a action) arguments() any {
	switch {
	case a.args != nil:
		return a.args
	case a.name == getCounts:
		return countArgs{StartDate: a.query.from.String(), EndDate: a.query.to.String(), Label: a.query.label}
	}
	return struct{}{}
}

// render writes an action as one contract object; confidence is in hundredths.
func (a action) render(confidence int) string {
	var t contractTurn
	t.Control.Done = a.kind == respond
	t.Control.Reason = "ok"
	t.NextAction = contractAction{Type: a.kind, Name: a.name, Message: a.message}
	switch {
	case a.stuck:
		t.Control.Reason = "cannot_proceed"
	case a.kind == clarify:
		t.Control.Reason = "need_clarification"
	case a.kind == useTool:
		t.NextAction.Args = a.arguments()
	}
	t.StateUpdate.Plan, t.StateUpdate.Observation = a.plan, a.observation
	t.StateUpdate.Confidence = json.Number(fmt.Sprintf("%d.%02d", confidence/100, confidence%100))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t); err != nil {
		return "{}" // unreachable: every member is a string, a bool or a valid number
	}
	return string(bytes.TrimSpace(out.Bytes()))
}
