package sim

import "maps"

// responsesOutput are the items of the output: reasoning, a message, calls. The
// order is that in which they are made.
func (c completion) responsesOutput() []obj {
	items, status := []obj{}, c.responsesStatus()
	if c.reasoning != "" {
		items = append(items, obj{"type": "reasoning", "id": c.draws.id("rs_sim"), "summary": []obj{{"type": "summary_text", "text": c.reasoning}}})
	}
	var parts []obj
	if !c.silent() {
		parts = append(parts, obj{"type": "output_text", "text": c.text, "annotations": []obj{}, "logprobs": []obj{}})
	}
	if c.refusal != "" {
		parts = append(parts, obj{"type": "refusal", "refusal": c.refusal})
	}
	if len(parts) > 0 {
		items = append(items, obj{"type": "message", "id": c.draws.id("msg_sim"), "status": status, "role": "assistant", "content": parts})
	}
	for i, t := range c.identify("call_sim") {
		items = append(items, obj{"type": "function_call", "id": c.draws.nth("fc_sim", i), "status": status, "call_id": t.ID, "name": t.Name, "arguments": t.Args})
	}
	return items
}

// response is the object with the state of the whole.
func (c completion) response(q modelRequest, status string, output []obj) obj {
	r := obj{
		"id": c.draws.id("resp_sim"), "object": "response", "created_at": c.draws.created(), "status": status, "background": false,
		"error": nil, "incomplete_details": nil, "instructions": orNil(q.system), "max_output_tokens": nil, "model": c.served,
		"output": output, "parallel_tool_calls": !q.serial, "previous_response_id": q.previous, "reasoning": obj{"effort": nil, "summary": nil},
		"service_tier": "default", "store": q.stored, "temperature": 1.0, "text": obj{"format": obj{"type": q.format}}, "truncation": "disabled",
		"metadata": obj{}, "usage": nil,
	}
	if q.maxTokens > 0 {
		r["max_output_tokens"] = q.maxTokens
	}
	if q.temperature != nil {
		r["temperature"] = *q.temperature
	}
	if status == "in_progress" {
		return r
	}
	if status == "incomplete" {
		r["incomplete_details"] = obj{"reason": "max_output_tokens"}
	}
	r["usage"] = obj{
		"input_tokens": c.in, "input_tokens_details": obj{"cached_tokens": c.read, "cache_write_tokens": c.write},
		"output_tokens": c.made(), "output_tokens_details": obj{"reasoning_tokens": c.thought}, "total_tokens": c.in + c.made(),
	}
	return r
}

func (c completion) responsesStatus() string {
	if c.cut {
		return "incomplete"
	}
	return "completed"
}

func encodeResponses(q modelRequest, c completion) any {
	return c.response(q, c.responsesStatus(), c.responsesOutput())
}

// streamResponses makes the events of each item between those of the response. All are numbered.
func streamResponses(q modelRequest, c completion) [][]byte {
	s := responsesStream{draws: c.draws}
	s.send("response.created", obj{"response": c.response(q, "in_progress", []obj{})})
	s.send("response.in_progress", obj{"response": c.response(q, "in_progress", []obj{})})
	output := c.responsesOutput()
	for i, item := range output {
		s.item(i, item)
	}
	end := c.responsesStatus()
	s.send("response."+end, obj{"response": c.response(q, end, output)})
	return s.frames
}

type responsesStream struct {
	events
	draws draws
	n     int
}

func (s *responsesStream) send(kind string, members obj) {
	members["sequence_number"] = s.n
	s.n++
	s.typed(kind, members)
}

func (s *responsesStream) item(i int, item obj) {
	begun := maps.Clone(item)
	switch item["type"] {
	case "reasoning":
		begun["summary"] = []obj{}
	case "message":
		begun["content"], begun["status"] = []obj{}, "in_progress"
	case "function_call":
		begun["arguments"], begun["status"] = "", "in_progress"
	}
	s.send("response.output_item.added", obj{"output_index": i, "item": begun})
	// with are the members of every event within the item.
	with := func(more obj) obj {
		more["output_index"], more["item_id"] = i, item["id"]
		return more
	}
	pour := func(kind, member string, text any, more obj) {
		whole, _ := text.(string)
		for _, p := range append(s.draws.pieces(whole), "") {
			event := maps.Clone(more)
			if p == "" {
				event[member] = whole
				s.send(kind+".done", with(event))
				break
			}
			event["delta"] = p
			s.send(kind+".delta", with(event))
		}
	}
	switch item["type"] {
	case "reasoning":
		for j, part := range item["summary"].([]obj) {
			s.send("response.reasoning_summary_part.added", with(obj{"summary_index": j, "part": obj{"type": "summary_text", "text": ""}}))
			pour("response.reasoning_summary_text", "text", part["text"], obj{"summary_index": j})
			s.send("response.reasoning_summary_part.done", with(obj{"summary_index": j, "part": part}))
		}
	case "message":
		for j, part := range item["content"].([]obj) {
			kind, member, more := "response.output_text", "text", obj{"content_index": j, "logprobs": []obj{}}
			if part["type"] == "refusal" {
				kind, member, more = "response.refusal", "refusal", obj{"content_index": j}
			}
			empty := maps.Clone(part)
			empty[member] = ""
			s.send("response.content_part.added", with(obj{"content_index": j, "part": empty}))
			pour(kind, member, part[member], more)
			s.send("response.content_part.done", with(obj{"content_index": j, "part": part}))
		}
	case "function_call":
		pour("response.function_call_arguments", "arguments", item["arguments"], obj{})
	}
	s.send("response.output_item.done", obj{"output_index": i, "item": item})
}
