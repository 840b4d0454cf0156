package sim

import (
	"encoding/json"
	"strings"
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

// form reads what a request demands of the output, and the name of the tool it
// forces. Of native tools the simulation has this one form.
func (r openAIRequest) form(prompt string) (outputMode, string, *failure) {
	if given(r.Tools) || given(r.ToolChoice) {
		name, f := r.forced()
		return toolCall, name, f
	}
	if !given(r.ResponseFormat) {
		return freeText, "", nil
	}
	var format openAIFormat
	if err := json.Unmarshal(r.ResponseFormat, &format); err != nil {
		return freeText, "", invalid("response_format", "Invalid type for 'response_format'.")
	}
	switch format.Type {
	case "text":
		return freeText, "", nil
	case "json_object":
		if !strings.Contains(strings.ToLower(prompt), "json") {
			return freeText, "", invalid("messages", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
		}
		return jsonText, "", nil
	case "json_schema":
		return jsonText, "", format.checkSchema()
	}
	return freeText, "", invalid("response_format.type", "Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and 'text'.", clip(format.Type, 40))
}

func (f openAIFormat) checkSchema() *failure {
	const param = "response_format.json_schema"
	switch s := f.JSONSchema; {
	case s == nil:
		return invalid(param, "Missing required parameter: '%s'.", param)
	case s.Name == "":
		return invalid(param+".name", "Missing required parameter: '%s.name'.", param)
	case !describesObject(s.Schema):
		return invalid(param, `Invalid schema for response_format '%s': schema must be a JSON Schema of 'type: "object"'.`, clip(s.Name, 64))
	case s.Strict != nil && *s.Strict:
		if at, ok := open(s.Schema, true); !ok {
			return invalid(param, "Invalid schema for response_format '%s': In context=%s, 'additionalProperties' is required to be supplied and to be false, and 'required' to include every key in properties.", clip(s.Name, 64), clip(at, 80))
		}
	}
	return nil
}

// forced reads the one tool that must be called.
func (r openAIRequest) forced() (string, *failure) {
	var tools []openAITool
	var choice openAITool
	unsupported := invalid("tools", "Unsupported parameter: of native tools the simulation takes one function in 'tools' that 'tool_choice' names.")
	if json.Unmarshal(r.Tools, &tools) != nil || json.Unmarshal(r.ToolChoice, &choice) != nil {
		return "", unsupported
	}
	name := choice.Function.Name
	switch {
	case len(tools) != 1 || name == "" || tools[0].Type != "function" || choice.Type != "function" || tools[0].Function.Name != name:
		return "", unsupported
	case given(r.ResponseFormat):
		return "", invalid("response_format", "Unsupported parameter: the simulation takes 'response_format' or 'tools', not both.")
	case !describesObject(tools[0].Function.Parameters):
		return "", invalid("tools[0].function.parameters", `Invalid schema for function '%s': schema must be a JSON Schema of 'type: "object"'.`, clip(name, 64))
	}
	return name, nil
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
	m := openAIMessage{Role: "assistant", Annotations: []struct{}{}}
	if c.tool == "" {
		m.Content = &c.text
		return m
	}
	call := openAIToolCall{ID: c.draws.id("call_sim"), Type: "function"}
	call.Function.Name, call.Function.Arguments = c.tool, c.text
	m.ToolCalls = []openAIToolCall{call}
	return m
}
