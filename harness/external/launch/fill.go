package launch

import "github.com/cupel-eval/cupel/agent/external"

// values returns the values of the placeholders.
func (s Start) values() map[string]any {
	h := s.taskInput()
	values := map[string]any{
		"request": h.Request, "constraints": h.Constraints, "inputs": h.Inputs, "session_id": h.SessionID, "history": h.History,
		"now": h.Now, "zone": h.Zone, "base_url": s.Base, "openai_base_url": s.Base + "/v1", "api_key": s.Token, "mcp_url": s.MCP,
		"traceparent": s.TraceParent, "answer_schema": nil,
	}
	if h.AnswerSchema != nil {
		values["answer_schema"] = h.AnswerSchema
	}
	return values
}

// filled replaces the placeholders of a body. Each one is a complete JSON value.
func filled(v any, values map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			out[key] = filled(e, values)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = filled(e, values)
		}
		return out
	case string:
		if m := external.Template.FindStringSubmatch(v); m != nil && m[0] == v {
			return values[m[1]]
		}
	}
	return v
}

// expand replaces the placeholders in a text.
func expand(text string, values map[string]any, escape func(string) string) string {
	return external.Template.ReplaceAllStringFunc(text, func(m string) string {
		value, _ := values[external.Template.FindStringSubmatch(m)[1]].(string)
		return escape(value)
	})
}
