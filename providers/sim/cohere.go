package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// cohere is the second version of Cohere's chat wire.
var cohere = wire{
	name:      "cohere",
	requestID: "X-Debug-Trace-Id",
	decode:    decodeCohere,
	encode:    encodeCohere,
	stream:    streamCohere,
	media:     media(eventStream),
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

func decodeCohere(_ *http.Request, body []byte) (modelRequest, *failure) {
	var r cohereRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return modelRequest{}, decodeFailure(err)
	}
	switch name := foreign(body, "stop", "n", "max_output_tokens", "parallel_tool_calls", "message", "chat_history"); {
	case name != "":
		return modelRequest{}, &failure{status: http.StatusUnprocessableEntity, message: fmt.Sprintf("unknown field: parameter '%s' is not a valid field", name)}
	case r.Model == "":
		return modelRequest{}, invalid("model", "invalid request: model is required")
	case len(r.Messages) == 0:
		return modelRequest{}, invalid("messages", "invalid request: messages must be at least 1 item long")
	case r.MaxTokens != nil && *r.MaxTokens < 1:
		return modelRequest{}, invalid("max_tokens", "invalid request: max_tokens must be greater than 0")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 1):
		return modelRequest{}, invalid("temperature", "invalid request: temperature must be between 0 and 1.0 inclusive")
	case len(r.StopSequences) > 5:
		return modelRequest{}, invalid("stop_sequences", "invalid request: at most 5 stop_sequences are supported")
	}
	q := modelRequest{model: r.Model, temperature: r.Temperature, seed: r.Seed, stop: r.StopSequences, stream: r.Stream}
	if r.MaxTokens != nil {
		q.maxTokens = *r.MaxTokens
	}
	for i, m := range r.Messages {
		if f := m.into(&q, i); f != nil {
			return modelRequest{}, f
		}
	}
	if f := r.offer(&q); f != nil {
		return modelRequest{}, f
	}
	switch m := q.settle(); {
	case m == nil:
	case m.orphan:
		return modelRequest{}, invalid("messages", "invalid request: tool call id %s of messages[%d] was not found in the previous tool calls", clip.Runes(m.ids[0], 80), m.at)
	default:
		return modelRequest{}, invalid("messages", "invalid request: each tool call of messages[%d] must be followed by a tool message, missing: %s", m.at, clip.Runes(strings.Join(m.ids, ", "), 200))
	}
	return q, r.form(&q)
}

// into adds a message to the inquiry.
func (m cohereMessage) into(q *modelRequest, i int) *failure {
	out := utterance{at: i, own: m.Role == "assistant"}
	if !m.Content.given && (!out.own || len(m.ToolCalls) == 0) {
		return invalid("messages", "invalid request: messages[%d].content is required", i)
	}
	if m.Content.text != nil {
		out.text = *m.Content.text
	}
	for j, p := range m.Content.parts {
		switch {
		case p.Type == "text" && p.Text != nil:
			out.text += *p.Text
		case p.Type == "thinking" && p.Thinking != nil && out.own:
		case p.Type == "document" && p.Document != nil && m.Role == "tool":
			text := string(p.Document.Data)
			_ = json.Unmarshal(p.Document.Data, &text) // or it is an object, as it stands
			out.text += text
		case p.Type == "image_url" && p.ImageURL != nil && m.Role == "user":
			picture, ok := pictureAt(p.ImageURL.URL)
			if !ok {
				return invalid("messages", "invalid request: messages[%d].content[%d]: the image could not be decoded", i, j)
			}
			out.images = append(out.images, picture)
		default:
			return invalid("messages", "invalid request: messages[%d].content[%d]: invalid type '%s' for role '%s'", i, j, clip.Runes(p.Type, 40), clip.Runes(m.Role, 40))
		}
	}
	switch m.Role {
	case "user":
	case "assistant":
		for _, c := range m.ToolCalls {
			if c.ID == "" || c.Type != "function" || c.Function.Name == "" {
				return invalid("messages", "invalid request: messages[%d].tool_calls: an id, the type 'function' and the name of a function are required", i)
			}
			out.calls = append(out.calls, invocation{c.ID, c.Function.Name, c.Function.Arguments})
		}
	case "tool":
		if m.ToolCallID == "" {
			return invalid("messages", "invalid request: messages[%d].tool_call_id is required", i)
		}
		out.results, out.text = []result{{id: m.ToolCallID, text: out.text}}, ""
	case "system", "developer":
		q.system += out.text
		return nil
	default:
		return invalid("messages", "invalid request: messages[%d].role must be one of 'user', 'assistant', 'system', 'tool'", i)
	}
	q.messages = append(q.messages, out)
	return nil
}

// offer reads the tools and which of them may be called.
func (r cohereRequest) offer(q *modelRequest) *failure {
	for i, t := range r.Tools {
		if t.Type != "function" || !functionName.MatchString(t.Function.Name) || given(t.Function.Parameters) && !describesObject(t.Function.Parameters) {
			return invalid("tools", "invalid request: tools[%d]: a function with a name of letters, digits, underscores and dashes and with parameters of type object is required", i)
		}
		if slices.Contains(q.tools, t.Function.Name) {
			return invalid("tools", "invalid request: duplicate tool name '%s'", t.Function.Name)
		}
		q.offer(t.Function.Name, t.Function.Parameters)
	}
	if r.ToolChoice == nil {
		return nil
	}
	switch {
	case *r.ToolChoice == "REQUIRED" && len(q.tools) > 0:
		q.choice = choiceAny
	case *r.ToolChoice == "NONE":
		q.choice = choiceNone
	case *r.ToolChoice == "REQUIRED":
		return invalid("tool_choice", "invalid request: tool_choice may only be specified with tools")
	default:
		return invalid("tool_choice", "invalid request: tool_choice must be one of 'REQUIRED', 'NONE'")
	}
	return nil
}

// form reads what a request demands of the form of the text.
func (r cohereRequest) form(q *modelRequest) *failure {
	f := r.ResponseFmt
	switch {
	case f == nil || f.Type == "text":
		return nil
	case f.Type != "json_object":
		return invalid("response_format", "invalid request: response_format.type must be one of 'text', 'json_object'")
	case len(q.tools) > 0:
		return invalid("response_format", "invalid request: cannot specify both response_format and tools")
	}
	schema := f.JSONSchema
	if !given(schema) {
		schema = f.Schema
	}
	if !given(schema) {
		q.bind(formatObject)
		return nil
	}
	if !describesObject(schema) {
		return invalid("response_format", "invalid request: response_format.json_schema: the top level must be of type object")
	}
	q.bind(formatSchema)
	return nil
}
