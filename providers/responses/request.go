package responses

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// request is the body sent. Field order is fixed: equal calls give equal bytes.
// What formats and tools add is at the end.
type request struct {
	Model           string      `json:"model"`
	Instructions    string      `json:"instructions,omitempty"`
	Input           []item      `json:"input"`
	MaxOutputTokens int         `json:"max_output_tokens,omitempty"`
	Temperature     *float64    `json:"temperature,omitempty"`
	Store           bool        `json:"store"`
	Include         []string    `json:"include,omitempty"`
	Stream          bool        `json:"stream,omitempty"`
	Text            *textConfig `json:"text,omitempty"`
	Tools           []tool      `json:"tools,omitempty"`
	ToolChoice      any         `json:"tool_choice,omitempty"`
	Parallel        *bool       `json:"parallel_tool_calls,omitempty"`
}

// item is one input item: a message, a call, the answer to one, or reasoning.
type item struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	Role      string `json:"role,omitempty"`
	Phase     string `json:"phase,omitempty"`
	Summary   []part `json:"summary,omitzero"`
	Content   []part `json:"content,omitzero"`
	Encrypted string `json:"encrypted_content,omitempty"`
	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	// Output is a string or a list of parts.
	Output any `json:"output,omitempty"`
}

// part is one part of a message. A text is sent even when it is empty.
type part struct {
	Type     string  `json:"type"`
	Text     *string `json:"text,omitempty"`
	Refusal  string  `json:"refusal,omitempty"`
	ImageURL string  `json:"image_url,omitempty"`
}

func textPart(kind, text string) part { return part{Type: kind, Text: &text} }

// newRequest says what to send, and what is left out. Nothing is stored with the
// provider: what a reply wants back is sent again instead.
func (m *model) newRequest(call providers.Call) (request, []string) {
	r := request{
		Model: call.Model, Instructions: call.System, Input: []item{}, MaxOutputTokens: call.MaxTokens,
		Temperature: call.Temperature, Stream: call.Stream,
	}
	var warnings []string
	if r.MaxOutputTokens > 0 && r.MaxOutputTokens < m.minOutput {
		warnings = append(warnings, fmt.Sprintf("max_tokens: %d is less than the API takes, %d sent", r.MaxOutputTokens, m.minOutput))
		r.MaxOutputTokens = m.minOutput
	}
	if r.Temperature != nil && reasons(call.Model) {
		r.Temperature = nil
		warnings = append(warnings, "temperature: not taken by reasoning models, not sent")
	}
	if call.Seed != nil {
		warnings = append(warnings, "seed: not part of the Responses API, not sent")
	}
	if len(call.Stop) > 0 {
		warnings = append(warnings, "stop: not part of the Responses API, not sent")
	}
	if m.sealed != nil && m.sealed(call.Model) {
		r.Include = []string{"reasoning.encrypted_content"}
	}
	for _, message := range call.Messages {
		items, left := m.items(message)
		r.Input = append(r.Input, items...)
		warnings = append(warnings, left...)
	}
	warnings = append(warnings, r.ask(call.Format)...)
	warnings = append(warnings, m.offer(&r, call)...)
	return r, warnings
}

// items makes the input items of one message, and says what is left out.
func (m *model) items(message providers.Message) ([]item, []string) {
	switch message.Role {
	case providers.RoleAssistant:
		return m.said(message), nil
	case providers.RoleTool:
		return m.answered(message)
	}
	content := images(message.Images)
	if message.Text != "" || len(content) == 0 {
		content = append(content, textPart("input_text", message.Text))
	}
	return []item{{Type: "message", Role: message.Role, Content: content}}, nil
}

// answered makes the item that answers a call. The wire has no field for a
// failure, so the text says it.
func (m *model) answered(message providers.Message) (list []item, warnings []string) {
	text := wire.Said(message)
	answer := item{Type: "function_call_output", CallID: message.CallID, Output: text}
	switch {
	case len(message.Images) > 0 && m.toolImages:
		answer.Output = append(images(message.Images), textPart("input_text", text))
	case len(message.Images) > 0:
		warnings = []string{"images: not taken as the answer to a tool call, not sent"}
	}
	return []item{answer}, warnings
}

// said makes the items of a message of the model: those that its continuation
// kept, if they still say what the message says.
func (m *model) said(message providers.Message) []item {
	kept := m.kept(message.Continuation)
	if says(kept, message) {
		return kept
	}
	var list []item
	for _, k := range kept { // the message was changed: its reasoning still goes before it
		if k.Type == "reasoning" || k.Type == "compaction" {
			list = append(list, k)
		}
	}
	if message.Text != "" || len(message.Calls) == 0 {
		list = append(list, item{Type: "message", Role: providers.RoleAssistant, Content: []part{textPart("output_text", message.Text)}})
	}
	for _, c := range message.Calls {
		list = append(list, item{Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: arguments(c.Args)})
	}
	return list
}

// arguments is the text of a call's arguments, never blank.
func arguments(text string) string {
	if strings.TrimSpace(text) == "" {
		return "{}"
	}
	return text
}

// images makes parts of images.
func images(list []providers.Image) []part {
	var parts []part
	for _, image := range list {
		url := image.URL
		if len(image.Data) > 0 {
			url = "data:" + cmp.Or(image.MediaType, "image/png") + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
		}
		parts = append(parts, part{Type: "input_image", ImageURL: url})
	}
	return parts
}
