package agent

import (
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
)

// evidence is what an episode has shown about its input. It distinguishes an answer
// from a complaint about the input, regardless of the answer.
type evidence struct {
	request string // as the user wrote it
	inputs  []strategy.Input
	tools   *tool.Set
	replies []string // what the user answered to questions

	succeeded bool // a tool call has succeeded
	refused   bool // arguments were rejected, or a call failed
}

func newEvidence(p Params) evidence {
	return evidence{request: p.Request, inputs: p.Inputs, tools: p.Tools}
}

// called takes the result of a tool call. A refusal for another reason than the
// arguments, such as a spent budget, says nothing about the input.
func (e *evidence) called(r tool.Result) {
	e.succeeded = e.succeeded || r.Outcome == tool.OK
	e.refused = e.refused || isFailure(r) || r.Outcome == tool.Rejected && r.Code == codeArgs
}

// replied takes what the user answered to a question.
func (e *evidence) replied(text string) { e.replies = append(e.replies, text) }

// status is that of an episode that ends with an answer. One that fits a schema which
// the task asks for is never a complaint.
func (e *evidence) status(fits bool) Status {
	switch {
	case !fits && !e.succeeded && (e.refused || e.badValue()):
		return RespondError
	case len(e.replies) > 0:
		return AnsweredAfterClarify
	}
	return Answered
}

// badValue reports whether no tool takes a value that the user gave.
func (e *evidence) badValue() bool {
	for _, text := range append([]string{e.request}, e.replies...) {
		if e.tools.RefusesValueIn(text) {
			return true
		}
	}
	for _, in := range e.inputs {
		value, _, ok := tool.ParseJSON(string(in.Value))
		if !ok || value.Kind == '{' || value.Kind == '[' {
			continue // of which a tool takes a part
		}
		if e.tools.RefusesArgument(in.Name, in.Value) || e.tools.RefusesValueIn(value.Text()) {
			return true
		}
	}
	return false
}
