package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
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
	media:     eventStream + "; charset=utf-8",
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

func decodeOpenAI(_ *http.Request, body []byte) modelRequest {
	r := parse[openAIRequest](body)
	r.check(body)
	q := modelRequest{model: *r.Model, stop: r.Stop, temperature: r.Temperature, seed: r.Seed, stream: r.Stream}
	q.extras = r.StreamOptions != nil && r.StreamOptions.IncludeUsage
	for _, limit := range []*int{r.MaxTokens, r.MaxCompletionTokens} {
		switch {
		case limit == nil:
		case *limit < 1:
			refuse("max_tokens", "Invalid 'max_tokens': must be at least 1.")
		case q.maxTokens == 0 || *limit < q.maxTokens:
			q.maxTokens = *limit
		}
	}
	for i, m := range r.Messages {
		m.into(&q, i)
	}
	r.offer(&q)
	q.settled("messages.[{at}].role",
		"Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}")
	r.form(&q)
	return q
}

func (r openAIRequest) check(body []byte) {
	refuseForeign(body, 400, "", "Unrecognized request argument supplied: %s", "max_output_tokens", "stop_sequences", "system", "input", "instructions")
	refuseIf(r.Model == nil || *r.Model == "", "model", "you must provide a model parameter")
	refuseIf(len(r.Messages) == 0, "messages", "'messages' must be a non-empty array.")
	refuseIf(r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 2), "temperature", "Invalid 'temperature': must be between 0 and 2.")
	refuseIf(r.StreamOptions != nil && !r.Stream, "stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	refuseIf(r.N != nil && *r.N != 1, "n", "Unsupported value: the simulation returns one choice.")
	refuseIf(len(r.Stop) > 4, "stop", "Invalid 'stop': at most 4 sequences.")
}

