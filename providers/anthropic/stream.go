package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/internal/plainjson"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// event is one event of a stream ("Streaming messages", docs.claude.com). Those
// of the older API carry Completion, Model and StopReason themselves.
type event struct {
	Type         string          `json:"type"`
	Message      *response       `json:"message"`
	Index        int             `json:"index"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        json.RawMessage `json:"usage"`
	ID           string          `json:"id"`
	Model        string          `json:"model"`
	Completion   string          `json:"completion"`
	StopReason   string          `json:"stop_reason"`
}

type delta struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Thinking    string          `json:"thinking"`
	Signature   string          `json:"signature"`
	PartialJSON string          `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`
	StopReason  string          `json:"stop_reason"`
	StopDetails *stopDetails    `json:"stop_details"`
}

// piece is a content block being put together.
type piece struct {
	kind      string
	raw       json.RawMessage // as it began
	call      *wire.ToolCall  // of a tool_use
	text      strings.Builder // text, thinking or input
	signature string
	citations []json.RawMessage
	closed    bool
}

// Frame implements wire.Decoder. Events and deltas of unknown types are passed
// over, as the documentation asks.
func (d *decoder) Frame(b *wire.Builder, f wire.Frame) (bool, error) {
	if f.Data == "[DONE]" {
		return false, nil // some gateways add it; it does not replace message_stop
	}
	if f.Event == "error" {
		fault := wire.ReadFault([]byte(f.Data))
		return false, &fault
	}
	var e event
	if err := wire.Unmarshal([]byte(f.Data), &e); err != nil {
		if json.Valid([]byte(f.Data)) && foreign(f) {
			return false, nil
		}
		return false, fmt.Errorf("decode event: %w", err)
	}
	switch cmp.Or(e.Type, f.Event) {
	case "message_start":
		return false, d.start(b, e.Message)
	case "content_block_start":
		return false, d.begin(b, e.Index, e.ContentBlock)
	case "content_block_delta":
		return false, d.add(b, e.Index, e.Delta)
	case "content_block_stop":
		d.open[e.Index].close()
	case "message_delta":
		d.count(b, e.Usage)
		if e.Delta.StopReason != "" {
			finish(b, e.Delta.StopReason, e.Delta.StopDetails)
		}
	case "message_stop":
		d.end(b)
		return true, nil
	case "completion":
		b.Reply.Model, b.Reply.RequestID = e.Model, e.ID
		b.Text(e.Completion)
		if e.StopReason != "" {
			finish(b, e.StopReason, nil)
			return true, nil
		}
	case "error":
		fault := wire.ReadFault([]byte(f.Data))
		return false, &fault
	}
	return false, nil
}

// foreign reports whether an event that did not decode is of a type we do not
// read: it may hold anything.
func foreign(f wire.Frame) bool {
	var e, d struct {
		Type  string          `json:"type"`
		Delta json.RawMessage `json:"delta"`
	}
	if wire.Unmarshal([]byte(f.Data), &e) != nil {
		return false
	}
	switch cmp.Or(e.Type, f.Event) {
	case "message_start", "content_block_start", "content_block_stop", "message_delta", "completion":
		return false
	case "content_block_delta":
		_ = wire.Unmarshal(e.Delta, &d)
		switch d.Type {
		case "", "text_delta", "thinking_delta", "signature_delta", "input_json_delta", "citations_delta":
			return false
		}
	}
	return true
}

// start reads message_start, whose content is empty.
func (d *decoder) start(b *wire.Builder, m *response) error {
	if m == nil {
		return errors.New("decode event: message_start without a message")
	}
	b.Reply.Model, b.Reply.RequestID = m.Model, m.ID
	d.count(b, m.Usage)
	return nil
}

// begin opens a content block.
func (d *decoder) begin(b *wire.Builder, index int, raw json.RawMessage) error {
	var bl block
	if err := wire.Unmarshal(raw, &bl); err != nil {
		return fmt.Errorf("decode event: content block %d: %w", index, err)
	}
	d.open[index].close()
	p := d.piece(index, bl.Type)
	p.raw = raw
	switch bl.Type {
	case "text":
		p.text.WriteString(bl.Text.text)
		b.Text(bl.Text.text)
	case "thinking":
		p.text.WriteString(bl.Thinking.text)
		p.signature = bl.Signature.text
		b.Reasoning(bl.Thinking.text)
	case "tool_use":
		p.call = b.Call("", bl.ID.text, bl.Name.text)
	default:
		LeaveOut(b, bl.Type)
	}
	return nil
}

// piece makes the open block of an index.
func (d *decoder) piece(index int, kind string) *piece {
	if d.open == nil {
		d.open = map[int]*piece{}
	}
	p := &piece{kind: kind}
	d.open[index] = p
	d.blocks = append(d.blocks, p)
	return p
}

// add folds a delta into its block. Text and thinking whose block was not started
// begin one; input without a tool is an error. What does not suit its block is of
// a kind we do not read.
func (d *decoder) add(b *wire.Builder, index int, t delta) error {
	p := d.open[index]
	switch t.Type {
	case "text_delta":
		if p == nil {
			p = d.piece(index, "text")
		}
		if p.kind == "text" {
			p.text.WriteString(t.Text)
			b.Text(t.Text)
		}
	case "thinking_delta":
		if p == nil {
			p = d.piece(index, "thinking")
		}
		if p.kind == "thinking" {
			p.text.WriteString(t.Thinking)
			b.Reasoning(t.Thinking)
		}
	case "input_json_delta":
		if p == nil || p.kind == "text" || p.kind == "thinking" {
			return fmt.Errorf("decode event: content block %d is not a tool call, so it cannot take input", index)
		}
		p.text.WriteString(t.PartialJSON)
		if p.call != nil {
			p.call.Args(t.PartialJSON)
		}
	case "signature_delta":
		if p != nil {
			p.signature = t.Signature
		}
	case "citations_delta":
		if p != nil {
			p.citations = append(p.citations, t.Citation)
		}
	}
	return nil
}

// close ends a block. A call whose input came with its beginning takes it from
// there.
func (p *piece) close() {
	if p == nil || p.closed {
		return
	}
	p.closed = true
	if p.call == nil || p.call.HasArgs() {
		return
	}
	var bl block
	_ = wire.Unmarshal(p.raw, &bl) // begin has decoded it
	bl.input(p.call)
}

// end reads message_stop.
func (d *decoder) end(b *wire.Builder) {
	more := false
	for _, p := range d.blocks {
		p.close()
		more = more || !plain(p.kind)
	}
	if more {
		blocks := make([]json.RawMessage, len(d.blocks))
		for i, p := range d.blocks {
			blocks[i] = p.whole()
		}
		keep(b, blocks)
	}
	b.Reply.Finish = cmp.Or(b.Reply.Finish, providers.FinishOther)
}

// whole is the block as it would have come without streaming.
func (p *piece) whole() json.RawMessage {
	fields := map[string]any{}
	var raw map[string]json.RawMessage
	_ = wire.Unmarshal(p.raw, &raw) // begin has decoded it
	for name, value := range raw {
		fields[name] = value
	}
	fields["type"] = p.kind
	switch p.kind {
	case "text":
		fields["text"] = p.text.String()
		if len(p.citations) > 0 {
			fields["citations"] = p.citations
		}
	case "thinking":
		fields["thinking"], fields["signature"] = p.text.String(), p.signature
	default: // a tool of ours or of the server
		if input := p.text.String(); isObject(json.RawMessage(input)) {
			fields["input"] = json.RawMessage(input)
		} else if strings.TrimSpace(input) != "" {
			fields["input"] = invalid(input)
		}
	}
	text, _ := plainjson.Marshal(fields) // all of it was decoded
	return text
}
