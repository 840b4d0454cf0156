package sim

// cohereFinish is why it ended.
func (c completion) cohereFinish() string {
	switch {
	case c.cut:
		return "MAX_TOKENS"
	case c.stopped != "":
		return "STOP_SEQUENCE"
	case len(c.calls) > 0:
		return "TOOL_CALL"
	}
	return "COMPLETE"
}

// cohereUsage counts what came from a cache as part of the input.
func (c completion) cohereUsage() obj {
	return obj{
		"billed_units":  obj{"input_tokens": c.in, "output_tokens": c.made()},
		"tokens":        obj{"input_tokens": c.in, "output_tokens": c.made()},
		"cached_tokens": c.read,
	}
}

// cohereContent are the parts of the answer, each with the name of what it holds.
func (c completion) cohereContent() []obj {
	var parts []obj
	if c.reasoning != "" {
		parts = append(parts, obj{"type": "thinking", "thinking": c.reasoning})
	}
	if text := c.spoken(); text != "" || !c.silent() {
		parts = append(parts, obj{"type": "text", "text": text})
	}
	return parts
}

func cohereCall(t invocation, args string) obj {
	return obj{"id": t.id, "type": "function", "function": obj{"name": t.name, "arguments": args}}
}

func encodeCohere(_ modelRequest, c completion) any {
	message := obj{"role": "assistant"}
	if parts := c.cohereContent(); parts != nil {
		message["content"] = parts
	}
	var calls []obj
	for _, t := range c.identify("call_sim") {
		calls = append(calls, cohereCall(t, t.args))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return obj{"id": c.draws.id("sim"), "message": message, "finish_reason": c.cohereFinish(), "usage": c.cohereUsage()}
}

// streamCohere makes the events of each part between those of the message.
func streamCohere(_ modelRequest, c completion) [][]byte {
	var e events
	send := func(kind string, members obj) {
		members["type"] = kind
		e.send(kind, members)
	}
	part := func(kind string, i int, name string, v any) {
		send(kind, obj{"index": i, "delta": obj{"message": obj{name: v}}})
	}
	send("message-start", obj{"id": c.draws.id("sim"), "delta": obj{"message": obj{"role": "assistant", "content": []obj{}, "tool_plan": "", "tool_calls": []obj{}, "citations": []obj{}}}})
	for i, p := range c.cohereContent() {
		name, _ := p["type"].(string)
		whole, _ := p[name].(string)
		part("content-start", i, "content", obj{"type": name, name: ""})
		for _, piece := range c.draws.pieces(whole) {
			part("content-delta", i, "content", obj{name: piece})
		}
		send("content-end", obj{"index": i})
	}
	for i, t := range c.identify("call_sim") {
		part("tool-call-start", i, "tool_calls", cohereCall(t, ""))
		for _, piece := range c.draws.pieces(t.args) {
			part("tool-call-delta", i, "tool_calls", obj{"function": obj{"arguments": piece}})
		}
		send("tool-call-end", obj{"index": i})
	}
	send("message-end", obj{"id": c.draws.id("sim"), "delta": obj{"finish_reason": c.cohereFinish(), "usage": c.cohereUsage()}})
	return append(e.frames, []byte("data: [DONE]\n\n"))
}

func failCohere(f *failure, requestID string) any {
	message := f.message
	if f.code == "model_not_found" {
		message = "model '" + f.model + "' not found, make sure the correct model ID was used and that you have access to the model."
	}
	return obj{"id": requestID, "message": message}
}
