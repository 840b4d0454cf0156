package bedrock

import (
	"fmt"

	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// event is what is read of an event (API Reference, "ConverseStreamOutput").
type event struct {
	Index float64 `json:"contentBlockIndex"`
	Start struct {
		ToolUse *toolBlock `json:"toolUse"`
	} `json:"start"`
	Delta struct {
		Text    string `json:"text"`
		ToolUse *struct {
			Input string `json:"input"`
		} `json:"toolUse"`
		Reasoning *struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
			Redacted  []byte `json:"redactedContent"`
		} `json:"reasoningContent"`
	} `json:"delta"`
	ending
}

// Frame implements wire.Decoder. The metadata, which hold the usage, come after
// the message's own end; a stream that ends before them is complete anyway.
func (d *decoder) Frame(b *wire.Builder, f wire.Frame) (bool, error) {
	switch f.Event {
	case streamEnd:
		return d.ended, nil
	case "chunk":
		return d.chunk(b, f.Data)
	}
	return d.event(b, f.Event, []byte(f.Data))
}

// event reads one event of ConverseStream. Blocks of text have no start.
func (d *decoder) event(b *wire.Builder, name string, data []byte) (bool, error) {
	switch name {
	case "contentBlockStart", "contentBlockDelta", "messageStop", "metadata":
	default: // messageStart, contentBlockStop and what is yet to come
		return false, nil
	}
	var e event
	if err := wire.Unmarshal(data, &e); err != nil {
		return false, fmt.Errorf("decode %s: %w", name, err)
	}
	switch name {
	case "contentBlockStart":
		d.start(b, e)
	case "contentBlockDelta":
		d.delta(b, e)
	case "messageStop":
		finish(b, e.StopReason)
		b.Reply.Continuation = continuation(d.order)
		d.ended = true
	case "metadata":
		d.account(b, e.ending)
		return d.ended, nil
	}
	return false, nil
}

// start opens a call, or marks a block of the service's own tool.
func (d *decoder) start(b *wire.Builder, e event) {
	t, key := e.Start.ToolUse, key(e.Index)
	switch {
	case t == nil:
	case t.ours():
		b.Call(key, t.ID, t.Name)
	default:
		if d.servers == nil {
			d.servers = map[string]bool{}
		}
		d.servers[key] = true
	}
}

func (d *decoder) delta(b *wire.Builder, e event) {
	b.Text(e.Delta.Text)
	key := key(e.Index)
	if t := e.Delta.ToolUse; t != nil && !d.servers[key] {
		if call := b.Open(key); call != nil {
			call.Args(t.Input)
		} else {
			b.LeftOut("tool use without a start in block " + key)
		}
	}
	if r := e.Delta.Reasoning; r != nil {
		b.Reasoning(r.Text)
		d.reasoning(key).add(r.Text, r.Signature, r.Redacted)
	}
}

// reasoning is the block of reasoning with a key, perhaps a new one.
func (d *decoder) reasoning(key string) *reasoning {
	if r := d.blocks[key]; r != nil {
		return r
	}
	if d.blocks == nil {
		d.blocks = map[string]*reasoning{}
	}
	r := &reasoning{}
	d.blocks[key], d.order = r, append(d.order, r)
	return r
}
