package openai

import (
	"encoding/json"
	"fmt"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// parts are the pieces of a message.
type parts struct {
	text, reasoning, refusal []string
}

// read adds a content value: a string, null, a list of parts, or, from servers
// that parse structured output, an object, whose JSON is then the text.
func (p *parts) read(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case 'n':
		return nil
	case '"':
		s, err := wire.Unquote(raw)
		p.text = append(p.text, s)
		return err
	case '{':
		p.text = append(p.text, string(raw))
		return nil
	case '[':
		return p.readList(raw)
	}
	return fmt.Errorf("content is a JSON %s, not text", map[bool]string{true: "boolean", false: "number"}[raw[0] == 't' || raw[0] == 'f'])
}

func (p *parts) readList(raw json.RawMessage) error {
	var list []struct {
		Type      string          `json:"type"`
		Text      json.RawMessage `json:"text"`
		Thinking  json.RawMessage `json:"thinking"`
		Reasoning json.RawMessage `json:"reasoning"`
		Summary   json.RawMessage `json:"summary"`
		Refusal   string          `json:"refusal"`
	}
	if err := wire.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, part := range list {
		switch {
		case part.Refusal != "":
			p.refusal = append(p.refusal, part.Refusal)
		case part.Type == "thinking" || part.Type == "reasoning":
			for _, r := range []json.RawMessage{part.Thinking, part.Reasoning, part.Summary, part.Text} {
				p.reasoning = append(p.reasoning, texts(r)...)
			}
		default:
			p.text = append(p.text, texts(part.Text)...)
		}
	}
	return nil
}

// texts returns a string, or the texts of a list of parts. Anything else has none.
func texts(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		if s, err := wire.Unquote(raw); err == nil && s != "" {
			return []string{s}
		}
	case '[':
		var list []struct {
			Text    string `json:"text"`
			Summary string `json:"summary"`
		}
		if wire.Unmarshal(raw, &list) != nil {
			return nil
		}
		var out []string
		for _, part := range list {
			if part.Text != "" {
				out = append(out, part.Text)
			} else if part.Summary != "" {
				out = append(out, part.Summary)
			}
		}
		return out
	}
	return nil
}
