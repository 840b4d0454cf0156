package sim

import (
	"encoding/json"
	"net/http"
	"strings"
)

type anthropicReply struct {
	ID           string            `json:"id"`
	Type         string            `json:"type"`
	Role         string            `json:"role"`
	Model        string            `json:"model"`
	Content      []anthropicBlock  `json:"content"`
	StopReason   string            `json:"stop_reason"`
	StopSequence *string           `json:"stop_sequence"`
	StopDetails  *anthropicRefusal `json:"stop_details,omitempty"`
	Usage        anthropicUsage    `json:"usage"`
}

// anthropicBlock is a text, or the use of a tool.
type anthropicBlock struct {
	Type  string          `json:"type"`
	Text  *string         `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Thinking and its signature are of reasoning.
	Thinking  *string `json:"thinking,omitempty"`
	Signature string  `json:"signature,omitempty"`

	raw string // the input as the model wrote it
}

// anthropicRefusal is stop_details.
type anthropicRefusal struct {
	Type        string  `json:"type"`
	Category    *string `json:"category"`
	Explanation string  `json:"explanation"`
}

type anthropicThought struct {
	ThinkingTokens int `json:"thinking_tokens"`
}

type anthropicUsage struct {
	InputTokens              int `json:"input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	CacheCreation            struct {
		Ephemeral5m int `json:"ephemeral_5m_input_tokens"`
		Ephemeral1h int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	OutputTokens  int               `json:"output_tokens"`
	OutputDetails *anthropicThought `json:"output_tokens_details,omitempty"`
	ServiceTier   string            `json:"service_tier"`
}

// stopReason is why it ended, in the words of Claude and of Bedrock; refused is that of a
// refusal.
func (c completion) stopReason(refused string) string {
	switch {
	case c.cut:
		return "max_tokens"
	case c.stopped != "":
		return "stop_sequence"
	case c.refusal != "":
		return refused
	case len(c.calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

// stopDetails explains a refusal.
func (c completion) stopDetails() *anthropicRefusal {
	if c.refusal == "" {
		return nil
	}
	return &anthropicRefusal{Type: "refusal", Explanation: c.refusal}
}

func (c completion) anthropicUsage() anthropicUsage {
	u := anthropicUsage{InputTokens: c.fresh(), CacheReadInputTokens: c.read, CacheCreationInputTokens: c.write, OutputTokens: c.made(), ServiceTier: "standard"}
	u.CacheCreation.Ephemeral5m = c.write
	if c.thought > 0 {
		u.OutputDetails = &anthropicThought{c.thought}
	}
	return u
}

func encodeAnthropic(_ modelRequest, c completion) any {
	return anthropicReply{
		ID: c.draws.id("msg_sim"), Type: "message", Role: "assistant", Model: c.served,
		Content:    c.content(),
		StopReason: c.stopReason("refusal"), StopSequence: orNil(c.stopped), StopDetails: c.stopDetails(),
		Usage: c.anthropicUsage(),
	}
}

// streamAnthropic makes the events of each block between those of the message.
func streamAnthropic(_ modelRequest, c completion) [][]byte {
	var e events
	send := func(kind string, members obj) {
		members["type"] = kind
		e.send(kind, members)
	}
	usage := c.anthropicUsage()
	started := usage
	started.OutputTokens, started.OutputDetails = min(1, usage.OutputTokens), nil
	send("message_start", obj{"message": obj{
		"id": c.draws.id("msg_sim"), "type": "message", "role": "assistant", "model": c.served, "content": []obj{},
		"stop_reason": nil, "stop_sequence": nil, "usage": started,
	}})
	for i, b := range c.content() {
		begin := func(members obj) {
			members["type"] = b.Type
			send("content_block_start", obj{"index": i, "content_block": members})
			if i == 0 {
				send("ping", obj{})
			}
		}
		deltas := func(kind, member string, texts ...string) {
			for _, text := range texts {
				send("content_block_delta", obj{"index": i, "delta": obj{"type": kind, member: text}})
			}
		}
		switch b.Type {
		case "text":
			begin(obj{"text": ""})
			deltas("text_delta", "text", c.draws.pieces(*b.Text)...)
		case "thinking":
			begin(obj{"thinking": "", "signature": ""})
			deltas("thinking_delta", "thinking", c.draws.pieces(*b.Thinking)...)
			deltas("signature_delta", "signature", b.Signature)
		case "tool_use":
			begin(obj{"id": b.ID, "name": b.Name, "input": obj{}})
			deltas("input_json_delta", "partial_json", append([]string{""}, c.draws.pieces(b.raw)...)...)
		}
		send("content_block_stop", obj{"index": i})
	}
	end := obj{"stop_reason": c.stopReason("refusal"), "stop_sequence": orNil(c.stopped)}
	if d := c.stopDetails(); d != nil {
		end["stop_details"] = d
	}
	send("message_delta", obj{"delta": end, "usage": usage})
	send("message_stop", obj{})
	return e.frames
}

type anthropicError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string            `json:"type"`
		Message string            `json:"message"`
		Details map[string]string `json:"details,omitempty"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

func failAnthropic(f *failure, requestID string) any {
	e := anthropicError{Type: "error", RequestID: requestID}
	e.Error.Message = f.message
	switch f.status {
	case http.StatusNotFound:
		e.Error.Type = "not_found_error"
	case http.StatusRequestEntityTooLarge:
		e.Error.Type = "request_too_large"
	case http.StatusServiceUnavailable:
		e.Error.Type = "api_error"
	default:
		e.Error.Type = "invalid_request_error"
	}
	switch {
	case f.code == "model_not_found":
		e.Error.Message = "model: " + f.model
	case strings.HasPrefix(f.code, "thread_"):
		e.Error.Details = map[string]string{"error_code": f.code}
	}
	return e
}
