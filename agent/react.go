package agent

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/providers"
)

// The ReAct text protocol (Yao et al., "ReAct: Synergizing Reasoning and Acting in
// Language Models", ICLR 2023): a turn is a thought and either an action with its
// input or the final answer; the result of an action is the next message.
const (
	reactForms = `Thought: what you know and what is missing
Action: the name of one tool
Action Input: its arguments, one JSON object
or
Thought: what you know
Final Answer: the answer to the user`

	reactObservation = "Observation: "
)

// reactPrompt says how tools are called in text, and which there are.
func reactPrompt(t conversationSpec) string {
	specs := make([]tool.Spec, 0, 8)
	for _, o := range t.offer() {
		specs = append(specs, tool.Spec{Name: o.Name, Description: o.Description, Schema: o.Schema})
	}
	text, _ := listTools(specs) // which does not fail
	return "\n" + text + `
Every turn you write exactly one of these forms, and stop there:
` + reactForms + `

What came of an action is told you as "` + reactObservation + `…". Never write it yourself.
`
}

// markers begin the parts of a turn, at the start of a line.
var markers = lazyregexp.New(`(?m)^[ \t*]*(Thought|Action Input|Action|Final Answer|Observation)[ \t*]*:[ \t*]*`)

// readReact takes a turn apart. What a model writes of observations, and after them,
// is made up and dropped.
func readReact(text string) parsedReply {
	var action, input, answer *string
	s := parsedReply{parsedReply: text}
	wrong := func(detail string) parsedReply {
		s.fault = &fault{violationReact, detail}
		return s
	}
	found := markers.FindAllStringSubmatchIndex(text, -1)
	for i, m := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		part := new(strings.TrimSpace(text[m[1]:end]))
		switch text[m[2]:m[3]] {
		case "Observation":
			s.parsedReply = strings.TrimSpace(text[:m[0]])
			return s.act(action, input, answer)
		case "Action":
			if action != nil {
				return wrong("more than one Action in a turn")
			}
			action = part
		case "Action Input":
			if input == nil {
				input = part
			}
		case "Final Answer":
			answer = new(strings.TrimSpace(text[m[1]:])) // to the end of the text
			return s.act(action, input, answer)
		}
	}
	return s.act(action, input, answer)
}

// act is what the parts of a turn say.
func (s parsedReply) act(action, input, answer *string) parsedReply {
	wrong := func(detail string) parsedReply {
		s.fault = &fault{violationReact, detail}
		return s
	}
	switch {
	case invisible.Blank(s.parsedReply):
		s.fault = &fault{violationEmpty, tellEmpty}
		return s
	case action != nil && answer != nil:
		return wrong("both an Action and a Final Answer in a turn")
	case answer != nil:
		s.text = *answer
		return s
	case action == nil:
		return wrong("neither an Action nor a Final Answer")
	case input == nil:
		return wrong("an Action without an Action Input")
	}
	s.calls = []providers.ToolCall{{Name: strings.Trim(*action, " `\"'"), Args: unfencedCode(*input)}}
	return s
}

// unfencedCode is text without a Markdown code fence around it.
func unfencedCode(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	inner = strings.TrimPrefix(inner, "json")
	inner, _, _ = strings.Cut(inner, "```")
	return strings.TrimSpace(inner)
}
