package sim

// mistral is Mistral's variant of the Chat Completions wire: a streamed call comes
// whole, and the last chunk tells the usage unasked.
var mistral = func() wire {
	w := openAI
	w.stream = streamMistral
	return w
}()

func streamMistral(q modelRequest, c completion) [][]byte {
	var e events
	send := func(delta obj, finish, usage any) {
		chunk := obj{
			"id": c.draws.id("chatcmpl-sim"), "object": "chat.completion.chunk", "created": c.draws.created(), "model": c.served,
			"choices": []obj{{"index": 0, "delta": delta, "finish_reason": finish}},
		}
		if usage != nil {
			chunk["usage"] = usage
		}
		e.send("", chunk)
	}
	send(obj{"role": "assistant", "content": ""}, nil, nil)
	for _, p := range c.draws.pieces(c.spoken()) {
		send(obj{"content": p}, nil, nil)
	}
	last := obj{"content": ""}
	var calls []obj
	for i, t := range c.identify("call_sim") {
		calls = append(calls, obj{"index": i, "id": t.id, "function": obj{"name": t.name, "arguments": t.args}})
	}
	if calls != nil {
		last["tool_calls"] = calls
	}
	send(last, finishOpenAI(q, c), c.openAIUsage())
	return append(e.frames, []byte("data: [DONE]\n\n"))
}
