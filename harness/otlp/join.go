package otlp

import (
	"encoding/json"
	"strings"
)

// join adds what events and log records know to the spans they belong to: by the id of the
// request, by the id of the tool call, or by the span. Requests and tool calls that only log
// records tell of become spans.
func (c *collector) join() {
	by, requests, calls := map[[2]string]*span{}, map[string]*span{}, map[string]*span{}
	for _, s := range c.spans {
		by[[2]string{s.trace, s.id}] = s
		if id := s.text(namesResponseID...); id != "" && s.kind == chatSpan {
			requests[id] = s
		}
		if id := s.text(namesToolID...); id != "" && s.kind == toolSpan {
			calls[id] = s
		}
		for _, e := range s.events {
			c.absorb(s, e)
		}
		s.events = nil
	}
	for _, e := range c.events {
		id, call := text(e.attrs["request_id"]), text(e.attrs["tool_use_id"])
		switch {
		case strings.HasSuffix(e.name, "api_request") && id != "" && requests[id] == nil:
			requests[id] = c.fromLog(e, chatSpan)
		case strings.HasSuffix(e.name, "tool_result") && call != "" && calls[call] == nil:
			calls[call] = c.fromLog(e, toolSpan)
		}
	}
	for _, e := range c.events {
		id, call := text(e.attrs["request_id"]), text(e.attrs["tool_use_id"])
		s := by[[2]string{e.trace, e.span}]
		switch {
		case calls[call] != nil:
			s = calls[call]
		case requests[id] != nil && call == "":
			s = requests[id]
		}
		switch {
		case s == nil:
			c.leftOut["log "+e.name]++
		case strings.HasPrefix(e.name, "gen_ai."):
			c.absorb(s, e)
		case s == calls[call] || s == requests[id]:
			merge(s, e.attrs)
		default:
			c.leftOut["log "+e.name]++
		}
	}
}

// fromLog makes a span of a log record about a request or a tool call.
func (c *collector) fromLog(e event, k kind) *span {
	s := &span{trace: e.trace, id: text(e.attrs["request_id"]) + text(e.attrs["tool_use_id"]), name: "claude_code.llm_request", attrs: map[string]any{}, resource: e.resource, place: e.place, kind: k, end: e.at}
	merge(s, e.attrs)
	if k == toolSpan {
		s.name = "claude_code.tool"
		var p struct {
			Tool string `json:"mcp_tool_name"`
		}
		if json.Unmarshal([]byte(text(e.attrs["tool_parameters"])), &p) == nil && p.Tool != "" {
			s.attrs[attrToolName] = p.Tool
		}
	}
	if s.start = s.end; s.start <= 0 {
		c.note(e.place + ": the log record has no time")
	}
	if ms := s.number("duration_ms"); ms != nil && int64(*ms*1e6) < s.end {
		s.start -= int64(*ms * 1e6)
	}
	c.spans = append(c.spans, s)
	return s
}

// merge adds the attributes that a span lacks.
func merge(s *span, attrs map[string]any) {
	for name, v := range attrs {
		if _, known := s.attrs[name]; !known {
			s.attrs[name] = v
		}
	}
}

// absorb adds an event of the GenAI conventions, of any version, to its span.
func (c *collector) absorb(s *span, e event) {
	body, _ := e.body.(map[string]any)
	if body == nil {
		body = map[string]any{}
		for name, v := range e.attrs { // of span events, whose body is in their attributes
			body[name] = v
			if text, ok := v.(string); ok && decoded(text) != nil {
				body[name] = decoded(text)
			}
		}
	}
	role, isMessage := strings.CutSuffix(strings.TrimPrefix(e.name, "gen_ai."), ".message")
	switch {
	case e.name == eventDetails, e.name == "gen_ai.content.prompt", e.name == "gen_ai.content.completion":
		merge(s, e.attrs)
	case isMessage:
		if body["role"] == nil {
			body["role"] = role
		}
		s.input = append(s.input, body)
	case e.name == "gen_ai.choice":
		if m, ok := body["message"].(map[string]any); ok {
			body = m
		}
		if body["role"] == nil {
			body["role"] = "assistant"
		}
		s.output = append(s.output, body)
	case e.name == "exception":
		if s.message == "" {
			s.message = text(e.attrs["exception.message"])
		}
	default:
		c.leftOut["event "+e.name]++
	}
}

// text is a value that is a text; empty for any other.
func text(v any) string {
	s, _ := v.(string)
	return s
}
