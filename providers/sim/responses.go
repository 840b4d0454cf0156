package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// responses is OpenAI's Responses wire. Unless store is false, later requests may
// refer to a response and to its items.
var responses = wire{
	name:      "responses",
	requestID: "X-Request-Id",
	recall:    recallItems,
	keep:      keepItems,
	decode:    decodeResponses,
	encode:    encodeResponses,
	stream:    streamResponses,
	media:     eventStream + "; charset=utf-8",
	fail:      failOpenAI,
}

type responsesRequest struct {
	Model              *string                `json:"model"`
	Instructions       *string                `json:"instructions"`
	Input              content[responsesItem] `json:"input"`
	MaxOutputTokens    *int                   `json:"max_output_tokens"`
	Temperature        *float64               `json:"temperature"`
	Stream             bool                   `json:"stream"`
	Tools              []responsesTool        `json:"tools"`
	ToolChoice         json.RawMessage        `json:"tool_choice"`
	ParallelToolCalls  *bool                  `json:"parallel_tool_calls"`
	Store              *bool                  `json:"store"`
	PreviousResponseID *string                `json:"previous_response_id"`
	Text               *struct {
		Format *struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
			Strict *bool           `json:"strict"`
		} `json:"format"`
	} `json:"text"`
}

type responsesTool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// responsesItem is an item of the input: a message, a call, the output of one, or reasoning.
type responsesItem struct {
	Type      string                 `json:"type"`
	ID        string                 `json:"id"`
	Role      string                 `json:"role"`
	Content   content[responsesPart] `json:"content"`
	CallID    string                 `json:"call_id"`
	Name      string                 `json:"name"`
	Arguments string                 `json:"arguments"`
	Output    content[responsesPart] `json:"output"`
}

type responsesPart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Refusal  *string `json:"refusal"`
	ImageURL *string `json:"image_url"`
}

func decodeResponses(_ *http.Request, body []byte) modelRequest {
	r := parse[responsesRequest](body)
	r.check(body)
	q := modelRequest{model: *r.Model, maxTokens: value(r.MaxOutputTokens), system: value(r.Instructions), temperature: r.Temperature, stream: r.Stream, stored: r.Store == nil || *r.Store, previous: r.PreviousResponseID}
	if r.Input.text != nil {
		q.messages = []utterance{{text: *r.Input.text}}
	}
	for i, item := range r.Input.parts {
		item.into(&q, i)
	}
	for i, t := range r.Tools {
		if t.Type != "function" {
			continue // a tool of the service itself, which no model here uses
		}
		checkFunction(fmt.Sprintf("tools[%d]", i), t.Name, t.Parameters)
		q.offer(t.Name, t.Parameters)
	}
	q.serial = r.ParallelToolCalls != nil && !*r.ParallelToolCalls
	q.choose(r.ToolChoice, func(raw json.RawMessage) string {
		var t responsesTool
		if json.Unmarshal(raw, &t) != nil || t.Type != "function" {
			return ""
		}
		return t.Name
	})
	q.settled("input",
		"No tool call found for function call output with call_id {id}.",
		"No tool output found for function call {id}.")
	r.form(&q)
	return q
}

func (r responsesRequest) check(body []byte) {
	refuseForeign(body, 400, "unknown_parameter", "Unknown parameter: '%s'.", "seed", "stop", "messages", "max_tokens", "max_completion_tokens", "response_format", "n", "stop_sequences", "system")
	reject(value(r.Model) == "", http.StatusBadRequest, "missing_required_parameter", "model", "Missing required parameter: 'model'.")
	reject(r.Input.text == nil && len(r.Input.parts) == 0, http.StatusBadRequest, "missing_required_parameter", "input", "Missing required parameter: 'input'.")
	reject(r.MaxOutputTokens != nil && *r.MaxOutputTokens < 16, http.StatusBadRequest, "integer_below_min_value", "max_output_tokens", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", value(r.MaxOutputTokens))
	refuseIf(r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 2), "temperature", "Invalid 'temperature': must be between 0 and 2.")
}

// into adds an item to the request. The model's items that follow each other are one turn of it.
func (m responsesItem) into(q *modelRequest, i int) {
	at := fmt.Sprintf("input[%d]", i)
	out := utterance{at: i, own: true}
	switch m.Type {
	case "function_call":
		refuseIf(m.CallID == "" || m.Name == "", at, "Missing required parameter: '%s.call_id' or '%s.name'.", at, at)
		out.calls = []invocation{{ID: m.CallID, Name: m.Name, Args: m.Arguments}}
	case "function_call_output":
		out.own = false
		refuseIf(!m.Output.given, at+".output", "Missing required parameter: '%s.output'.", at)
		readParts(m.Output, at+".output", "input_text", &out)
		out.results = []result{{id: m.CallID, text: out.text, images: out.images}}
		out.text, out.images = "", nil
	case "reasoning":
		refuseIf(!strings.HasPrefix(m.ID, "rs_"), at+".id", "Invalid '%s.id': '%s'. Expected an ID that begins with 'rs'.", at, clip.Runes(m.ID, 64))
	case "message", "":
		m.message(q, at, out)
		return
	default:
		refuse(at, "Invalid value: '%s'. Supported values are: 'message', 'function_call', 'function_call_output' and 'reasoning'.", clip.Runes(m.Type, 40))
	}
	q.merge(out)
}

func (m responsesItem) message(q *modelRequest, at string, out utterance) {
	refuseIf(!m.Content.given, at+".content", "Missing required parameter: '%s.content'.", at)
	kind := "input_text"
	switch m.Role {
	case "assistant":
		kind = "output_text"
	case "user", "system", "developer":
		out.own = false
	default:
		refuse(at+".role", "Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", clip.Runes(m.Role, 40))
	}
	readParts(m.Content, at+".content", kind, &out)
	if m.Role == "system" || m.Role == "developer" {
		q.system += out.text
		return
	}
	q.merge(out)
}

// readParts reads parts: text of one kind, refusals of the model, images of others.
func readParts(c content[responsesPart], at, kind string, out *utterance) {
	out.text = value(c.text)
	for j, p := range c.parts {
		switch {
		case p.Type == kind && p.Text != nil:
			out.text += *p.Text
		case p.Type == "refusal" && p.Refusal != nil && out.own:
			out.text += *p.Refusal
		case p.Type == "input_image" && p.ImageURL != nil && !out.own:
			picture, ok := pictureAt(*p.ImageURL)
			refuseIf(!ok, at, "The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].")
			out.images = append(out.images, picture)
		default:
			refuse(fmt.Sprintf("%s[%d]", at, j), "Invalid value: '%s'. Supported values are: '%s' and '%s'.", clip.Runes(p.Type, 40), kind, map[bool]string{true: "refusal", false: "input_image"}[out.own])
		}
	}
}

func (r responsesRequest) form(q *modelRequest) {
	if r.Text == nil || r.Text.Format == nil {
		return
	}
	f := r.Text.Format
	switch f.Type {
	case "text":
		return
	case "json_object":
		refuseIf(!strings.Contains(strings.ToLower(q.prompt), "json"), "input", "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.")
	case "json_schema":
		format := schemaFormat{f.Name, f.Schema, f.Strict}
		format.check("text.format", "text.format.schema", f.Strict == nil || *f.Strict)
	default:
		refuse("text.format.type", "Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and 'text'.", clip.Runes(f.Type, 40))
	}
	q.bind(f.Type)
}
