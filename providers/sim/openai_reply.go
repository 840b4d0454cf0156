package sim

import (
	"cmp"
	"encoding/json"
	"net/http"
)

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

func (c completion) openAIUsage() obj {
	input := obj{"cached_tokens": c.read, "audio_tokens": 0}
	if c.write > 0 {
		input["cache_write_tokens"] = c.write
	}
	return obj{
		"prompt_tokens": c.in, "completion_tokens": c.made(), "total_tokens": c.in + c.made(), "prompt_tokens_details": input,
		"completion_tokens_details": obj{"reasoning_tokens": c.thought, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
	}
}

// message is what was said as one message.
func (c completion) message() obj {
	m := obj{"role": "assistant", "content": nil, "refusal": orNil(c.refusal), "annotations": []obj{}}
	if c.text != "" || len(c.calls) == 0 && c.refusal == "" {
		m["content"] = c.text
	}
	if calls := c.functionCalls(); calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

// functionCalls are the calls in a reply; their arguments are text.
func (c completion) functionCalls() (calls []obj) {
	for _, t := range c.identify("call_sim") {
		calls = append(calls, functionCall(t, t.Args))
	}
	return calls
}

func functionCall(t invocation, args string) obj {
	return obj{"id": t.ID, "type": "function", "function": obj{"name": t.Name, "arguments": args}}
}

func encodeOpenAI(q modelRequest, c completion) any {
	return obj{
		"id": c.draws.id("chatcmpl-sim"), "object": "chat.completion", "created": c.draws.created(), "model": c.served,
		"choices": []obj{{"index": 0, "message": c.message(), "logprobs": nil, "finish_reason": finishOpenAI(q, c)}},
		"usage":   c.openAIUsage(), "service_tier": "default", "system_fingerprint": "simulated",
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

// streamOpenAI makes chunks, the usage in a separate one if it was requested.
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
	if c.message()["content"] == nil {
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
		call := functionCall(t, "")
		call["index"] = i
		delta(obj{"tool_calls": []obj{call}}, nil)
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
	return obj{"error": obj{"message": f.message, "type": cmp.Or(f.kind, kind), "param": orNil(f.param), "code": orNil(f.code)}}
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

func decodeCompletions(req *http.Request, body []byte) modelRequest {
	members := parse[map[string]json.RawMessage](body)
	var text string
	var texts []string
	if json.Unmarshal(members["prompt"], &texts) == nil && len(texts) == 1 {
		text = texts[0]
	} else if json.Unmarshal(members["prompt"], &text) != nil || text == "" {
		refuse("prompt", "Invalid 'prompt': the simulation completes one text that is not empty.")
	}
	refuseForeign(body, 400, "", "Unrecognized request argument supplied: %s", "messages", "tools", "response_format", "max_completion_tokens")
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
