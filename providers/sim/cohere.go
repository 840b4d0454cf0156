package sim

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/cupel-eval/cupel/internal/clip"
)

// cohere is the second version of Cohere's chat wire.
var cohere = wire{
	name:      "cohere",
	requestID: "X-Debug-Trace-Id",
	decode:    decodeCohere,
	encode:    encodeCohere,
	stream:    streamCohere,
	media:     eventStream,
	fail:      failCohere,
}

type cohereRequest struct {
	Model         string          `json:"model"`
	Messages      []cohereMessage `json:"messages"`
	Stream        bool            `json:"stream"`
	MaxTokens     *int            `json:"max_tokens"`
	Temperature   *float64        `json:"temperature"`
	Seed          *int64          `json:"seed"`
	StopSequences []string        `json:"stop_sequences"`
	Tools         []openAITool    `json:"tools"`
	ToolChoice    *string         `json:"tool_choice"`
	ResponseFmt   *struct {
		Type       string          `json:"type"`
		JSONSchema json.RawMessage `json:"json_schema"`
		Schema     json.RawMessage `json:"schema"`
	} `json:"response_format"`
}

type cohereMessage struct {
	Role       string              `json:"role"`
	Content    content[coherePart] `json:"content"`
	ToolPlan   string              `json:"tool_plan"`
	ToolCalls  []openAIToolCall    `json:"tool_calls"`
	ToolCallID string              `json:"tool_call_id"`
}

type coherePart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Thinking *string `json:"thinking"`
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url"`
	Document *struct {
		Data json.RawMessage `json:"data"`
	} `json:"document"`
}

func decodeCohere(_ *http.Request, body []byte) modelRequest {
	r := parse[cohereRequest](body)
	refuseForeign(body, 422, "", "unknown field: parameter '%s' is not a valid field", "stop", "n", "max_output_tokens", "parallel_tool_calls", "message", "chat_history")
	refuseIf(r.Model == "", "model", "invalid request: model is required")
	refuseIf(len(r.Messages) == 0, "messages", "invalid request: messages must be at least 1 item long")
	refuseIf(r.MaxTokens != nil && *r.MaxTokens < 1, "max_tokens", "invalid request: max_tokens must be greater than 0")
	refuseIf(r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 1), "temperature", "invalid request: temperature must be between 0 and 1.0 inclusive")
	refuseIf(len(r.StopSequences) > 5, "stop_sequences", "invalid request: at most 5 stop_sequences are supported")
	q := modelRequest{model: r.Model, maxTokens: value(r.MaxTokens), temperature: r.Temperature, seed: r.Seed, stop: r.StopSequences, stream: r.Stream}
	for i, m := range r.Messages {
		m.into(&q, i)
	}
	r.offer(&q)
	q.settled("messages",
		"invalid request: tool call id {id} of messages[{at}] was not found in the previous tool calls",
		"invalid request: each tool call of messages[{at}] must be followed by a tool message, missing: {ids}")
	r.form(&q)
	return q
}

