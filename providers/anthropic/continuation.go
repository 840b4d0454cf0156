package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// continuation is the content of a reply that is more than text and calls, block
// by block as it came. Thinking must go back unchanged while tools are at work
// ("Extended thinking"), a paused turn with all it holds ("Handling stop reasons").
type continuation struct {
	Content []json.RawMessage `json:"anthropic_content"`
}

// keep puts the blocks into the reply.
func keep(b *wire.Builder, blocks []json.RawMessage) {
	if text, err := plainjson.Marshal(continuation{blocks}); err == nil { // else nested too deep to send
		b.Reply.Continuation = text
	}
}

// replayed returns the blocks of a message's continuation, whole if they say
// what the message says. Otherwise the message was changed, and they are the
// thinking alone, to precede text and calls. A foreign one is ignored.
func replayed(m providers.Message) (parts []any, whole bool) {
	var c continuation
	if len(m.Continuation) == 0 || wire.Unmarshal(m.Continuation, &c) != nil {
		return nil, false
	}
	var thinking []any
	var text strings.Builder
	var calls []string
	end := 0 // of what may end a message, which thinking may not
	for _, raw := range c.Content {
		var b block
		if wire.Unmarshal(raw, &b) != nil {
			return nil, false
		}
		switch b.Type {
		case "thinking", "redacted_thinking":
			if b.Type == "thinking" && b.Signature.text == "" {
				continue // cut before it was signed
			}
			thinking = append(thinking, raw)
			parts = append(parts, raw)
			continue
		case "text":
			text.WriteString(b.Text.text)
			if strings.TrimSpace(b.Text.text) == "" {
				continue // not taken back
			}
		case "tool_use":
			calls = append(calls, b.ID.text)
		}
		parts = append(parts, raw)
		end = len(parts)
	}
	same := text.String() == m.Text && slices.EqualFunc(calls, m.Calls, func(id string, c providers.ToolCall) bool { return id == c.ID && toolID(id) == id })
	if same && end > 0 {
		return parts[:end], true
	}
	return thinking, false
}
