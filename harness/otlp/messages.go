package otlp

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/harness/imports"
)

// messages reads a list of messages in the form of any vocabulary: an attribute that is a list,
// or JSON of one. A text that is not JSON is one message of the user.
func messages(v any) []imports.Message {
	if text, ok := v.(string); ok {
		if v = decoded(text); v == nil {
			return []imports.Message{{Role: "user", Text: text}}
		}
	}
	if object, ok := v.(map[string]any); ok {
		return ofObject(object)
	}
	list, _ := v.([]any)
	var out []imports.Message
	for _, item := range list {
		object, _ := item.(map[string]any)
		out = append(out, message(object))
	}
	return out
}

// ofObject reads the attribute ai.prompt: a system prompt with a prompt or messages.
func ofObject(object map[string]any) []imports.Message {
	var out []imports.Message
	if text, ok := object["system"].(string); ok && text != "" {
		out = append(out, imports.Message{Role: "system", Text: text})
	}
	switch prompt := object["prompt"].(type) {
	case string:
		out = append(out, imports.Message{Role: "user", Text: prompt})
	case []any:
		out = append(out, messages(prompt)...)
	}
	if list, ok := object["messages"].([]any); ok {
		out = append(out, messages(list)...)
	}
	if object["role"] != nil {
		out = append(out, message(object))
	}
	return out
}

// decoded is a JSON list or object; nil for any other text.
func decoded(text string) any {
	if text = strings.TrimSpace(text); text == "" || text[0] != '[' && text[0] != '{' {
		return nil
	}
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return v
}

// message reads one message with its parts.
func message(object map[string]any) imports.Message {
	m := imports.Message{Role: str(object, "role"), CallID: str(object, "tool_call_id", "id")}
	content := object["content"]
	if content == nil {
		content = object["parts"]
	}
	switch content := content.(type) {
	case string:
		m.Text = content
	case []any:
		for _, item := range content {
			addPart(&m, item)
		}
	}
	calls, _ := object["tool_calls"].([]any)
	m.Calls = append(m.Calls, proposals(calls)...)
	return m
}

// addPart adds a part of a message: text, a call of a tool or its result. Others, such as images
// and reasoning, are left out.
func addPart(m *imports.Message, item any) {
	part, _ := item.(map[string]any)
	switch str(part, "type") {
	case "text", "input_text", "output_text":
		if m.Text != "" {
			m.Text += "\n"
		}
		m.Text += str(part, "text", "content")
	case "tool_call", "tool-call", "tool_use":
		m.Calls = append(m.Calls, proposals([]any{item})...)
	case "tool_call_response", "tool-result", "tool_result":
		m.CallID = str(part, "id", "toolCallId", "tool_use_id")
		m.Text += str(part, "response", "result", "output", "content")
	}
}

// proposals reads the calls that a model asked for.
func proposals(list []any) (out []imports.Proposal) {
	for _, item := range list {
		object, _ := item.(map[string]any)
		p := imports.Proposal{ID: str(object, "id", "toolCallId", "call_id"), Name: str(object, "name", "toolName"), Args: str(object, "arguments", "input", "args")}
		if f, ok := object["function"].(map[string]any); ok {
			p.Name, p.Args = str(f, "name"), str(f, "arguments")
		}
		if p.Name != "" {
			out = append(out, p)
		}
	}
	return out
}

// str is the first member of these names, as text or as JSON.
func str(object map[string]any, names ...string) string {
	for _, n := range names {
		if text, ok := textOf(object[n]); ok {
			return text
		}
	}
	return ""
}

// said reads the texts of a model call.
func said(s *span) (out imports.Said) {
	list := messages(s.first(namesInput...))
	list = append(list, messages(s.input)...)
	out.System = system(s.first(attrSystem))
	for _, m := range list {
		if m.Role == "system" && out.System == "" && len(out.Messages) == 0 {
			out.System = m.Text
			continue
		}
		out.Messages = append(out.Messages, m)
	}
	answers := messages(s.first(namesOutput...))
	answers = append(answers, messages(s.output)...)
	text := s.known(namesText...)
	for _, m := range answers {
		out.Calls = append(out.Calls, m.Calls...)
		if text == nil && (m.Text != "" || len(m.Calls) == 0) {
			text = &m.Text
		}
	}
	if list, ok := decoded(s.text("ai.response.toolCalls")).([]any); ok {
		out.Calls = append(out.Calls, proposals(list)...)
	}
	if text == nil || *text != "" || len(out.Calls) == 0 {
		out.Output = text
	}
	return out
}

// system joins the parts of system instructions; a text that is not JSON is taken as it is.
func system(v any) string {
	if text, ok := v.(string); ok {
		if v = decoded(text); v == nil {
			return text
		}
	}
	parts, _ := v.([]any)
	var m imports.Message
	for _, p := range parts {
		addPart(&m, p)
	}
	return m.Text
}

// request is the last message of the user in a prompt; nil if there is none.
func request(list []imports.Message) *string {
	for i := len(list) - 1; i >= 0; i-- {
		if m := list[i]; m.Role == "user" && m.Text != "" {
			return &m.Text
		}
	}
	return nil
}
