package sim

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/cupel-eval/cupel/internal/clip"
)

// anthropic is the Messages wire. With a thread, the server holds the conversation between turns.
var anthropic = wire{
	name:      "anthropic",
	requestID: "Request-Id",
	recall:    recallThread,
	keep:      keepThread,
	decode:    decodeAnthropic,
	encode:    encodeAnthropic,
	stream:    streamAnthropic,
	media:     eventStream + "; charset=utf-8",
	fail:      failAnthropic,
}

type anthropicRequest struct {
	Model    *string           `json:"model"`
	System   content[textPart] `json:"system"`
	Messages []struct {
		Role    string                  `json:"role"`
		Content content[anthropicInput] `json:"content"`
	} `json:"messages"`
	MaxTokens     *int             `json:"max_tokens"`
	Temperature   *float64         `json:"temperature"`
	StopSequences []string         `json:"stop_sequences"`
	Stream        bool             `json:"stream"`
	Tools         []anthropicTool  `json:"tools"`
	ToolChoice    *anthropicChoice `json:"tool_choice"`
	OutputConfig  json.RawMessage  `json:"output_config"`
}

// anthropicInput is a content block of a request.
type anthropicInput struct {
	Type   string  `json:"type"`
	Text   *string `json:"text"`
	Source *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
	ID        string                  `json:"id"`
	Name      string                  `json:"name"`
	Input     json.RawMessage         `json:"input"`
	ToolUseID string                  `json:"tool_use_id"`
	Content   content[anthropicInput] `json:"content"`
	IsError   bool                    `json:"is_error"`
	Thinking  *string                 `json:"thinking"`
	Signature string                  `json:"signature"`
}

func decodeAnthropic(req *http.Request, body []byte) modelRequest {
	refuseIf(req.Header.Get("Anthropic-Version") == "", "", "anthropic-version: header is required")
	return readMessages(body)
}

func readMessages(body []byte) modelRequest {
	r := parse[anthropicRequest](body)
	r.check(body)
	system := value(r.System.text)
	for _, p := range r.System.parts {
		refuseIf(p.Type != "text" || p.Text == nil, "system", "system: Input should be a valid string or a list of text blocks")
		system += *p.Text
	}
	q := modelRequest{model: *r.Model, system: system, maxTokens: *r.MaxTokens, temperature: r.Temperature, stop: r.StopSequences, stream: r.Stream}
	for i, m := range r.Messages {
		refuseIf(!m.Content.given, "messages", "messages.%d.content: Field required", i)
		refuseIf(m.Role != "user" && m.Role != "assistant" && m.Role != "system", "messages", "messages.%d.role: Input should be 'user' or 'assistant'", i)
		out := utterance{at: i, own: m.Role == "assistant", text: value(m.Content.text)}
		for j, b := range m.Content.parts {
			b.into(&out, fmt.Sprintf("messages.%d.content.%d", i, j))
		}
		if m.Role == "system" {
			q.system += "\n\n" + out.text
			continue
		}
		q.merge(out) // the service takes a turn of the model apart, too
	}
	r.offer(&q)
	q.settled("messages",
		"messages.{at}.content: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
		"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.")
	r.form(&q)
	return q
}

const extraInputs = "%s: Extra inputs are not permitted"

func (r anthropicRequest) check(body []byte) {
	refuseForeign(body, 400, "", extraInputs, "seed", "stop", "response_format", "n", "max_completion_tokens", "parallel_tool_calls", "stream_options")
	refuseIf(r.Model == nil || *r.Model == "", "model", "model: Field required")
	refuseIf(r.MaxTokens == nil, "max_tokens", "max_tokens: Field required")
	refuseIf(*r.MaxTokens < 1, "max_tokens", "max_tokens: Input should be greater than or equal to 1")
	refuseIf(len(r.Messages) == 0, "messages", "messages: at least one message is required")
	refuseIf(r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 1), "temperature", "temperature: range: 0..1")
}

func (b anthropicInput) into(out *utterance, at string) {
	switch {
	case b.Type == "text" && b.Text != nil:
		refuseIf(*b.Text == "", "messages", "messages: text content blocks must be non-empty")
		out.text += *b.Text
	case b.Type == "image" && !out.own:
		out.images = append(out.images, b.picture(at))
	case b.Type == "tool_use" && out.own:
		refuseIf(b.ID == "" || !functionName.MatchString(b.Name) || !isObject(b.Input), "messages", "%s.tool_use: an id, a name and an input that is a valid dictionary are required", at)
		out.calls = append(out.calls, invocation{ID: b.ID, Name: b.Name, Args: string(b.Input)})
	case b.Type == "tool_result" && !out.own:
		r := result{id: b.ToolUseID, failed: b.IsError, text: value(b.Content.text)}
		for i, part := range b.Content.parts {
			inner := utterance{}
			refuseIf(part.Type != "text" && part.Type != "image", "messages", "%s.tool_result.content.%d.type: Input should be 'text' or 'image'", at, i)
			part.into(&inner, fmt.Sprintf("%s.tool_result.content.%d", at, i))
			r.text += inner.text
			r.images = append(r.images, inner.images...)
		}
		out.results = append(out.results, r)
	case b.Type == "thinking" && out.own && b.Thinking != nil:
		refuseIf(b.Signature != signature(*b.Thinking), "messages", "%s: Invalid `signature` in `thinking` block", at)
	default:
		refuse("messages", "%s.type: Input tag '%s' is not among the content blocks that a message of this role can have", at, clip.Runes(b.Type, 40))
	}
}

func (b anthropicInput) picture(at string) picture {
	s := b.Source
	refuseIf(s == nil, "messages", "%s.image.source: Field required", at)
	refuseIf(s.Type == "base64" && s.MediaType == "", "messages", "%s.image.source.base64.media_type: Field required", at)
	p, ok := pictureOf(s.MediaType, s.Data)
	if s.Type == "url" {
		p, ok = pictureAt(s.URL)
	}
	refuseIf(!ok, "messages", "%s.image.source: Could not process image", at)
	return p
}
