package openai

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// message is one message sent.
type message struct {
	Role             string            `json:"role"`
	Content          any               `json:"content"` // a string, []part, or nil
	ToolCalls        []sentCall        `json:"tool_calls,omitempty"`
	ToolCallID       string            `json:"tool_call_id,omitempty"`
	ReasoningContent string            `json:"reasoning_content,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	ExtraContent     json.RawMessage   `json:"extra_content,omitempty"`
}

type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// sentCall is a call the model made before.
type sentCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

// messages writes the conversation.
func (r *draft) messages(call providers.Call) {
	if call.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: call.System})
	}
	for _, m := range call.Messages {
		sent := message{Role: m.Role, Content: r.content(m)}
		switch m.Role {
		case providers.RoleTool:
			sent.ToolCallID = r.callID(m.CallID)
		case providers.RoleAssistant:
			r.calls(&sent, m)
		}
		if n := len(r.Messages); r.dialect.Alternate && n > 0 && m.Role == providers.RoleUser && r.Messages[n-1].Role == providers.RoleUser {
			r.Messages[n-1].Content = joined(r.Messages[n-1].Content, sent.Content)
			continue
		}
		r.Messages = append(r.Messages, sent)
	}
}

// calls writes the calls of an assistant's message, and what goes back with them.
func (r *draft) calls(sent *message, m providers.Message) {
	if len(m.Calls) == 0 {
		return
	}
	if m.Text == "" {
		sent.Content = nil // empty text is refused by models that want a text block to hold some
	}
	k := continued(r.dialect, m.Continuation)
	sent.ReasoningContent, sent.ReasoningDetails, sent.ExtraContent = k.ReasoningContent, k.ReasoningDetails, k.ExtraContent
	for i, c := range m.Calls {
		out := sentCall{ID: r.callID(c.ID), Type: "function"}
		out.Function.Name, out.Function.Arguments = c.Name, c.Args
		if strings.TrimSpace(c.Args) == "" {
			out.Function.Arguments = "{}"
		}
		if i < len(k.Calls) && string(k.Calls[i]) != "null" {
			out.ExtraContent = k.Calls[i]
		}
		sent.ToolCalls = append(sent.ToolCalls, out)
	}
}

// content is the text, or images and text as parts.
func (r *draft) content(m providers.Message) any {
	var parts []part
	for _, image := range m.Images {
		if url, ok := r.image(m.Role, image); ok {
			parts = append(parts, part{Type: "image_url", ImageURL: &imageURL{url}})
		}
	}
	if len(parts) == 0 {
		return wire.Said(m)
	}
	if m.Text != "" {
		parts = append(parts, part{Type: "text", Text: m.Text})
	}
	return parts
}

// image is the address of a picture, data: for one in memory.
func (r *draft) image(role string, image providers.Image) (string, bool) {
	switch {
	case role != providers.RoleUser:
		r.warn("image: not taken in %.20s messages, not sent", role)
		return "", false
	case !r.takes(Images):
		return "", false
	case len(image.Data) > 0:
		return "data:" + image.MediaType + ";base64," + base64.StdEncoding.EncodeToString(image.Data), true
	case image.URL == "":
		r.warn("image: neither data nor URL, not sent")
		return "", false
	case strings.HasPrefix(image.URL, "data:"):
		return image.URL, true
	}
	return image.URL, r.takes(ImageURLs)
}

// joined makes one content of two.
func joined(a, b any) any {
	x, xText := a.(string)
	y, yText := b.(string)
	if xText && yText {
		return x + "\n\n" + y
	}
	return append(asParts(a), asParts(b)...)
}

func asParts(content any) []part {
	switch c := content.(type) {
	case []part:
		return c
	case string:
		if c != "" {
			return []part{{Type: "text", Text: c}}
		}
	}
	return nil
}

// callID is the id to send: calls that others answered may have ids which a
// service with a stricter form refuses.
func (r *draft) callID(id string) string {
	if !r.dialect.ShortIDs || len(id) == 9 && strings.IndexFunc(id, notAlphanumeric) < 0 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:9]
}

func notAlphanumeric(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
