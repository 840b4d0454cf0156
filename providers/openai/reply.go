package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// response is what is read of a body. Fields whose type differs between
// servers stay raw until looked at.
type response struct {
	ID        string          `json:"id"`
	RequestID string          `json:"request_id"`
	Model     string          `json:"model"`
	Choices   []choice        `json:"choices"`
	Usage     json.RawMessage `json:"usage"`
	Error     json.RawMessage `json:"error"`
}

type choice struct {
	FinishReason string          `json:"finish_reason"`
	Message      *answer         `json:"message"`
	Error        json.RawMessage `json:"error"`
}

type answer struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	Refusal          string          `json:"refusal"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

// decoder reads replies into a wire.Builder.
type decoder struct{}

// Whole implements wire.Decoder.
func (d decoder) Whole(b *wire.Builder, body []byte) error {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		if f := bytes.TrimSpace(body); len(f) > 0 && (f[0] == '[' || f[0] == '"') {
			return faultOnly(body, err)
		}
		return fmt.Errorf("decode reply: %w", err)
	}
	b.Reply.Model, b.Reply.RequestID = r.Model, cmp.Or(r.RequestID, r.ID)
	b.Usage(r.Usage, readUsage)
	if wire.Given(r.Error) {
		f := wire.ReadFault(body)
		return &f
	}
	if len(r.Choices) == 0 {
		f := wire.ReadFault(body)
		if f.Message != "" && (f.Code != "" || f.Type != "") { // an error without an envelope
			return &f
		}
		return errors.New("decode reply: no choices")
	}
	first := r.Choices[0]
	if wire.Given(first.Error) {
		f := wire.ReadFault(first.Error)
		return &f
	}
	if first.Message == nil {
		return errors.New("decode reply: the first choice has no message")
	}
	return first.into(b)
}

// Frame implements wire.Decoder.
func (d decoder) Frame(*wire.Builder, wire.Frame) (bool, error) {
	return false, errors.New("decode reply: an event stream was not asked for")
}

// faultOnly reads a body that is an error and nothing else.
func faultOnly(body []byte, err error) error {
	f := wire.ReadFault(body)
	if f.Type == "" && f.Code == "" {
		return fmt.Errorf("decode reply: %w", err)
	}
	return &f
}

// into writes a choice into the reply.
func (c choice) into(b *wire.Builder) error {
	m := c.Message
	var p parts
	if err := p.read(m.Content); err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	for _, field := range []json.RawMessage{m.ReasoningContent, m.Reasoning, m.ReasoningDetails} {
		if len(p.reasoning) == 0 { // the fields repeat each other
			p.reasoning = texts(field)
		}
	}
	b.Reasoning(strings.Join(p.reasoning, ""))
	b.Text(strings.Join(p.text, ""))
	b.Refusal(strings.Join(append(p.refusal, m.Refusal), ""))
	readCalls(b, m.ToolCalls)
	b.Reply.FinishRaw = c.FinishReason
	b.Reply.Finish = providers.FinishOther
	if f, ok := finishes[c.FinishReason]; ok {
		b.Reply.Finish = f
	}
	return nil
}

// finishes maps the words servers use.
var finishes = map[string]providers.Finish{
	"stop": providers.FinishStop, "eos": providers.FinishStop, "stop_sequence": providers.FinishStop, "end_turn": providers.FinishStop,
	"length": providers.FinishLength, "max_tokens": providers.FinishLength, "model_length": providers.FinishLength,
	"tool_calls": providers.FinishTools, "function_call": providers.FinishTools, "tool_use": providers.FinishTools,
	"content_filter": providers.FinishRefusal, "refusal": providers.FinishRefusal,
}

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
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
		Summary  json.RawMessage `json:"summary"`
		Refusal  string          `json:"refusal"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, part := range list {
		switch {
		case part.Refusal != "":
			p.refusal = append(p.refusal, part.Refusal)
		case part.Type == "thinking" || part.Type == "reasoning":
			for _, r := range []json.RawMessage{part.Thinking, part.Summary, part.Text} {
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