func (m cohereMessage) into(q *modelRequest, i int) {
	out := utterance{at: i, own: m.Role == "assistant", text: value(m.Content.text)}
	refuseIf(!m.Content.given && (!out.own || len(m.ToolCalls) == 0), "messages", "invalid request: messages[%d].content is required", i)
	for j, p := range m.Content.parts {
		switch {
		case p.Type == "text" && p.Text != nil:
			out.text += *p.Text
		case p.Type == "thinking" && p.Thinking != nil && out.own:
		case p.Type == "document" && p.Document != nil && m.Role == "tool":
			text := string(p.Document.Data)
			_ = json.Unmarshal(p.Document.Data, &text) // otherwise it is an object and stays unchanged
			out.text += text
		case p.Type == "image_url" && p.ImageURL != nil && m.Role == "user":
			picture, ok := pictureAt(p.ImageURL.URL)
			refuseIf(!ok, "messages", "invalid request: messages[%d].content[%d]: the image could not be decoded", i, j)
			out.images = append(out.images, picture)
		default:
			refuse("messages", "invalid request: messages[%d].content[%d]: invalid type '%s' for role '%s'", i, j, clip.Runes(p.Type, 40), clip.Runes(m.Role, 40))
		}
	}
	switch m.Role {
	case "user":
	case "assistant":
		for _, c := range m.ToolCalls {
			refuseIf(c.ID == "" || c.Type != "function" || c.Function.Name == "", "messages", "invalid request: messages[%d].tool_calls: an id, the type 'function' and the name of a function are required", i)
			out.calls = append(out.calls, invocation{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
		}
	case "tool":
		refuseIf(m.ToolCallID == "", "messages", "invalid request: messages[%d].tool_call_id is required", i)
		out.results, out.text = []result{{id: m.ToolCallID, text: out.text}}, ""
	case "system", "developer":
		q.system += out.text
		return
	default:
		refuse("messages", "invalid request: messages[%d].role must be one of 'user', 'assistant', 'system', 'tool'", i)
	}
	q.messages = append(q.messages, out)
}

func (r cohereRequest) offer(q *modelRequest) {
	for i, t := range r.Tools {
		refuseIf(t.Type != "function" || !functionName.MatchString(t.Function.Name) || given(t.Function.Parameters) && !describesObject(t.Function.Parameters), "tools", "invalid request: tools[%d]: a function with a name of letters, digits, underscores and dashes and with parameters of type object is required", i)
		refuseIf(slices.Contains(q.tools, t.Function.Name), "tools", "invalid request: duplicate tool name '%s'", t.Function.Name)
		q.offer(t.Function.Name, t.Function.Parameters)
	}
	if r.ToolChoice == nil {
		return
	}
	switch {
	case *r.ToolChoice == "REQUIRED" && len(q.tools) > 0:
		q.choice = choiceAny
	case *r.ToolChoice == "NONE":
		q.choice = choiceNone
	case *r.ToolChoice == "REQUIRED":
		refuse("tool_choice", "invalid request: tool_choice may only be specified with tools")
	default:
		refuse("tool_choice", "invalid request: tool_choice must be one of 'REQUIRED', 'NONE'")
	}
}

func (r cohereRequest) form(q *modelRequest) {
	f := r.ResponseFmt
	switch {
	case f == nil || f.Type == "text":
		return
	case f.Type != "json_object":
		refuse("response_format", "invalid request: response_format.type must be one of 'text', 'json_object'")
	case len(q.tools) > 0:
		refuse("response_format", "invalid request: cannot specify both response_format and tools")
	}
	schema := f.JSONSchema
	if !given(schema) {
		schema = f.Schema
	}
	if !given(schema) {
		q.bind(formatObject)
		return
	}
	refuseIf(!describesObject(schema), "response_format", "invalid request: response_format.json_schema: the top level must be of type object")
	q.bind(formatSchema)
}

func (c completion) cohereFinish() string {
	return c.ended("MAX_TOKENS", "STOP_SEQUENCE", "COMPLETE", "TOOL_CALL", "COMPLETE")
}

// cohereUsage counts what came from a cache as part of the input.
func (c completion) cohereUsage() obj {
	return obj{
		"billed_units":  obj{"input_tokens": c.in, "output_tokens": c.made()},
		"tokens":        obj{"input_tokens": c.in, "output_tokens": c.made()},
		"cached_tokens": c.read,
	}
}

// cohereContent are the parts of the answer, each with the name of what it holds.
func (c completion) cohereContent() []obj {
	var parts []obj
	if c.reasoning != "" {
		parts = append(parts, obj{"type": "thinking", "thinking": c.reasoning})
	}
	if text := c.spoken(); text != "" || !c.silent() {
		parts = append(parts, obj{"type": "text", "text": text})
	}
	return parts
}

func encodeCohere(_ modelRequest, c completion) any {
	message := obj{"role": "assistant"}
	if parts := c.cohereContent(); parts != nil {
		message["content"] = parts
	}
	if calls := c.functionCalls(); calls != nil {
		message["tool_calls"] = calls
	}
	return obj{"id": c.draws.id("sim"), "message": message, "finish_reason": c.cohereFinish(), "usage": c.cohereUsage()}
}

// streamCohere makes the events of each part between those of the message.
func streamCohere(_ modelRequest, c completion) [][]byte {
	var e events
	part := func(kind string, i int, name string, v any) {
		e.typed(kind, obj{"index": i, "delta": obj{"message": obj{name: v}}})
	}
	e.typed("message-start", obj{"id": c.draws.id("sim"), "delta": obj{"message": obj{"role": "assistant", "content": []obj{}, "tool_plan": "", "tool_calls": []obj{}, "citations": []obj{}}}})
	for i, p := range c.cohereContent() {
		name, _ := p["type"].(string)
		whole, _ := p[name].(string)
		part("content-start", i, "content", obj{"type": name, name: ""})
		for _, piece := range c.draws.pieces(whole) {
			part("content-delta", i, "content", obj{name: piece})
		}
		e.typed("content-end", obj{"index": i})
	}
	for i, t := range c.identify("call_sim") {
		part("tool-call-start", i, "tool_calls", functionCall(t, ""))
		for _, piece := range c.draws.pieces(t.Args) {
			part("tool-call-delta", i, "tool_calls", obj{"function": obj{"arguments": piece}})
		}
		e.typed("tool-call-end", obj{"index": i})
	}
	e.typed("message-end", obj{"id": c.draws.id("sim"), "delta": obj{"finish_reason": c.cohereFinish(), "usage": c.cohereUsage()}})
	return append(e.frames, done)
}

func failCohere(f *failure, requestID string) any {
	message := f.message
	if f.code == "model_not_found" {
		message = "model '" + f.model + "' not found, make sure the correct model ID was used and that you have access to the model."
	}
	return obj{"id": requestID, "message": message}
}
