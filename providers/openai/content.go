package openai

import (
	"encoding/json"
	"fmt"
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
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		p.text = append(p.text, s)
		return nil
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
	if err := json.Unmarshal(raw, &list); err != nil {
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
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" {
			return []string{s}
		}
	case '[':
		var list []struct {
			Text    string `json:"text"`
			Summary string `json:"summary"`
		}
		if json.Unmarshal(raw, &list) != nil {
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
