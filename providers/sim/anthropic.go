package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
)

// anthropic is the Messages wire. With a thread, the server holds the conversation
// between turns.
var anthropic = wire{
	name:      "anthropic",
	requestID: "Request-Id",
	recall:    recallThread,
	keep:      keepThread,
	decode:    decodeAnthropic,
	encode:    encodeAnthropic,
	stream:    streamAnthropic,
	media:     media(eventStream + "; charset=utf-8"),
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

func decodeAnthropic(req *http.Request, body []byte) (modelRequest, *failure) {
	if req.Header.Get("Anthropic-Version") == "" {
		return modelRequest{}, invalid("", "anthropic-version: header is required")
	}
	return readMessages(body)
}

// readMessages reads the body of a request.
func readMessages(body []byte) (modelRequest, *failure) {
	var r anthropicRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return modelRequest{}, decodeFailure(err)
	}
	if f := r.check(body); f != nil {
		return modelRequest{}, f
	}
	system, ok := plainText(r.System)
	if !ok {
		return modelRequest{}, invalid("system", "system: Input should be a valid string or a list of text blocks")
	}
	q := modelRequest{model: *r.Model, system: system, maxTokens: *r.MaxTokens, temperature: r.Temperature, stop: r.StopSequences, stream: r.Stream}
	for i, m := range r.Messages {
		if !m.Content.given {
			return modelRequest{}, invalid("messages", "messages.%d.content: Field required", i)
		}
		if m.Role != "user" && m.Role != "assistant" {
			return modelRequest{}, invalid("messages", "messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		out := utterance{at: i, own: m.Role == "assistant"}
		if m.Content.text != nil {
			out.text = *m.Content.text
		}
		for j, b := range m.Content.parts {
			if f := b.into(&out, fmt.Sprintf("messages.%d.content.%d", i, j)); f != nil {
				return modelRequest{}, f
			}
		}
		q.messages = append(q.messages, out)
	}
	if f := r.offer(&q); f != nil {
		return modelRequest{}, f
	}
	switch m := q.settle(); {
	case m == nil:
	case m.orphan:
		return modelRequest{}, invalid("messages", "messages.%d.content: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", m.at, clip.Runes(m.ids[0], 80))
	default:
		return modelRequest{}, invalid("messages", "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", m.at, clip.Runes(strings.Join(m.ids, ", "), 200))
	}
	return q, r.form(&q)
}

// check looks at what needs no reading.
func (r anthropicRequest) check(body []byte) *failure {
	switch name := foreign(body, "seed", "stop", "response_format", "n", "max_completion_tokens", "parallel_tool_calls", "stream_options"); {
	case name != "":
		return invalid(name, "%s: Extra inputs are not permitted", name)
	case r.Model == nil || *r.Model == "":
		return invalid("model", "model: Field required")
	case r.MaxTokens == nil:
		return invalid("max_tokens", "max_tokens: Field required")
	case *r.MaxTokens < 1:
		return invalid("max_tokens", "max_tokens: Input should be greater than or equal to 1")
	case len(r.Messages) == 0:
		return invalid("messages", "messages: at least one message is required")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 1):
		return invalid("temperature", "temperature: range: 0..1")
	}
	return nil
}

// into adds a block to a message. Each role has its own kinds.
func (b anthropicInput) into(out *utterance, at string) *failure {
	switch {
	case b.Type == "text" && b.Text != nil:
		if *b.Text == "" {
			return invalid("messages", "messages: text content blocks must be non-empty")
		}
		out.text += *b.Text
	case b.Type == "image" && !out.own:
		p, f := b.picture(at)
		out.images = append(out.images, p)
		return f
	case b.Type == "tool_use" && out.own:
		if b.ID == "" || !functionName.MatchString(b.Name) || !isObject(b.Input) {
			return invalid("messages", "%s.tool_use: an id, a name and an input that is a valid dictionary are required", at)
		}
		out.calls = append(out.calls, invocation{b.ID, b.Name, string(b.Input)})
	case b.Type == "tool_result" && !out.own:
		r := result{id: b.ToolUseID, failed: b.IsError}
		if b.Content.text != nil {
			r.text = *b.Content.text
		}
		for i, part := range b.Content.parts {
			inner := utterance{}
			if part.Type != "text" && part.Type != "image" {
				return invalid("messages", "%s.tool_result.content.%d.type: Input should be 'text' or 'image'", at, i)
			}
			if f := part.into(&inner, fmt.Sprintf("%s.tool_result.content.%d", at, i)); f != nil {
				return f
			}
			r.text += inner.text
			r.images = append(r.images, inner.images...)
		}
		out.results = append(out.results, r)
	case b.Type == "thinking" && out.own && b.Thinking != nil:
		if b.Signature != signature(*b.Thinking) {
			return invalid("messages", "%s: Invalid `signature` in `thinking` block", at)
		}
	default:
		return invalid("messages", "%s.type: Input tag '%s' is not among the content blocks that a message of this role can have", at, clip.Runes(b.Type, 40))
	}
	return nil
}

// picture reads an image block.
func (b anthropicInput) picture(at string) (picture, *failure) {
	ok := false
	var p picture
	switch {
	case b.Source == nil:
		return p, invalid("messages", "%s.image.source: Field required", at)
	case b.Source.Type == "url":
		p, ok = picture{url: b.Source.URL}, strings.HasPrefix(b.Source.URL, "https://") || strings.HasPrefix(b.Source.URL, "http://")
	case b.Source.Type == "base64" && b.Source.MediaType == "":
		return p, invalid("messages", "%s.image.source.base64.media_type: Field required", at)
	case b.Source.Type == "base64":
		p, ok = pictureOf(b.Source.MediaType, b.Source.Data)
	}
	if !ok {
		return p, invalid("messages", "%s.image.source: Could not process image", at)
	}
	return p, nil
}
