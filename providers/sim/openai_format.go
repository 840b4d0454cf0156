package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// openAIFormat is response_format.
type openAIFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
		Strict *bool           `json:"strict"`
	} `json:"json_schema"`
}

// openAITool is a function on offer, and with nothing but its name the choice of
// one.
type openAITool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// offer reads the tools and which of them may be called.
func (r openAIRequest) offer(q *modelRequest) *failure {
	for i, t := range r.Tools {
		if t.Type != "function" {
			return invalid(fmt.Sprintf("tools[%d].type", i), "Invalid value: '%s'. Supported values are: 'function'.", clip.Runes(t.Type, 40))
		}
		if f := checkFunction(fmt.Sprintf("tools[%d].function", i), t.Function.Name, t.Function.Parameters); f != nil {
			return f
		}
		q.offer(t.Function.Name, t.Function.Parameters)
	}
	q.serial = r.ParallelToolCalls != nil && !*r.ParallelToolCalls
	switch {
	case len(q.tools) > 0:
	case given(r.ToolChoice):
		return invalid("tool_choice", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
	case r.ParallelToolCalls != nil:
		return invalid("parallel_tool_calls", "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
	}
	return q.choose(r.ToolChoice, func(raw json.RawMessage) string {
		var t openAITool
		if json.Unmarshal(raw, &t) != nil || t.Type != "function" {
			return ""
		}
		return t.Function.Name
	})
}

// checkFunction looks at a function on offer.
func checkFunction(at, name string, parameters json.RawMessage) *failure {
	switch {
	case name == "":
		return invalid(at+".name", "Missing required parameter: '%s.name'.", at)
	case !functionName.MatchString(name):
		return invalid(at+".name", "Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", at)
	case given(parameters) && !describesObject(parameters):
		return invalid(at+".parameters", `Invalid schema for function '%s': schema must be a JSON Schema of 'type: "object"'.`, name)
	}
	return nil
}

// choose reads a choice in the words of OpenAI's wires; named reads the name of
// the tool from one that is no word.
func (q *modelRequest) choose(raw json.RawMessage, named func(json.RawMessage) string) *failure {
	if !given(raw) {
		return nil
	}
	var word string
	_ = json.Unmarshal(raw, &word) // no word: an object
	switch word {
	case "auto":
	case "none":
		q.choice = choiceNone
	case "required":
		q.choice = choiceAny
	case "":
		q.choice, q.tool = choiceNamed, named(raw)
		if !slices.Contains(q.tools, q.tool) {
			return invalid("tool_choice", "Invalid value for 'tool_choice': tool '%s' is not among 'tools'.", clip.Runes(q.tool, 64))
		}
	default:
		return invalid("tool_choice", "Invalid value: '%s' for 'tool_choice'. Supported values are: 'none', 'auto', and 'required'.", clip.Runes(word, 40))
	}
	return nil
}

// form reads what a request demands of the form of the text.
func (r openAIRequest) form(q *modelRequest) *failure {
	if !given(r.ResponseFormat) {
		return nil
	}
	var format openAIFormat
	if err := json.Unmarshal(r.ResponseFormat, &format); err != nil {
		return invalid("response_format", "Invalid type for 'response_format'.")
	}
	switch format.Type {
	case "text":
		return nil
	case "json_object":
		if !strings.Contains(strings.ToLower(q.prompt), "json") {
			return invalid("messages", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
		}
	case "json_schema":
		if f := format.checkSchema(); f != nil {
			return f
		}
	default:
		return invalid("response_format.type", "Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and 'text'.", clip.Runes(format.Type, 40))
	}
	q.bind(format.Type)
	return nil
}

func (f openAIFormat) checkSchema() *failure {
	const param = "response_format.json_schema"
	switch s := f.JSONSchema; {
	case s == nil:
		return invalid(param, "Missing required parameter: '%s'.", param)
	case s.Name == "":
		return invalid(param+".name", "Missing required parameter: '%s.name'.", param)
	case !describesObject(s.Schema):
		return invalid(param, `Invalid schema for response_format '%s': schema must be a JSON Schema of 'type: "object"'.`, clip.Runes(s.Name, 64))
	case s.Strict != nil && *s.Strict:
		if at, ok := open(s.Schema, true); !ok {
			return invalid(param, "Invalid schema for response_format '%s': In context=%s, 'additionalProperties' is required to be supplied and to be false, and 'required' to include every key in properties.", clip.Runes(s.Name, 64), clip.Runes(at, 80))
		}
	}
	return nil
}

// openAIToolCall is the call in a reply; its arguments are text.
type openAIToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// message writes what was said into a message.
func (c completion) message() openAIMessage {
	m := openAIMessage{Role: "assistant", Annotations: []struct{}{}, Refusal: orNil(c.refusal)}
	if c.text != "" || len(c.calls) == 0 && c.refusal == "" {
		m.Content = &c.text
	}
	for _, t := range c.identify("call_sim") {
		call := openAIToolCall{ID: t.id, Type: "function"}
		call.Function.Name, call.Function.Arguments = t.name, t.args
		m.ToolCalls = append(m.ToolCalls, call)
	}
	return m
}
