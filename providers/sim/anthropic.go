package sim

import (
	"encoding/json"
	"net/http"
	"strings"
)

// anthropic is the Messages wire.
var anthropic = wire{
	requestID: "Request-Id",
	decode:    decodeAnthropic,
	encode:    encodeAnthropic,
	fail:      failAnthropic,
}

type anthropicRequest struct {
	Model    *string `json:"model"`
	System   content `json:"system"`
	Messages []struct {
		Role    string   `json:"role"`
		Content *content `json:"content"`
	} `json:"messages"`
	MaxTokens     *int            `json:"max_tokens"`
	Temperature   *float64        `json:"temperature"`
	StopSequences []string        `json:"stop_sequences"`
	Stream        json.RawMessage `json:"stream"`
	Tools         json.RawMessage `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	OutputConfig  json.RawMessage `json:"output_config"`
}

func decodeAnthropic(h http.Header, body []byte) (inquiry, *failure) {
	if h.Get("Anthropic-Version") == "" {
		return inquiry{}, invalid("", "anthropic-version: header is required")
	}
	var r anthropicRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return inquiry{}, decodeFailure(err)
	}
	switch {
	case r.Model == nil || *r.Model == "":
		return inquiry{}, invalid("model", "model: Field required")
	case r.MaxTokens == nil:
		return inquiry{}, invalid("max_tokens", "max_tokens: Field required")
	case *r.MaxTokens < 1:
		return inquiry{}, invalid("max_tokens", "max_tokens: Input should be greater than or equal to 1")
	case len(r.Messages) == 0:
		return inquiry{}, invalid("messages", "messages: at least one message is required")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 1):
		return inquiry{}, invalid("temperature", "temperature: range: 0..1")
	case given(r.Stream):
		return inquiry{}, invalid("stream", "stream: the simulation does not stream")
	}
	q := inquiry{model: *r.Model, talk: talk{system: string(r.System)}, maxTokens: *r.MaxTokens, stop: r.StopSequences}
	all := []string{string(r.System)}
	for i, m := range r.Messages {
		if m.Content == nil {
			return inquiry{}, invalid("messages", "messages.%d.content: Field required", i)
		}
		switch m.Role {
		case "user", "assistant":
			q.talk.turns = append(q.talk.turns, remark{user: m.Role == "user", text: string(*m.Content)})
		default:
			return inquiry{}, invalid("messages", "messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		all = append(all, string(*m.Content))
	}
	q.prompt = strings.Join(all, "")
	var f *failure
	q.mode, q.tool, f = r.form()
	return q, f
}

type anthropicReply struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"`
	Role         string           `json:"role"`
	Model        string           `json:"model"`
	Content      []anthropicBlock `json:"content"`
	StopReason   string           `json:"stop_reason"`
	StopSequence *string          `json:"stop_sequence"`
	Usage        anthropicUsage   `json:"usage"`
}

// anthropicBlock is a text, or the use of a tool.
type anthropicBlock struct {
	Type  string          `json:"type"`
	Text  *string         `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

type anthropicUsage struct {
	InputTokens              int `json:"input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	CacheCreation            struct {
		Ephemeral5m int `json:"ephemeral_5m_input_tokens"`
		Ephemeral1h int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	OutputTokens int    `json:"output_tokens"`
	ServiceTier  string `json:"service_tier"`
}

func encodeAnthropic(c completion) any {
	r := anthropicReply{
		ID: c.draws.id("msg_sim"), Type: "message", Role: "assistant", Model: c.served,
		Content:    c.content(),
		StopReason: "end_turn", StopSequence: orNil(c.stopped),
		Usage: anthropicUsage{InputTokens: c.in, OutputTokens: c.out, ServiceTier: "standard"},
	}
	switch {
	case c.cut:
		r.StopReason = "max_tokens"
	case c.stopped != "":
		r.StopReason = "stop_sequence"
	case c.tool != "":
		r.StopReason = "tool_use"
	}
	return r
}

type anthropicError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
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
	if f.code == "model_not_found" {
		e.Error.Message = "model: " + f.model
	}
	return e
}
