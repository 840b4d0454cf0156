package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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

// decode reads the body of a 2xx reply. A fault is an error told in it. What
// could be read before a fault or an error is in the reply. The input of
// forcedTool, if there is one, is the text.
func decode(body []byte, forcedTool string) (providers.Reply, *wire.Fault, error) {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return providers.Reply{}, nil, fmt.Errorf("decode reply: %w", err)
	}
	reply := providers.Reply{Model: r.Model, RequestID: r.ID}
	reply.Usage, reply.RawUsage, reply.Warnings = readUsage(r.Usage)
	if r.Type == "error" || len(r.Error) > 0 && string(r.Error) != "null" {
		f := wire.ReadFault(body)
		return reply, &f, nil
	}
	if r.Content == nil {
		return reply, nil, errors.New("decode reply: no content")
	}
	var text, thinking []string
	for i, b := range r.Content {
		var err error
		switch b.Type {
		case "text":
			text, err = addText(text, b.Text)
		case "thinking":
			thinking, err = addText(thinking, b.Thinking)
		}
		if err != nil {
			return reply, nil, fmt.Errorf("decode reply: content block %d: %w", i, err)
		}
	}
	reply.Text = strings.Join(text, "\n")
	reply.Reasoning = strings.Join(thinking, "\n")
	reply.FinishRaw = r.StopReason
	reply.Finish = providers.FinishOther
	if f, ok := finishes[r.StopReason]; ok {
		reply.Finish = f
	}
	if r.StopDetails != nil && reply.Finish == providers.FinishRefusal {
		reply.Refusal = r.StopDetails.Explanation
	}
	if forcedTool != "" {
		wire.TakeForced(&reply, forcedTool, forced(r.Content))
	}
	return reply, nil, nil
}

func addText(list []string, raw json.RawMessage) ([]string, error) {
	var s string
	if len(raw) == 0 {
		return list, errors.New("no text")
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return list, err
	}
	return append(list, s), nil
}

// readUsage makes disjoint classes of a usage object. input_tokens excludes
// the cache; output_tokens includes thinking.
func readUsage(raw json.RawMessage) (providers.Usage, json.RawMessage, []string) {
	if len(raw) == 0 || string(raw) == "null" {
		return providers.Usage{}, nil, nil
	}
	var u usage
	if err := json.Unmarshal(raw, &u); err != nil {
		return providers.Usage{}, raw, []string{"usage: not understood, counted as not reported"}
	}
	if u.Input == nil || u.Output == nil {
		return providers.Usage{}, raw, nil
	}
	var thinking wire.Count
	if u.OutputDetails != nil {
		thinking = min(u.OutputDetails.Thinking, *u.Output)
	}
	return providers.Usage{
		Reported: true, Input: int64(*u.Input), Output: int64(*u.Output - thinking),
		CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite), Reasoning: int64(thinking),
	}, raw, nil
}
