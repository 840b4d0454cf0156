package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
		s, err := unquote(raw)
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
	if err := unmarshal(raw, &list); err != nil {
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
		if s, err := unquote(raw); err == nil && s != "" {
			return []string{s}
		}
	case '[':
		var list []struct {
			Text    string `json:"text"`
			Summary string `json:"summary"`
		}
		if unmarshal(raw, &list) != nil {
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

// lenient reads what servers send: a name may stand twice, text may be broken.
var lenient = json2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func unmarshal(text []byte, v any) error { return json2.Unmarshal(text, v, lenient) }

// unquote is the text of a JSON string that has been read before.
func unquote(raw []byte) (string, error) {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) && len(raw) > 1 {
		return string(raw[1 : len(raw)-1]), nil
	}
	if text, err := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw); err == nil {
		return string(text), nil
	}
	var s string // a broken character stands for one
	err := json.Unmarshal(raw, &s)
	return s, err
}