func (m openAIRequestTurn) into(q *modelRequest, i int) {
	refuseIf(!m.Content.given && (m.Role != "assistant" || len(m.ToolCalls) == 0 && m.Refusal == ""), "messages", "Invalid value for 'messages[%d].content': expected a string.", i)
	out := utterance{at: i, own: m.Role == "assistant", text: value(m.Content.text)}
	m.read(&out)
	switch m.Role {
	case "user":
	case "assistant":
		for j, c := range m.ToolCalls {
			refuseIf(c.ID == "" || c.Type != "function" || c.Function.Name == "", "messages", "Invalid value for 'messages[%d].tool_calls[%d]': expected an id, the type 'function' and a function with a name.", i, j)
			out.calls = append(out.calls, invocation{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
		}
	case "tool":
		refuseIf(m.ToolCallID == nil, fmt.Sprintf("messages.[%d].tool_call_id", i), "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.")
		out.results = []result{{id: *m.ToolCallID, text: out.text}}
		out.text = ""
	case "system", "developer":
		q.system += out.text
		return
	default:
		refuse("messages", "Invalid value for 'messages[%d].role'. Supported values are: 'system', 'developer', 'user', 'assistant' and 'tool'.", i)
	}
	q.messages = append(q.messages, out)
}

// read reads the content. Only users show images.
func (m openAIRequestTurn) read(out *utterance) {
	for j, p := range m.Content.parts {
		at := fmt.Sprintf("messages[%d].content[%d]", out.at, j)
		switch {
		case p.Type == "text" && p.Text != nil:
			out.text += *p.Text
		case p.Type == "refusal" && p.Refusal != nil && m.Role == "assistant":
			out.text += *p.Refusal
		case p.Type == "image_url" && p.ImageURL != nil && m.Role == "user":
			picture, ok := pictureAt(p.ImageURL.URL)
			reject(!ok, http.StatusBadRequest, "invalid_image_format", at, "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].")
			out.images = append(out.images, picture)
		default:
			refuse(at, "Invalid content part '%s' in '%s': a message of this role has parts of type 'text'%s.", clip.Runes(p.Type, 40), at, map[bool]string{true: " and 'image_url'"}[m.Role == "user"])
		}
	}
}

// openAIFormat is response_format.
type openAIFormat struct {
	Type       string        `json:"type"`
	JSONSchema *schemaFormat `json:"json_schema"`
}

// schemaFormat is a format by a schema, which strict enforces.
type schemaFormat struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict *bool           `json:"strict"`
}

// openAITool is an available function, and with nothing but its name the choice of one.
type openAITool struct {
	Type     string `json:"type"`
	Function struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"function"`
}

func (r openAIRequest) offer(q *modelRequest) {
	for i, t := range r.Tools {
		if t.Type == "custom" {
			continue // of text without a schema, which no model here writes
		}
		refuseIf(t.Type != "function", fmt.Sprintf("tools[%d].type", i), "Invalid value: '%s'. Supported values are: 'function' and 'custom'.", clip.Runes(t.Type, 40))
		checkFunction(fmt.Sprintf("tools[%d].function", i), t.Function.Name, t.Function.Parameters)
		q.offer(t.Function.Name, t.Function.Parameters)
	}
	q.serial = r.ParallelToolCalls != nil && !*r.ParallelToolCalls
	switch {
	case len(r.Tools) > 0:
	case given(r.ToolChoice):
		refuse("tool_choice", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
	case r.ParallelToolCalls != nil:
		refuse("parallel_tool_calls", "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
	}
	q.choose(r.ToolChoice, func(raw json.RawMessage) string {
		var t openAITool
		if json.Unmarshal(raw, &t) != nil || t.Type != "function" {
			return ""
		}
		return t.Function.Name
	})
}

func checkFunction(at, name string, parameters json.RawMessage) {
	refuseIf(name == "", at+".name", "Missing required parameter: '%s.name'.", at)
	refuseIf(!functionName.MatchString(name), at+".name", "Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", at)
	refuseIf(given(parameters) && !describesObject(parameters), at+".parameters", `Invalid schema for function '%s': schema must be a JSON Schema of 'type: "object"'.`, name)
}

// choose reads a choice in the words of OpenAI's wires; named reads the name of
// the tool from one that is not a word.
func (q *modelRequest) choose(raw json.RawMessage, named func(json.RawMessage) string) {
	if !given(raw) {
		return
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
		refuseIf(!slices.Contains(q.tools, q.tool), "tool_choice", "Invalid value for 'tool_choice': tool '%s' is not among 'tools'.", clip.Runes(q.tool, 64))
	default:
		refuse("tool_choice", "Invalid value: '%s' for 'tool_choice'. Supported values are: 'none', 'auto', and 'required'.", clip.Runes(word, 40))
	}
}

func (r openAIRequest) form(q *modelRequest) {
	if !given(r.ResponseFormat) {
		return
	}
	var format openAIFormat
	if err := json.Unmarshal(r.ResponseFormat, &format); err != nil {
		refuse("response_format", "Invalid type for 'response_format'.")
	}
	switch format.Type {
	case "text":
		return
	case "json_object":
		refuseIf(!strings.Contains(strings.ToLower(q.prompt), "json"), "messages", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
	case "json_schema":
		const param = "response_format.json_schema"
		refuseIf(format.JSONSchema == nil, param, "Missing required parameter: '%s'.", param)
		format.JSONSchema.check(param, param, value(format.JSONSchema.Strict))
	default:
		refuse("response_format.type", "Invalid value: '%s'. Supported values are: 'json_object', 'json_schema', and 'text'.", clip.Runes(format.Type, 40))
	}
	q.bind(format.Type)
}

// check refuses a format without a name, and a schema that cannot be kept to.
func (s schemaFormat) check(at, schemaAt string, strict bool) {
	open := unclosed(s.Schema, true)
	refuseIf(s.Name == "", at+".name", "Missing required parameter: '%s.name'.", at)
	refuseIf(!describesObject(s.Schema), schemaAt, `Invalid schema for response_format '%s': schema must be a JSON Schema of 'type: "object"'.`, clip.Runes(s.Name, 64))
	refuseIf(strict && open != "", schemaAt, "Invalid schema for response_format '%s': In context=%s, 'additionalProperties' is required to be supplied and to be false, and 'required' to include every key in properties.", clip.Runes(s.Name, 64), clip.Runes(open, 80))
}

// openAIToolCall is a call that a model made earlier; its arguments are text.
type openAIToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}
