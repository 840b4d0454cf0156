package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/providers"
)

// told puts into words, for agent contract, what comes with a request: inputs and
// what was said earlier stand below it, the shape of the answer among the
// constraints. A request with nothing is what it was.
func told(p Params) Params {
	var w strings.Builder
	w.WriteString(p.Request)
	for _, in := range p.Inputs {
		fmt.Fprintf(&w, "\n\nINPUT %s:\n%s", in.Name, in.Value)
	}
	shape := "The message must be JSON that fits this JSON Schema: "
	if p.Each != "" {
		fmt.Fprintf(&w, "\n\nDo this for each item of INPUT %s, in order; {item}, or {field} for a field of it, stands for the item.", p.Each)
		shape = "The message must be a JSON list with an element for each item, in order, that fits this JSON Schema: "
	}
	if len(p.Memory) > 0 {
		w.WriteString("\n\nEARLIER:")
		for _, e := range p.Memory {
			fmt.Fprintf(&w, "\nuser: %s\nyou: %s", flat(e.Request), flat(e.Answer))
		}
	}
	if p.AnswerSchema != nil {
		var schema bytes.Buffer
		if json.Compact(&schema, p.AnswerSchema) == nil { // a loaded suite holds valid JSON only
			p.Constraints = strings.TrimSpace(p.Constraints + " " + shape + schema.String())
		}
	}
	p.Request = w.String()
	return p
}

// onlyContracts refuses what agent contract does not have.
func onlyContracts(p Params) error {
	switch {
	case p.System != "":
		return errors.New("it has no system prompt of the candidate's: its own is the contract")
	case p.Fallback:
		return errors.New("it asks no fallback model")
	case p.Batch != strategy.Batch{}:
		return errors.New("it works on all items in one episode: take the batch settings away")
	case p.Plan != strategy.PlanBounds{}:
		return errors.New("it makes no plan: take the plan settings away")
	case p.MaxIterations != 0 || p.FinalRetries != nil:
		return errors.New("it takes neither max_iterations nor final_retries: budgets bound its turns")
	}
	return nil
}

// toldSpecimen shows once what told adds for an episode like p; nothing where it
// adds nothing.
func toldSpecimen(p Params) string {
	var s Params
	if len(p.Inputs) > 0 {
		s.Inputs = []strategy.Input{{Name: "n", Value: json.RawMessage("0")}}
	}
	if p.Each != "" {
		s.Each = "n"
	}
	if p.AnswerSchema != nil {
		s.AnswerSchema = json.RawMessage("{}")
	}
	if len(p.Memory) > 0 {
		s.Memory = []Exchange{{"r", "a"}}
	}
	s = told(s)
	return s.Request + s.Constraints
}

// shown adds the images to the request's message, the first.
func shown(messages []providers.Message, images []providers.Image) []providers.Message {
	messages[0].Images = images
	return messages
}
