package bedrock

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/providers/anthropic"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// claudeBlock is one content block of Anthropic Messages.
type claudeBlock struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
}

// claudeDelta is a piece of one, or of the message.
type claudeDelta struct {
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	JSON     string `json:"partial_json"`
	reasons
}

// claude reads Anthropic Messages: the whole, or one event of its stream.
func (d *decoder) claude(b *wire.Builder, v invoked) {
	switch v.Type {
	case "message_start":
		var m struct {
			Model string          `json:"model"`
			Usage json.RawMessage `json:"usage"`
		}
		if wire.Unmarshal(v.Message, &m) == nil {
			b.Reply.Model = m.Model
			d.chunks.mergeUsage(m.Usage)
		}
	case "content_block_start":
		if c := v.ContentBlock; c != nil {
			d.claudeBlock(b, *c, key(v.Index))
		}
	case "content_block_delta", "message_delta":
		if v.Delta == nil {
			return
		}
		b.Text(v.Delta.Text)
		b.Reasoning(v.Delta.Thinking)
		if call := b.Open(key(v.Index)); call != nil {
			call.Args(v.Delta.JSON)
		}
		d.said(b, nil, v.Delta.reason())
	case "message_stop", "content_block_stop", "ping":
	default:
		for _, c := range v.Content {
			d.claudeBlock(b, c, "")
		}
		d.said(b, nil, v.StopReason)
	}
}

// claudeBlock reads a block. One that opens a stream has an empty input, which
// its pieces replace.
func (d *decoder) claudeBlock(b *wire.Builder, c claudeBlock, key string) {
	switch c.Type {
	case "text":
		b.Text(c.Text)
	case "thinking":
		b.Reasoning(c.Thinking)
	case "tool_use":
		call := b.Call(key, c.ID, c.Name)
		if input := string(c.Input); key == "" || input != "{}" {
			call.Args(input)
		}
	default:
		anthropic.LeaveOut(b, c.Type)
	}
}

// choice is one of the chat completions: a message, a piece of one, or, of
// DeepSeek, a text.
type choice struct {
	Text    *string      `json:"text"`
	Message *chatMessage `json:"message"`
	Delta   *chatMessage `json:"delta"`
	reasons
}

type chatMessage struct {
	Content   *string `json:"content"`
	Reasoning string  `json:"reasoning_content"`
	ToolCalls []struct {
		Index    *float64 `json:"index"`
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// choice reads one, whole or a piece.
func (d *decoder) choice(b *wire.Builder, c choice) {
	for _, m := range []*chatMessage{c.Message, c.Delta} {
		if m == nil {
			continue
		}
		b.Reasoning(m.Reasoning)
		d.said(b, m.Content, nil)
		for _, t := range m.ToolCalls {
			if t.Type != "" && t.Type != "function" {
				b.LeftOut(t.Type)
				continue
			}
			place := ""
			if t.Index != nil {
				place = key(*t.Index)
			}
			call := b.Open(place)
			if call == nil || t.ID != "" && t.ID != call.ID {
				call = b.Call(place, t.ID, t.Function.Name)
			}
			call.Args(t.Function.Arguments)
		}
	}
	d.said(b, c.Text, c.reason())
}
