package cohere

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// event is one event of a stream. Version 2's have a type and a delta, version
// 1's an event_type and their fields at top level.
type event struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Index   int             `json:"index"`
	Delta   delta           `json:"delta"`
	Message json.RawMessage `json:"message"` // of an error without a type

	EventType    string          `json:"event_type"`
	GenerationID string          `json:"generation_id"`
	Text         string          `json:"text"`
	ToolCalls    []oldCall       `json:"tool_calls"`
	FinishReason string          `json:"finish_reason"`
	Response     json.RawMessage `json:"response"`
}

type delta struct {
	Message      answer          `json:"message"`
	FinishReason string          `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

// Frame implements wire.Decoder. Citations, searches and events that are not
// known say nothing of what is read here.
func (d *decoder) Frame(b *wire.Builder, f wire.Frame) (bool, error) {
	if f.Data == "[DONE]" {
		return false, nil // some gateways add it; it does not replace message-end
	}
	var e event
	if err := wire.Unmarshal([]byte(f.Data), &e); err != nil {
		return false, fmt.Errorf("decode event: %w", err)
	}
	if e.EventType != "" {
		return d.frameOld(b, e)
	}
	switch e.Type {
	case "message-start":
		b.Reply.RequestID = e.ID
	case "content-start", "content-delta", "tool-plan-delta":
		parts, err := readParts(e.Delta.Message.Content)
		if err != nil {
			return false, fmt.Errorf("decode event %s: %w", e.Type, err)
		}
		d.say(b, e.Delta.Message.ToolPlan, parts)
	case "tool-call-start", "tool-call-delta":
		if err := addCall(b, e); err != nil {
			return false, fmt.Errorf("decode event %s: %w", e.Type, err)
		}
	case "message-end":
		var problem string
		if wire.Given(e.Delta.Error) {
			problem = wire.ReadFault(e.Delta.Error).Message
		}
		return true, d.end(b, endOf(e.Delta.FinishReason, problem), problem, e.Delta.Usage)
	case "error":
		return false, faultOf(f.Data)
	case "":
		if bytes.HasPrefix(e.Message, []byte(`"`)) {
			return false, faultOf(f.Data)
		}
		return false, errors.New("decode event: no type")
	}
	return false, nil
}

// endOf takes an explanation without a reason for the reason ERROR.
func endOf(reason, problem string) string {
	if reason == "" && problem != "" {
		return "ERROR"
	}
	return reason
}

func faultOf(data string) error {
	return new(wire.ReadFault([]byte(data)))
}

// addCall opens a call or adds to its arguments. index counts the calls.
func addCall(b *wire.Builder, e event) error {
	pieces, err := listOf[newCall](e.Delta.Message.ToolCalls)
	if err != nil {
		return err
	}
	key := strconv.Itoa(e.Index)
	for _, p := range pieces {
		if !p.read(b) {
			continue
		}
		call := b.Open(key)
		if e.Type == "tool-call-start" {
			call = b.Call(key, p.ID, p.Function.Name)
		}
		if call == nil {
			return fmt.Errorf("there is no call %d", e.Index)
		}
		call.Args(p.Function.Arguments)
	}
	return nil
}

// frameOld reads an event of version 1. The last one repeats the whole reply.
func (d *decoder) frameOld(b *wire.Builder, e event) (bool, error) {
	switch e.EventType {
	case "stream-start":
		b.Reply.RequestID = e.GenerationID
	case "text-generation":
		b.Text(e.Text)
	case "tool-calls-chunk": // the pieces of the calls come whole later
		b.Text(e.Text)
	case "tool-calls-generation":
		if !b.HasText() {
			b.Text(e.Text)
		}
		addOld(b, e.ToolCalls)
	case "stream-end":
		var r response
		if len(e.Response) > 0 {
			if err := wire.Unmarshal(e.Response, &r); err != nil {
				return false, fmt.Errorf("decode event stream-end: %w", err)
			}
		}
		if r.Text == nil {
			r.Text = new(string)
		}
		r.FinishReason = cmp.Or(e.FinishReason, r.FinishReason)
		r.ResponseID = cmp.Or(r.ResponseID, b.Reply.RequestID)
		return true, d.wholeOld(b, r)
	}
	return false, nil
}
