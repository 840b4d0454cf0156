package sim

import (
	"encoding/json"
	"net/http"
)

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
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens,omitempty"`
		AudioTokens      int `json:"audio_tokens"`
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

// finishOpenAI is why it ended. A call that was forced by name is a stop.
func finishOpenAI(q modelRequest, c completion) string {
	switch {
	case c.cut:
		return "length"
	case len(c.calls) > 0 && q.choice != choiceNamed:
		return "tool_calls"
	}
	return "stop"
}

func (c completion) openAIUsage() openAIUsage {
	u := openAIUsage{PromptTokens: c.in, CompletionTokens: c.made(), TotalTokens: c.in + c.made()}
	u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens = c.read, c.write
	u.CompletionTokensDetails.ReasoningTokens = c.thought
	return u
}

func encodeOpenAI(q modelRequest, c completion) any {
	return openAIReply{
		ID: c.draws.id("chatcmpl-sim"), Object: "chat.completion", Created: c.draws.created(), Model: c.served,
		Choices: []openAIChoice{{
			Message:      c.message(),
			FinishReason: finishOpenAI(q, c),
		}},
		Usage:       c.openAIUsage(),
		ServiceTier: "default", SystemFingerprint: "simulated",
	}
}

// done ends the streams of OpenAI's wires.
var done = []byte("data: [DONE]\n\n")

// openAIChunk is one chunk of a stream of the one choice.
func (c completion) openAIChunk(delta obj, finish any) obj {
	return obj{
		"id": c.draws.id("chatcmpl-sim"), "object": "chat.completion.chunk", "created": c.draws.created(), "model": c.served,
		"choices": []obj{{"index": 0, "delta": delta, "finish_reason": finish}},
	}
}

// streamOpenAI makes chunks, the usage in one of its own if it was asked for.
func streamOpenAI(q modelRequest, c completion) [][]byte {
	var e events
	send := func(choices []obj, usage any) {
		chunk := c.openAIChunk(nil, nil)
		chunk["service_tier"], chunk["system_fingerprint"], chunk["choices"] = "default", "simulated", choices
		if q.extras {
			chunk["usage"] = usage
		}
		e.send("", chunk)
	}
	delta := func(d obj, finish any) {
		send([]obj{{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}, nil)
	}
	first := obj{"role": "assistant", "content": "", "refusal": nil}
	if m := c.message(); m.Content == nil {
		first["content"] = nil
	}
	delta(first, nil)
	for _, p := range c.draws.pieces(c.text) {
		delta(obj{"content": p}, nil)
	}
	for _, p := range c.draws.pieces(c.refusal) {
		delta(obj{"refusal": p}, nil)
	}
	for i, t := range c.identify("call_sim") {
		delta(obj{"tool_calls": []obj{{"index": i, "id": t.ID, "type": "function", "function": obj{"name": t.Name, "arguments": ""}}}}, nil)
		for _, p := range c.draws.pieces(t.Args) {
			delta(obj{"tool_calls": []obj{{"index": i, "function": obj{"arguments": p}}}}, nil)
		}
	}
	delta(obj{}, finishOpenAI(q, c))
	if q.extras {
		send([]obj{}, c.openAIUsage())
	}
	return append(e.frames, done)
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

// mistral is Mistral's variant of the Chat Completions wire: a streamed call comes
// whole, and the last chunk tells the usage unasked.
var mistral = openAI.with(decodeOpenAI, encodeOpenAI, streamMistral)

func streamMistral(q modelRequest, c completion) [][]byte {
	var e events
	e.send("", c.openAIChunk(obj{"role": "assistant", "content": ""}, nil))
	for _, p := range c.draws.pieces(c.spoken()) {
		e.send("", c.openAIChunk(obj{"content": p}, nil))
	}
	last := obj{"content": ""}
	var calls []obj
	for i, t := range c.identify("call_sim") {
		calls = append(calls, obj{"index": i, "id": t.ID, "function": obj{"name": t.Name, "arguments": t.Args}})
	}
	if calls != nil {
		last["tool_calls"] = calls
	}
	end := c.openAIChunk(last, finishOpenAI(q, c))
	end["usage"] = c.openAIUsage()
	e.send("", end)
	return append(e.frames, done)
}

// completions is OpenAI's first wire, of one text. Servers of open models have it, too.
// The prompt counts as the user's message; there are no tools.
var completions = openAI.with(decodeCompletions, encodeCompletions, streamCompletions)

// decodeCompletions reads a request as one of Chat Completions.
func decodeCompletions(req *http.Request, body []byte) modelRequest {
	members := parse[map[string]json.RawMessage](body)
	var text string
	var texts []string
	if json.Unmarshal(members["prompt"], &texts) == nil && len(texts) == 1 {
		text = texts[0]
	} else if json.Unmarshal(members["prompt"], &text) != nil || text == "" {
		refuse("prompt", "Invalid 'prompt': the simulation completes one text that is not empty.")
	}
	name := foreign(body, "messages", "tools", "response_format", "max_completion_tokens")
	refuseIf(name != "", "", "Unrecognized request argument supplied: %s", name)
	delete(members, "prompt")
	members["messages"] = encodeJSON([]obj{{"role": "user", "content": text}})
	return decodeOpenAI(req, encodeJSON(members))
}

// completionsPart is one chunk of a stream, or the whole.
func (c completion) completionsPart(text string, finish any) obj {
	return obj{
		"id": c.draws.id("cmpl-sim"), "object": "text_completion", "created": c.draws.created(), "model": c.served, "system_fingerprint": "simulated",
		"choices": []obj{{"index": 0, "text": text, "logprobs": nil, "finish_reason": finish}},
	}
}

func encodeCompletions(q modelRequest, c completion) any {
	r := c.completionsPart(c.spoken(), finishOpenAI(q, c))
	r["usage"] = c.openAIUsage()
	return r
}

func streamCompletions(q modelRequest, c completion) [][]byte {
	var e events
	for _, p := range c.draws.pieces(c.spoken()) {
		e.send("", c.completionsPart(p, nil))
	}
	e.send("", c.completionsPart("", finishOpenAI(q, c)))
	if q.extras {
		end := c.completionsPart("", nil)
		end["choices"], end["usage"] = []obj{}, c.openAIUsage()
		e.send("", end)
	}
	return append(e.frames, done)
}
