package sim

import (
	"cmp"
	"maps"
	"net/http"
	"strings"
)

// stopReason is why it ended, in the words of Claude and of Bedrock; refused is that of a refusal.
func (c completion) stopReason(refused string) string {
	return c.ended("max_tokens", "stop_sequence", refused, "tool_use", "end_turn")
}

func (c completion) ending() obj {
	end := obj{"stop_reason": c.stopReason("refusal"), "stop_sequence": orNil(c.stopped)}
	if c.refusal != "" {
		end["stop_details"] = obj{"type": "refusal", "category": nil, "explanation": c.refusal}
	}
	return end
}

// anthropicUsage counts the cache besides the input, and out as the output so far.
func (c completion) anthropicUsage(out, thought int) obj {
	u := obj{
		"input_tokens": c.fresh(), "output_tokens": out, "service_tier": "standard",
		"cache_read_input_tokens": c.read, "cache_creation_input_tokens": c.write,
		"cache_creation": obj{"ephemeral_5m_input_tokens": c.write, "ephemeral_1h_input_tokens": 0},
	}
	if thought > 0 {
		u["output_tokens_details"] = obj{"thinking_tokens": thought}
	}
	return u
}

// anthropicMessage is the message without its end.
func (c completion) anthropicMessage(content []obj, usage obj) obj {
	return obj{"id": c.draws.id("msg_sim"), "type": "message", "role": "assistant", "model": c.served, "content": content, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
}

func encodeAnthropic(_ modelRequest, c completion) any {
	message := c.anthropicMessage(c.content(), c.anthropicUsage(c.made(), c.thought))
	maps.Copy(message, c.ending())
	return message
}

// streamAnthropic makes the events of each block between those of the message.
func streamAnthropic(_ modelRequest, c completion) [][]byte {
	var e events
	e.typed("message_start", obj{"message": c.anthropicMessage([]obj{}, c.anthropicUsage(min(1, c.made()), 0))})
	calls := c.identify("toolu_sim")
	for i, b := range c.content() {
		begin := func(members obj) {
			members["type"] = b["type"]
			e.typed("content_block_start", obj{"index": i, "content_block": members})
			if i == 0 {
				e.typed("ping", obj{})
			}
		}
		deltas := func(kind, member string, texts ...string) {
			for _, text := range texts {
				e.typed("content_block_delta", obj{"index": i, "delta": obj{"type": kind, member: text}})
			}
		}
		switch b["type"] {
		case "text":
			begin(obj{"text": ""})
			deltas("text_delta", "text", c.draws.pieces(c.text)...)
		case "thinking":
			begin(obj{"thinking": "", "signature": ""})
			deltas("thinking_delta", "thinking", c.draws.pieces(c.reasoning)...)
			deltas("signature_delta", "signature", signature(c.reasoning))
		case "tool_use":
			t := calls[0]
			calls = calls[1:]
			begin(obj{"id": t.ID, "name": t.Name, "input": obj{}})
			deltas("input_json_delta", "partial_json", append([]string{""}, c.draws.pieces(t.Args)...)...)
		}
		e.typed("content_block_stop", obj{"index": i})
	}
	e.typed("message_delta", obj{"delta": c.ending(), "usage": c.anthropicUsage(c.made(), c.thought)})
	e.typed("message_stop", obj{})
	return e.frames
}

func failAnthropic(f *failure, requestID string) any {
	kind := map[int]string{
		http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large", http.StatusServiceUnavailable: "api_error",
	}[f.status]
	e := obj{"type": cmp.Or(f.kind, kind, "invalid_request_error"), "message": f.message}
	switch {
	case f.code == "model_not_found":
		e["message"] = "model: " + f.model
	case strings.HasPrefix(f.code, "thread_"):
		e["details"] = obj{"error_code": f.code}
	}
	return obj{"type": "error", "error": e, "request_id": requestID}
}
