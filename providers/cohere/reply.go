package cohere

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

// response is what is read of a whole body. The second half is version 1's, whose
// text and calls are at top level. message is an object, of an error a string.
type response struct {
	ID           string          `json:"id"`
	Message      json.RawMessage `json:"message"`
	FinishReason string          `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"`

	ResponseID   string          `json:"response_id"`
	GenerationID string          `json:"generation_id"`
	Text         *string         `json:"text"`
	ToolCalls    []oldCall       `json:"tool_calls"`
	Meta         json.RawMessage `json:"meta"`
}

// answer is a message, or what a stream's event adds to one.
type answer struct {
	Content   json.RawMessage `json:"content"`
	ToolPlan  string          `json:"tool_plan"`
	ToolCalls json.RawMessage `json:"tool_calls"`
}

// part is a content block. Blocks of other types have neither field.
type part struct {
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

// newCall is a call of version 2, or a piece of one: its arguments are text.
type newCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// read reports whether a call is of the one kind that is read, and names it if not.
func (c newCall) read(b *wire.Builder) bool {
	if c.Type == "" || c.Type == "function" {
		return true
	}
	b.LeftOut(c.Type)
	return false
}

// oldCall is a call of version 1: its arguments are an object.
type oldCall struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// finishes maps finish_reason. ERROR and TIMEOUT are faults instead. The reasons
// with an underscored ERROR and USER_CANCEL are version 1's.
var finishes = map[string]providers.Finish{
	"COMPLETE": providers.FinishStop, "STOP_SEQUENCE": providers.FinishStop,
	"MAX_TOKENS": providers.FinishLength, "ERROR_LIMIT": providers.FinishLength,
	"TOOL_CALL":   providers.FinishTools,
	"ERROR_TOXIC": providers.FinishRefusal,
}

// decoder reads replies into a wire.Builder.
type decoder struct {
	plan, thinking strings.Builder
}

// Whole implements wire.Decoder.
func (d *decoder) Whole(b *wire.Builder, body []byte) error {
	var r response
	if err := wire.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	switch {
	case bytes.HasPrefix(r.Message, []byte("{")):
		return d.whole(b, r)
	case r.Text != nil:
		return d.wholeOld(b, r)
	case bytes.HasPrefix(r.Message, []byte(`"`)):
		f := wire.ReadFault(body)
		f.RequestID = cmp.Or(f.RequestID, r.ID)
		return &f
	}
	b.Reply.RequestID = r.ID
	if err := d.end(b, r.FinishReason, "", r.Usage); err != nil {
		return err
	}
	return errors.New("decode reply: no message")
}

// whole reads a body of version 2.
func (d *decoder) whole(b *wire.Builder, r response) error {
	var m answer
	if err := wire.Unmarshal(r.Message, &m); err != nil {
		return fmt.Errorf("decode reply: message: %w", err)
	}
	parts, err := readParts(m.Content)
	if err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	calls, err := listOf[newCall](m.ToolCalls)
	if err != nil {
		return fmt.Errorf("decode reply: tool calls: %w", err)
	}
	b.Reply.RequestID = r.ID
	d.say(b, m.ToolPlan, parts)
	for _, c := range calls {
		if c.read(b) {
			b.Call("", c.ID, c.Function.Name).Args(c.Function.Arguments)
		}
	}
	return d.end(b, r.FinishReason, "", r.Usage)
}

// readParts reads content: text, a block, or a list of blocks.
func readParts(raw json.RawMessage) ([]part, error) {
	if bytes.HasPrefix(raw, []byte(`"`)) {
		var p part
		if err := wire.Unmarshal(raw, &p.Text); err != nil {
			return nil, fmt.Errorf("content: %w", err)
		}
		return []part{p}, nil
	}
	parts, err := listOf[part](raw)
	if err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	return parts, nil
}

// say adds the plan and the content. The documentation calls the plan "a
// chain-of-thought style reflection": it is reasoning, not part of the answer.
func (d *decoder) say(b *wire.Builder, plan string, parts []part) {
	d.think(b, &d.plan, plan)
	for _, p := range parts {
		d.think(b, &d.thinking, p.Thinking)
		b.Text(p.Text)
	}
}

func (d *decoder) think(b *wire.Builder, kept *strings.Builder, s string) {
	b.Reasoning(s)
	kept.WriteString(s)
}

// end reads how a reply ended. problem is the provider's explanation of it.
func (d *decoder) end(b *wire.Builder, reason, problem string, usage json.RawMessage) error {
	b.Reply.FinishRaw = reason
	b.Reply.Finish = providers.FinishOther
	if f, ok := finishes[strings.ToUpper(reason)]; ok {
		b.Reply.Finish = f
	}
	readUsage(b, usage)
	if b.Calls() > 0 {
		b.Reply.Continuation = newContinuation(continued{d.plan.String(), d.thinking.String()})
	}
	switch strings.ToUpper(reason) {
	case "ERROR", "TIMEOUT":
		return &wire.Fault{Type: reason, Message: cmp.Or(problem, "the generation ended with "+reason)}
	}
	return nil
}

// listOf reads a list, or the one element that streams send in its place.
func listOf[T any](raw json.RawMessage) ([]T, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '{' {
		var one T
		err := wire.Unmarshal(raw, &one)
		return []T{one}, err
	}
	var list []T
	err := wire.Unmarshal(raw, &list)
	return list, err
}

// wholeOld reads a reply of version 1.
func (d *decoder) wholeOld(b *wire.Builder, r response) error {
	b.Reply.RequestID = cmp.Or(r.ResponseID, r.GenerationID)
	if !b.HasText() {
		b.Text(*r.Text)
	}
	if b.Calls() == 0 {
		addOld(b, r.ToolCalls)
	}
	return d.end(b, r.FinishReason, "", r.Meta)
}

func addOld(b *wire.Builder, calls []oldCall) {
	for _, c := range calls {
		b.Call("", "", c.Name).Args(string(c.Parameters))
	}
}
