package cohere

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// request is the body sent. Field order is fixed: equal calls give equal bytes.
type request struct {
	Model          string          `json:"model"`
	Messages       []message       `json:"messages"`
	Stream         bool            `json:"stream"`
	MaxTokens      int             `json:"max_tokens,omitempty"`
	Temperature    *float64        `json:"temperature,omitempty"`
	Seed           *int64          `json:"seed,omitempty"`
	Stop           []string        `json:"stop_sequences,omitempty"`
	ResponseFormat *responseFormat `json:"response_format,omitempty"`
	Tools          []tool          `json:"tools,omitempty"`
	ToolChoice     string          `json:"tool_choice,omitempty"`
}

// message is one message. Content is a string, a list of blocks, or nil if there are
// only calls.
type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"`
	ToolPlan   string     `json:"tool_plan,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type block struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	Thinking string    `json:"thinking,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
}

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// newRequest says what to send and which settings are left out; problem says why
// nothing can be sent.
func newRequest(call providers.Call) (r request, warnings []string, problem string) {
	r = request{
		Model: call.Model, Messages: []message{}, Stream: call.Stream, MaxTokens: call.MaxTokens,
		Temperature: call.Temperature, Seed: call.Seed, Stop: call.Stop,
	}
	if call.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: call.System})
	}
	for i, m := range call.Messages {
		if len(m.Images) > 0 && m.Role != providers.RoleUser {
			return r, nil, fmt.Sprintf("message %d: images are taken from users only", i+1)
		}
		r.Messages = append(r.Messages, newMessage(m))
	}
	warnings = append(r.ask(call.Format), r.offer(call)...)
	if r.ResponseFormat != nil && len(r.Tools) > 0 {
		return r, nil, fmt.Sprintf("output mode %s: the Chat API does not take it together with tools", call.Format.Mode)
	}
	if call.Seed != nil && *call.Seed < 0 {
		r.Seed = nil
		warnings = append(warnings, "seed: a negative one is not taken, not sent")
	}
	return r, warnings, ""
}

// newMessage makes one message. Each tool's result is its own message.
func newMessage(m providers.Message) message {
	sent := message{Role: m.Role, Content: wire.Said(m)}
	switch m.Role {
	case providers.RoleTool:
		sent.ToolCallID = m.CallID
	case providers.RoleAssistant:
		back := readContinuation(m.Continuation)
		sent.ToolPlan = back.ToolPlan
		for _, c := range m.Calls {
			sent.ToolCalls = append(sent.ToolCalls, toolCall{ID: c.ID, Type: "function", Function: calledByName{Name: c.Name, Arguments: cmp.Or(c.Args, "{}")}})
		}
		var blocks []block
		if back.Thinking != "" {
			blocks = append(blocks, block{Type: "thinking", Thinking: back.Thinking})
		}
		switch {
		case len(blocks) > 0 && m.Text != "":
			sent.Content = append(blocks, block{Type: "text", Text: m.Text})
		case len(blocks) > 0:
			sent.Content = blocks
		case m.Text == "" && len(m.Calls) > 0:
			sent.Content = nil
		}
	case providers.RoleUser:
		if len(m.Images) > 0 {
			sent.Content = withImages(m)
		}
	}
	return sent
}

func withImages(m providers.Message) []block {
	var blocks []block
	for _, image := range m.Images {
		url := image.URL
		if len(image.Data) > 0 {
			url = "data:" + cmp.Or(image.MediaType, "image/png") + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
		}
		blocks = append(blocks, block{Type: "image_url", ImageURL: &imageURL{url}})
	}
	if m.Text != "" {
		blocks = append(blocks, block{Type: "text", Text: m.Text})
	}
	return blocks
}

// continuation is what a reply's calls cannot carry: the plan and the thinking
// before them, which go back in the assistant's message.
type continuation struct {
	Cohere *continued `json:"cohere"`
}

type continued struct {
	ToolPlan string `json:"tool_plan,omitempty"`
	Thinking string `json:"thinking,omitempty"`
}

// newContinuation is nil when there was neither.
func newContinuation(c continued) json.RawMessage {
	if c == (continued{}) {
		return nil
	}
	text, _ := json.Marshal(continuation{&c}) // strings always encode
	return text
}

// readContinuation is empty for a continuation of another wire.
func readContinuation(raw json.RawMessage) continued {
	var c continuation
	if len(raw) == 0 || wire.Unmarshal(raw, &c) != nil || c.Cohere == nil {
		return continued{}
	}
	return *c.Cohere
}
