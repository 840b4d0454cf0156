package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// openAI is the Chat Completions wire.
var openAI = wire{
	name:      "openai",
	requestID: "X-Request-Id",
	decode:    decodeOpenAI,
	encode:    encodeOpenAI,
	stream:    streamOpenAI,
	media:     media(eventStream + "; charset=utf-8"),
	fail:      failOpenAI,
}

type openAIRequest struct {
	Model               *string             `json:"model"`
	Messages            []openAIRequestTurn `json:"messages"`
	MaxTokens           *int                `json:"max_tokens"`
	MaxCompletionTokens *int                `json:"max_completion_tokens"`
	Temperature         *float64            `json:"temperature"`
	Seed                *int64              `json:"seed"`
	N                   *int                `json:"n"`
	Stop                stops               `json:"stop"`
	Stream              bool                `json:"stream"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools             []openAITool    `json:"tools"`
	ToolChoice        json.RawMessage `json:"tool_choice"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls"`
	ResponseFormat    json.RawMessage `json:"response_format"`
}

type openAIRequestTurn struct {
	Role       string              `json:"role"`
	Content    content[openAIPart] `json:"content"`
	Refusal    string              `json:"refusal"`
	ToolCalls  []openAIToolCall    `json:"tool_calls"`
	ToolCallID *string             `json:"tool_call_id"`
}

type openAIPart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Refusal  *string `json:"refusal"`
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

func decodeOpenAI(_ *http.Request, body []byte) (modelRequest, *failure) {
	var r openAIRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return modelRequest{}, decodeFailure(err)
	}
	if f := r.check(body); f != nil {
		return modelRequest{}, f
	}
	q := modelRequest{model: *r.Model, stop: r.Stop, temperature: r.Temperature, seed: r.Seed, stream: r.Stream}
	q.extras = r.StreamOptions != nil && r.StreamOptions.IncludeUsage
	for _, limit := range []*int{r.MaxTokens, r.MaxCompletionTokens} {
		switch {
		case limit == nil:
		case *limit < 1:
			return modelRequest{}, invalid("max_tokens", "Invalid 'max_tokens': must be at least 1.")
		case q.maxTokens == 0 || *limit < q.maxTokens:
			q.maxTokens = *limit
		}
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
		return modelRequest{}, invalid(fmt.Sprintf("messages.[%d].role", m.at), "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
	default:
		return modelRequest{}, invalid(fmt.Sprintf("messages.[%d].role", m.at), "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", clip.Runes(strings.Join(m.ids, ", "), 200))
	}
	return q, r.form(&q)
}

// check looks at what needs no reading.
func (r openAIRequest) check(body []byte) *failure {
	switch name := foreign(body, "max_output_tokens", "stop_sequences", "system", "input", "instructions"); {
	case name != "":
		return &failure{status: http.StatusBadRequest, message: "Unrecognized request argument supplied: " + name}
	case r.Model == nil || *r.Model == "":
		return invalid("model", "you must provide a model parameter")
	case len(r.Messages) == 0:
		return invalid("messages", "'messages' must be a non-empty array.")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 2):
		return invalid("temperature", "Invalid 'temperature': must be between 0 and 2.")
	case r.StreamOptions != nil && !r.Stream:
		return invalid("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case r.N != nil && *r.N != 1:
		return invalid("n", "Unsupported value: the simulation returns one choice.")
	case len(r.Stop) > 4:
		return invalid("stop", "Invalid 'stop': at most 4 sequences.")
	}
	return nil
}

// into adds a message to the inquiry.
func (m openAIRequestTurn) into(q *modelRequest, i int) *failure {
	if !m.Content.given && (m.Role != "assistant" || len(m.ToolCalls) == 0 && m.Refusal == "") {
		return invalid("messages", "Invalid value for 'messages[%d].content': expected a string.", i)
	}
	out := utterance{at: i, own: m.Role == "assistant"}
	if f := m.read(&out); f != nil {
		return f
	}
	switch m.Role {
	case "user":
	case "assistant":
		for j, c := range m.ToolCalls {
			if c.ID == "" || c.Type != "function" || c.Function.Name == "" {
				return invalid("messages", "Invalid value for 'messages[%d].tool_calls[%d]': expected an id, the type 'function' and a function with a name.", i, j)
			}
			out.calls = append(out.calls, invocation{c.ID, c.Function.Name, c.Function.Arguments})
		}
	case "tool":
		if m.ToolCallID == nil {
			return invalid(fmt.Sprintf("messages.[%d].tool_call_id", i), "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.")
		}
		out.results = []result{{id: *m.ToolCallID, text: out.text}}
		out.text = ""
	case "system", "developer":
		q.system += out.text
		return nil
	default:
		return invalid("messages", "Invalid value for 'messages[%d].role'. Supported values are: 'system', 'developer', 'user', 'assistant' and 'tool'.", i)
	}
	q.messages = append(q.messages, out)
	return nil
}

// read reads the content. Only users show images.
func (m openAIRequestTurn) read(out *utterance) *failure {
	if m.Content.text != nil {
		out.text = *m.Content.text
	}
	for j, p := range m.Content.parts {
		at := fmt.Sprintf("messages[%d].content[%d]", out.at, j)
		switch {
		case p.Type == "text" && p.Text != nil:
			out.text += *p.Text
		case p.Type == "refusal" && p.Refusal != nil && m.Role == "assistant":
			out.text += *p.Refusal
		case p.Type == "image_url" && p.ImageURL != nil && m.Role == "user":
			picture, ok := pictureAt(p.ImageURL.URL)
			if !ok {
				return &failure{status: http.StatusBadRequest, param: at, code: "invalid_image_format", message: "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp']."}
			}
			out.images = append(out.images, picture)
		default:
			return invalid(at, "Invalid content part '%s' in '%s': a message of this role has parts of type 'text'%s.", clip.Runes(p.Type, 40), at, map[bool]string{true: " and 'image_url'"}[m.Role == "user"])
		}
	}
	return nil
}
