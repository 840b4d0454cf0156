package sim

import (
	"encoding/json"
	"net/http"
	"strings"
)

// openAI is the Chat Completions wire.
var openAI = wire{
	requestID: "X-Request-Id",
	decode:    decodeOpenAI,
	encode:    encodeOpenAI,
	fail:      failOpenAI,
}

type openAIRequest struct {
	Model    *string `json:"model"`
	Messages []struct {
		Role    string   `json:"role"`
		Content *content `json:"content"`
	} `json:"messages"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Temperature         *float64        `json:"temperature"`
	N                   *int            `json:"n"`
	Stop                stops           `json:"stop"`
	Stream              json.RawMessage `json:"stream"`
	Tools               json.RawMessage `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	ResponseFormat      json.RawMessage `json:"response_format"`
}

func decodeOpenAI(_ http.Header, body []byte) (inquiry, *failure) {
	var r openAIRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return inquiry{}, decodeFailure(err)
	}
	switch {
	case r.Model == nil || *r.Model == "":
		return inquiry{}, invalid("model", "you must provide a model parameter")
	case len(r.Messages) == 0:
		return inquiry{}, invalid("messages", "'messages' must be a non-empty array.")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 2):
		return inquiry{}, invalid("temperature", "Invalid 'temperature': must be between 0 and 2.")
	case given(r.Stream):
		return inquiry{}, invalid("stream", "Unsupported value: the simulation does not stream.")
	case r.N != nil && *r.N != 1:
		return inquiry{}, invalid("n", "Unsupported value: the simulation returns one choice.")
	case len(r.Stop) > 4:
		return inquiry{}, invalid("stop", "Invalid 'stop': at most 4 sequences.")
	}
	q := inquiry{model: *r.Model, stop: r.Stop}
	for _, limit := range []*int{r.MaxTokens, r.MaxCompletionTokens} {
		switch {
		case limit == nil:
		case *limit < 1:
			return inquiry{}, invalid("max_tokens", "Invalid 'max_tokens': must be at least 1.")
		case q.maxTokens == 0 || *limit < q.maxTokens:
			q.maxTokens = *limit
		}
	}
	var all strings.Builder
	for i, m := range r.Messages {
		if m.Content == nil {
			return inquiry{}, invalid("messages", "Invalid value for 'messages[%d].content': expected a string.", i)
		}
		text := string(*m.Content)
		switch m.Role {
		case "user", "assistant":
			q.talk.turns = append(q.talk.turns, remark{user: m.Role == "user", text: text})
		case "system", "developer":
			q.talk.system += text
		default:
			return inquiry{}, invalid("messages", "Invalid value for 'messages[%d].role'. Supported values are: 'system', 'developer', 'user' and 'assistant'.", i)
		}
		all.WriteString(text)
	}
	q.prompt = all.String()
	var f *failure
	q.mode, q.tool, f = r.form(q.prompt)
	return q, f
}

type openAIReply struct {
	ID                string         `json:"id"`
	Object            string         `json:"object"`
	Created           int64          `json:"created"`
	Model             string         `json:"model"`
	Choices           []openAIChoice `json:"choices"`
	Usage             openAIUsage    `json:"usage"`
	ServiceTier       string         `json:"service_tier"`
	SystemFingerprint string         `json:"system_fingerprint"`
}

type openAIChoice struct {
	Index        int           `json:"index"`
	Message      openAIMessage `json:"message"`
	Logprobs     *struct{}     `json:"logprobs"`
	FinishReason string        `json:"finish_reason"`
}

type openAIMessage struct {
	Role        string           `json:"role"`
	Content     *string          `json:"content"` // null beside a call
	ToolCalls   []openAIToolCall `json:"tool_calls,omitempty"`
	Refusal     *string          `json:"refusal"`
	Annotations []struct{}       `json:"annotations"`
}

type openAIUsage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	TotalTokens         int `json:"total_tokens"`
	PromptTokensDetails struct {
		CachedTokens int `json:"cached_tokens"`
		AudioTokens  int `json:"audio_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens          int `json:"reasoning_tokens"`
		AudioTokens              int `json:"audio_tokens"`
		AcceptedPredictionTokens int `json:"accepted_prediction_tokens"`
		RejectedPredictionTokens int `json:"rejected_prediction_tokens"`
	} `json:"completion_tokens_details"`
}

type openAIError struct {
	Error openAIErrorBody `json:"error"`
}

type openAIErrorBody struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func encodeOpenAI(c completion) any {
	finish := "stop" // also of a call that was forced
	if c.cut {
		finish = "length"
	}
	return openAIReply{
		ID: c.draws.id("chatcmpl-sim"), Object: "chat.completion", Created: c.draws.created(), Model: c.served,
		Choices: []openAIChoice{{
			Message:      c.message(),
			FinishReason: finish,
		}},
		Usage:       openAIUsage{PromptTokens: c.in, CompletionTokens: c.out, TotalTokens: c.in + c.out},
		ServiceTier: "default", SystemFingerprint: "simulated",
	}
}

func failOpenAI(f *failure, _ string) any {
	kind := "invalid_request_error"
	if f.status >= 500 {
		kind = "server_error"
	}
	return openAIError{Error: openAIErrorBody{Message: f.message, Type: kind, Param: orNil(f.param), Code: orNil(f.code)}}
}

// orNil is s, or null where the wire has null for nothing.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
