package bedrock

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// reasoning is a block of reasoning that must go back as it came (API Reference,
// "ReasoningContentBlock").
type reasoning struct {
	Text     *reasoningText `json:"reasoningText,omitempty"`
	Redacted []byte         `json:"redactedContent,omitempty"`

	text strings.Builder // of a stream
}

type reasoningText struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitempty"`
}

// add adds a piece of a stream.
func (r *reasoning) add(text, signature string, redacted []byte) {
	r.Redacted = append(r.Redacted, redacted...)
	if text == "" && signature == "" {
		return
	}
	if r.Text == nil {
		r.Text = &reasoningText{}
	}
	r.text.WriteString(text)
	r.Text.Signature += signature
}

// carried is the form of a continuation: the name distinguishes it from those of other
// wires.
type carried struct {
	Blocks []*reasoning `json:"bedrock_reasoning"`
}

// continuation keeps the blocks that are signed or encrypted. Others are not
// asked for again, and models without signatures refuse them.
func continuation(blocks []*reasoning) json.RawMessage {
	var c carried
	for _, r := range blocks {
		if r.text.Len() > 0 {
			r.Text.Text = r.text.String()
		}
		if len(r.Redacted) > 0 || r.Text != nil && r.Text.Signature != "" {
			c.Blocks = append(c.Blocks, r)
		}
	}
	if len(c.Blocks) == 0 {
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil // strings and bytes always encode
	}
	return text
}

// putBack reads a continuation. That of another wire has no blocks.
func putBack(raw json.RawMessage) []*reasoning {
	var c carried
	if len(raw) == 0 || wire.Unmarshal(raw, &c) != nil {
		return nil
	}
	return c.Blocks
}
