package responses

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// event is what is read of a streaming event.
type event struct {
	Type      string          `json:"type"`
	Response  json.RawMessage `json:"response"`
	Item      json.RawMessage `json:"item"`
	Index     *int            `json:"output_index"`
	ItemID    string          `json:"item_id"`
	Delta     string          `json:"delta"`
	Arguments rawText         `json:"arguments"`
	Input     rawText         `json:"input"`
	Error     json.RawMessage `json:"error"`
}

// Frame implements wire.Decoder. The end is response.completed or one of its kin
// (OpenAI API reference, "Streaming events"); events of other types are skipped.
func (d *decoder) Frame(b *wire.Builder, f wire.Frame) (bool, error) {
	if strings.TrimSpace(f.Data) == "[DONE]" {
		return false, nil // not of this wire: it ends nothing
	}
	var e event
	err := wire.Unmarshal([]byte(f.Data), &e)
	if odd, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && odd.Field == "delta" {
		err = nil // no text: of an event that is not known
	}
	if err != nil {
		return false, fmt.Errorf("decode event: %w", err)
	}
	switch kind := cmp.Or(e.Type, f.Event); kind {
	case "response.output_text.delta":
		d.text.WriteString(e.Delta)
		b.Text(e.Delta)
	case "response.refusal.delta":
		d.refusal.WriteString(e.Delta)
		b.Refusal(e.Delta)
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		d.reasoning.WriteString(e.Delta)
		b.Reasoning(e.Delta)
	case "response.function_call_arguments.delta":
		d.arguments(b, e, "function_call", "")
	case "response.custom_tool_call_input.delta":
		d.arguments(b, e, "custom_tool_call", "")
	case "response.function_call_arguments.done":
		d.arguments(b, e, "function_call", string(e.Arguments))
	case "response.custom_tool_call_input.done":
		d.arguments(b, e, "custom_tool_call", string(e.Input))
	case "response.output_item.added", "response.output_item.done":
		return false, d.item(b, e, kind == "response.output_item.done")
	case "response.created", "response.queued", "response.in_progress":
		return false, d.begin(b, e)
	case "response.completed", "response.incomplete", "response.cancelled":
		return d.last(b, e, strings.TrimPrefix(kind, "response."))
	case "response.failed", "response.error", "error":
		return false, d.failed(b, e, f.Data)
	case "", "message": // "message" is the type of an event that names none
		if wire.Given(e.Error) {
			return false, errorOf([]byte(f.Data))
		}
		return false, errors.New("decode event: it has no type")
	}
	return false, nil
}

// begin reads the first events. They repeat the request; only the model and the
// id are news, and only once.
func (d *decoder) begin(b *wire.Builder, e event) error {
	if b.Reply.Model != "" || len(e.Response) == 0 {
		return nil
	}
	var r response
	if err := wire.Unmarshal(e.Response, &r); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	d.head(b, r)
	return nil
}

// last reads the event that ends a stream. Its response repeats what was
// streamed; some servers leave its output empty.
func (d *decoder) last(b *wire.Builder, e event, status string) (bool, error) {
	var r response
	if len(e.Response) > 0 {
		if err := wire.Unmarshal(e.Response, &r); err != nil {
			return false, fmt.Errorf("decode event: %w", err)
		}
	}
	d.head(b, r)
	readUsage(b, r.Usage, r.ServiceTier)
	if wire.Given(r.Error) || r.Status == "failed" {
		return false, errorOf(e.Response)
	}
	if len(r.Output) == 0 {
		r.Output = d.items
	}
	d.fill(b, r.Output)
	d.end(b, r, status)
	return true, nil
}

// failed reads an error: of a failed response, or one that is in the event.
func (d *decoder) failed(b *wire.Builder, e event, data string) error {
	var r response
	if wire.Unmarshal(e.Response, &r) == nil {
		d.head(b, r)
		readUsage(b, r.Usage, r.ServiceTier)
		if wire.Given(r.Error) {
			return errorOf(e.Response)
		}
	}
	return errorOf([]byte(data))
}

// item reads an item that begins or is done. Arguments count when it is done:
// at its beginning they are empty, or all of them and streamed once more.
func (d *decoder) item(b *wire.Builder, e event, done bool) error {
	var o outputItem
	if err := o.UnmarshalJSON(e.Item); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	if done {
		d.items = append(d.items, o)
	}
	switch {
	case o.Type == "custom_tool_call" && !o.calls(): // its events have no name
		for _, key := range e.keys(o.ID) {
			d.know(key, nil)
		}
	case !o.calls():
	case done:
		if c := d.call(b, e, o); c != nil {
			settle(c, o)
		}
	default:
		d.add(b, e, o)
	}
	return nil
}

// arguments adds a piece to the arguments of a call, or sets the whole.
func (d *decoder) arguments(b *wire.Builder, e event, kind, whole string) {
	if whole == "" && e.Delta == "" {
		return
	}
	c := d.call(b, e, outputItem{Type: kind})
	switch {
	case c == nil:
	case whole != "":
		c.SetArgs(whole)
	default:
		c.Args(e.Delta)
	}
}

// add opens the call of an item.
func (d *decoder) add(b *wire.Builder, e event, o outputItem) *wire.ToolCall {
	c := b.Call("", o.CallID, o.Name)
	c.Custom = o.Type == "custom_tool_call"
	d.listed = append(d.listed, c)
	for _, key := range e.keys(o.ID) {
		d.know(key, c)
	}
	return c
}

// know stores the call of a key; nil means a call that the server runs.
func (d *decoder) know(key string, c *wire.ToolCall) {
	if d.calls == nil {
		d.calls = map[string]*wire.ToolCall{}
	}
	d.calls[key] = c
}

// call finds the call that an event is about. One that was not announced is new; nil is
// one that the server carries out.
func (d *decoder) call(b *wire.Builder, e event, o outputItem) *wire.ToolCall {
	for _, key := range e.keys(o.ID) {
		if c, ok := d.calls[key]; ok {
			return c
		}
	}
	return d.add(b, e, outputItem{Type: o.Type, ID: o.ID})
}

// keys are the names of the item that an event is about: its place, which is the
// more reliable one as some servers change ids in between, and its id.
func (e event) keys(id string) []string {
	var keys []string
	if e.Index != nil {
		keys = append(keys, strconv.Itoa(*e.Index))
	}
	if id = cmp.Or(e.ItemID, id); id != "" {
		keys = append(keys, "id "+id)
	}
	return keys
}
