package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
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
			fmt.Fprintf(&w, "\nuser: %s\nyou: %s", singleLine(e.Request), singleLine(e.Answer))
		}
	}
	if p.AnswerSchema != nil {
		var schema bytes.Buffer
		if json.Compact(&schema, p.AnswerSchema) == nil { // a loaded suite contains only valid JSON
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
		s.Memory = []strategy.Exchange{{Request: "r", Answer: "a"}}
	}
	s = withContext(s)
	return s.Request + s.Constraints
}

// shown adds the images to the request's message, the first.
func shown(messages []providers.Message, images []providers.Image) []providers.Message {
	messages[0].Images = images
	return messages
}

// contractSample shows everything that the prompts of agent contract can say once.
func contractSample(p Params) string {
	text := seedSample()
	b := guard.Budgets{MaxSteps: 1, MaxToolCalls: 1, MaxTime: time.Second}
	switch p.Profile {
	case profileSchema:
		schema, _ := contractSchema(nil) // of no tools there is always one
		text += schemaPrompt(b, schema, examples(nil))
	case profileConversation:
		c := newConversation(Params{Request: "r", Constraints: "c", Budgets: b})
		c.said("")
		c.observed(note("n"))
		c.left = 1
		for _, m := range c.messages(&contractMachine{repeated: "t"}) {
			text += m.Role + m.Text
		}
	}
	if p.Compress {
		system, user := compressPrompt(&scratchpad{goal: "g", progress: []string{"p"}, obs: summarised([]string{"o"})}, []string{noted(1, "n")}, 0)
		text += system + user
	}
	text += contextSample(p)
	if p.Mode != "" && p.Mode != modePrompt {
		text += p.Mode + formatName
	}
	return text
}

// seedSample is the sample of the profile seed, on which the others build.
func seedSample() string {
	b := guard.Budgets{MaxSteps: 1, MaxToolCalls: 1, MaxTime: time.Second}
	pad := scratchpad{goal: fenceLine("g", maxGoal), constraints: "c"}
	pad.replan("p\nq")
	ok := tool.Result{Outcome: tool.OK, Value: []byte("0")}
	for range maxRecent {
		pad.observe(sawResult(1, "t", "{}", ok, false))
	}
	pad.observe(sawResult(1, "t", "{}", ok, true))
	pad.observe(sawResult(1, "t", "{}", tool.Result{Outcome: tool.Error, Code: codeCircuitOpen}, false))
	pad.observe(sawRejected(1, "t", []string{"f"}))
	pad.observe(sawViolation(1, []string{truncated}))
	pad.observe(sawNoBudget())
	pad.observe(sawReply(1, "q", "a"))
	return systemPrompt(b) + userPrompt("r", &pad, guard.Used{}, b, turnRules(nil), "t") +
		userPrompt("r", &scratchpad{}, guard.Used{}, guard.Budgets{}, turnRules(nil), "")
}
