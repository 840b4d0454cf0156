package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/providers"
)

// withContext renders a request for agent contract: inputs and session history below
// it, the answer schema in the constraints. It leaves a request without any of these
// unchanged.
func withContext(p Params) Params {
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

// contextSample shows once what withContext adds for an episode like p; empty where it
// adds nothing.
func contextSample(p Params) string {
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
	s = withContext(s)
	return s.Request + s.Constraints
}

// shown adds the images to the request's message, the first.
func shown(messages []providers.Message, images []providers.Image) []providers.Message {
	messages[0].Images = images
	return messages
}
