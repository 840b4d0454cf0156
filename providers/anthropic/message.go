package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/providers"
)

type message struct {
	Role string `json:"role"`
	// Content is a string, or a []any of parts where there is more than text.
	Content any `json:"content"`
}

// part is a content block of a request.
type part struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Source    *source         `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   any             `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"` // base64 in JSON
	URL       string `json:"url,omitempty"`
}

// writer puts a conversation together.
type writer struct {
	messages []message
	warnings []string
	// results reports that the last message holds the results of tools.
	results bool
}

// messages writes a conversation. The results of one turn's tools, and what the
// user says next, must be one message ("Handle tool calls", docs.claude.com).
func messages(list []providers.Message) ([]message, []string) {
	w := writer{messages: make([]message, 0, len(list))}
	for _, m := range list {
		switch {
		case m.Role == providers.RoleTool:
			w.append(w.result(m))
			w.results = true
		case w.results && m.Role == providers.RoleUser:
			w.append(w.parts(m)...)
		default:
			w.results = false
			w.messages = append(w.messages, message{Role: m.Role, Content: w.content(m)})
		}
	}
	return w.messages, w.warnings
}

// append adds parts to the message of results, which it begins if need be.
func (w *writer) append(parts ...any) {
	if !w.results {
		w.messages = append(w.messages, message{Role: providers.RoleUser, Content: []any{}})
	}
	last := &w.messages[len(w.messages)-1]
	last.Content = append(last.Content.([]any), parts...)
}

// content is the text alone where that is all.
func (w *writer) content(m providers.Message) any {
	parts := w.parts(m)
	if len(parts) == 0 {
		return m.Text
	}
	if only, ok := parts[0].(part); ok && len(parts) == 1 && only.Type == "text" {
		return m.Text
	}
	return parts
}

// parts are the content blocks of a message of the user or the assistant.
func (w *writer) parts(m providers.Message) []any {
	if m.Role == providers.RoleAssistant {
		if len(m.Images) > 0 {
			w.warn("images: not taken of the assistant, not sent")
		}
		before, whole := replayed(m)
		if whole {
			return before
		}
		parts := appendText(before, m.Text)
		for _, c := range m.Calls {
			parts = append(parts, w.call(c))
		}
		if len(parts) == len(before) {
			return nil // a message must not end with thinking
		}
		return parts
	}
	return appendText(w.images(m.Images), m.Text)
}

// appendText adds a block of text; the API takes none that is blank.
func appendText(parts []any, text string) []any {
	if strings.TrimSpace(text) == "" {
		return parts
	}
	return append(parts, part{Type: "text", Text: text})
}

// call writes a tool call of the assistant.
func (w *writer) call(c providers.ToolCall) part {
	input := json.RawMessage(c.Args)
	if !isObject(input) {
		w.warn("call %.60s: the arguments are not a JSON object, sent as INVALID_JSON", c.Name)
		input = invalid(c.Args)
	}
	return part{Type: "tool_use", ID: toolID(c.ID), Name: c.Name, Input: input}
}

// invalid wraps arguments that are not an object, as the documentation describes under
// "Fine-grained tool streaming".
func invalid(args string) json.RawMessage {
	text, _ := plainjson.Marshal(struct { // strings always encode
		JSON string `json:"INVALID_JSON"`
	}{args})
	return text
}

// result writes the answer to a tool call.
func (w *writer) result(m providers.Message) part {
	p := part{Type: "tool_result", ToolUseID: toolID(m.CallID), IsError: m.Failed}
	images := w.images(m.Images)
	switch {
	case len(images) > 0:
		p.Content = appendText(images, m.Text)
	case m.Text != "":
		p.Content = m.Text
	}
	return p
}

// toolID replaces what the API does not take in the ids of calls: those of
// other providers have it.
func toolID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
}

// imageTypes are the pictures the API takes.
var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// images writes pictures: base64 data or a URL ("Vision", docs.claude.com).
func (w *writer) images(list []providers.Image) []any {
	var parts []any
	for _, i := range list {
		s := source{Type: "base64", MediaType: i.MediaType, Data: i.Data}
		switch {
		case len(i.Data) == 0:
			s = source{Type: "url", URL: i.URL}
		case s.MediaType == "":
			s.MediaType = http.DetectContentType(i.Data)
		}
		if s.Type == "base64" && !slices.Contains(imageTypes, s.MediaType) {
			w.warn("image: %.60s is not taken, only JPEG, PNG, GIF and WebP are, not sent", s.MediaType)
			continue
		}
		parts = append(parts, part{Type: "image", Source: &s})
	}
	return parts
}

// warn adds a warning, once.
func (w *writer) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(w.warnings, text) {
		w.warnings = append(w.warnings, text)
	}
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) && json.Valid(raw)
}
