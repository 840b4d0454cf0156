package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// response is what is read of a body.
type response struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	Model       string          `json:"model"`
	Content     []block         `json:"content"`
	StopReason  string          `json:"stop_reason"`
	StopDetails *stopDetails    `json:"stop_details"`
	Usage       json.RawMessage `json:"usage"`
	Error       json.RawMessage `json:"error"`
}

// block is one content block. Blocks of server tools carry other fields, of
// types that change: only text, thinking and tool use are looked at.
type block struct {
	Type     string          `json:"type"`
	ID       json.RawMessage `json:"id"`
	Name     json.RawMessage `json:"name"`
	Input    json.RawMessage `json:"input"`
	Text     json.RawMessage `json:"text"`
	Thinking json.RawMessage `json:"thinking"`
}

type stopDetails struct {
	Explanation string `json:"explanation"`
}

type usage struct {
	Input         *wire.Count `json:"input_tokens"`
	Output        *wire.Count `json:"output_tokens"`
	CacheRead     wire.Count  `json:"cache_read_input_tokens"`
	CacheWrite    wire.Count  `json:"cache_creation_input_tokens"`
	OutputDetails *struct {
		Thinking wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// finishes maps the stop reasons. pause_turn is a stop of none of these kinds.
var finishes = map[string]providers.Finish{
	"end_turn": providers.FinishStop, "stop_sequence": providers.FinishStop,
	"max_tokens": providers.FinishLength, "model_context_window_exceeded": providers.FinishLength,
	"tool_use": providers.FinishTools,
	"refusal":  providers.FinishRefusal,
}

// decoder reads replies into a wire.Builder.
type decoder struct{}

// Whole implements wire.Decoder.
func (d decoder) Whole(b *wire.Builder, body []byte) error {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	b.Reply.Model, b.Reply.RequestID = r.Model, r.ID
	b.Usage(r.Usage, readUsage)
	if r.Type == "error" || wire.Given(r.Error) {
		f := wire.ReadFault(body)
		return &f
	}
	if r.Content == nil {
		return errors.New("decode reply: no content")
	}
	for i, bl := range r.Content {
		var err error
		switch bl.Type {
		case "text":
			err = add(b.Text, bl.Text)
		case "thinking":
			err = add(b.Reasoning, bl.Thinking)
		case "tool_use":
			var id, name string
			_ = json.Unmarshal(bl.ID, &id) // no text is no id
			_ = json.Unmarshal(bl.Name, &name)
			b.Call("", id, name).Args(string(bl.Input))
		}
		if err != nil {
			return fmt.Errorf("decode reply: content block %d: %w", i, err)
		}
	}
	b.Reply.FinishRaw = r.StopReason
	b.Reply.Finish = providers.FinishOther
	if f, ok := finishes[r.StopReason]; ok {
		b.Reply.Finish = f
	}
	if r.StopDetails != nil && b.Reply.Finish == providers.FinishRefusal {
		b.Refusal(r.StopDetails.Explanation)
	}
	return nil
}

// Frame implements wire.Decoder.
func (d decoder) Frame(*wire.Builder, wire.Frame) (bool, error) {
	return false, errors.New("decode reply: an event stream was not asked for")
}

// add hands a JSON string on.
func add(to func(string), raw json.RawMessage) error {
	var s string
	if len(raw) == 0 {
		return errors.New("no text")
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	to(s)
	return nil
}

// readUsage makes disjoint classes of a usage object. input_tokens excludes
// the cache; output_tokens includes thinking.
func readUsage(raw json.RawMessage) (providers.Usage, bool, error) {
	var u usage
	if err := json.Unmarshal(raw, &u); err != nil || u.Input == nil || u.Output == nil {
		return providers.Usage{}, false, err
	}
	var thinking wire.Count
	if u.OutputDetails != nil {
		thinking = min(u.OutputDetails.Thinking, *u.Output)
	}
	return providers.Usage{
		Input: int64(*u.Input), Output: int64(*u.Output - thinking),
		CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite), Reasoning: int64(thinking),
	}, true, nil
}
