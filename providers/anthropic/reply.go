package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// response is what is read of a body. Completion is that of the older API.
type response struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	Model       string          `json:"model"`
	Content     []block         `json:"content"`
	Completion  *string         `json:"completion"`
	StopReason  string          `json:"stop_reason"`
	StopDetails *stopDetails    `json:"stop_details"`
	Usage       json.RawMessage `json:"usage"`
	Error       json.RawMessage `json:"error"`
}

// block is one content block. Blocks of server tools carry other fields, of
// types that change: only text, thinking and tool use are looked at.
type block struct {
	Type      string          `json:"type"`
	ID        words           `json:"id"`
	Name      words           `json:"name"`
	Input     json.RawMessage `json:"input"`
	Text      words           `json:"text"`
	Thinking  words           `json:"thinking"`
	Signature words           `json:"signature"`
}

// plain reports whether text and calls carry all of a block.
func plain(kind string) bool { return kind == "text" || kind == "tool_use" }

type stopDetails struct {
	Explanation string `json:"explanation"`
}

// finishes maps the stop reasons. pause_turn is not one of them.
var finishes = map[string]providers.Finish{
	"end_turn": providers.FinishStop, "stop_sequence": providers.FinishStop,
	"max_tokens": providers.FinishLength, "model_context_window_exceeded": providers.FinishLength,
	"tool_use": providers.FinishTools,
	"refusal":  providers.FinishRefusal,
}

// decoder reads one reply into a wire.Builder.
type decoder struct {
	usage  json.RawMessage // as far as it has come
	blocks []*piece        // of a stream, in order
	open   map[int]*piece
}

// Whole implements wire.Decoder.
func (d *decoder) Whole(b *wire.Builder, body []byte) error {
	var r response
	if err := wire.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	b.Reply.Model, b.Reply.RequestID = r.Model, r.ID
	d.count(b, r.Usage)
	if r.Type == "error" || wire.Given(r.Error) {
		return new(wire.ReadFault(body))
	}
	switch {
	case r.Content == nil && r.Completion != nil:
		b.Text(*r.Completion)
	case r.Content == nil:
		return errors.New("decode reply: no content")
	}
	more := false
	for i, bl := range r.Content {
		if err := bl.into(b); err != nil {
			return fmt.Errorf("decode reply: content block %d: %w", i, err)
		}
		more = more || !plain(bl.Type)
	}
	if more {
		var c struct {
			Content []json.RawMessage `json:"content"`
		}
		if err := wire.Unmarshal(body, &c); err != nil {
			return fmt.Errorf("decode reply: %w", err) // unreachable: it was decoded
		}
		keep(b, c.Content)
	}
	finish(b, r.StopReason, r.StopDetails)
	return nil
}

// into adds a whole block to the reply.
func (bl block) into(b *wire.Builder) error {
	switch bl.Type {
	case "text":
		return add(b.Text, bl.Text)
	case "thinking":
		return add(b.Reasoning, bl.Thinking)
	case "tool_use":
		bl.input(b.Call("", bl.ID.text, bl.Name.text))
	default:
		LeaveOut(b, bl.Type)
	}
	return nil
}

// LeaveOut names a block that is a call of a kind that is not read. Those of the
// server's own tools, and of MCP servers, are carried out there.
func LeaveOut(b *wire.Builder, kind string) {
	if strings.HasSuffix(kind, "_use") && kind != "server_tool_use" && kind != "mcp_tool_use" {
		b.LeftOut(kind)
	}
}

// input sets the arguments of a call; null means no arguments.
func (bl block) input(c *wire.ToolCall) {
	if string(bl.Input) != "null" {
		c.Args(string(bl.Input))
	}
}

// finish sets why the model stopped.
func finish(b *wire.Builder, reason string, details *stopDetails) {
	b.Reply.FinishRaw = reason
	b.Reply.Finish = providers.FinishOther
	if f, ok := finishes[reason]; ok {
		b.Reply.Finish = f
	}
	if details != nil && b.Reply.Finish == providers.FinishRefusal {
		b.Refusal(details.Explanation)
	}
}

// words are the text of a JSON string; "" for anything else, which err reports unless
// it is null.
type words struct {
	text string
	err  error
	come bool
}

// UnmarshalJSON never fails: what is not text may belong to a block that is not read.
func (w *words) UnmarshalJSON(raw []byte) error {
	w.text, w.err, w.come = "", nil, true
	switch {
	case raw[0] == '"':
		w.text, w.err = wire.Unquote(raw)
	case string(raw) != "null":
		w.err = errors.New("the text is not a string")
	}
	return nil
}

// add hands a text on.
func add(to func(string), w words) error {
	switch {
	case !w.come:
		return errors.New("no text")
	case w.err == nil:
		to(w.text)
	}
	return w.err
}

// str is the text of a JSON string, "" for anything else.
func str(raw json.RawMessage) string {
	var w words
	if len(raw) > 0 {
		_ = w.UnmarshalJSON(raw) // never fails
	}
	return w.text
}
