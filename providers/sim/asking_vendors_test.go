package sim

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

var responsesTongue = wireClient{
	name: "responses", path: "/v1/responses", noStop: true, noFailed: true,
	finishes: map[string]string{"stop": "completed", "length": "max_output_tokens", "tools": "completed", "refusal": "completed"},
	body: func(a asked) obj {
		var input []obj
		for _, m := range a.turns {
			for _, r := range m.results {
				input = append(input, obj{"type": "function_call_output", "call_id": r.id, "output": r.text})
			}
			if m.text != "" || len(m.images) > 0 {
				kind := map[bool]string{true: "output_text", false: "input_text"}[m.own]
				parts := []obj{{"type": kind, "text": m.text}}
				for _, p := range m.images {
					parts = append(parts, obj{"type": "input_image", "image_url": dataURL(p)})
				}
				input = append(input, obj{"role": map[bool]string{true: "assistant", false: "user"}[m.own], "content": parts})
			}
			for _, c := range m.calls {
				input = append(input, obj{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Args})
			}
		}
		o := obj{"model": a.model, "input": input, "store": false}
		set(o, "instructions", a.system, a.system != "")
		var tools []obj
		for _, n := range a.tools {
			tools = append(tools, obj{"type": "function", "name": n, "parameters": obj{"type": "object"}})
		}
		if len(tools) > 0 {
			o["tools"], o["parallel_tool_calls"] = tools, !a.serial
			o["tool_choice"] = choiceWord(a.choice, obj{"type": "function", "name": a.tools[0]})
		}
		set(o, "max_output_tokens", a.limit, a.limit > 0)
		set(o, "text", obj{"format": obj{"type": "json_schema", "name": "n", "schema": testSchemaRaw}}, a.schema)
		set(o, "stream", true, a.stream)
		return o
	},
	whole: func(t testing.TB, body []byte) heard { return heardResponse(t, parsed(t, body)) },
	frames: func(t testing.TB, body []byte) heard {
		names, data := sse(t, body)
		var said heard
		for i, d := range data {
			v := parsed(t, []byte(d))
			require.Equal(t, names[i], text(v, "type"))
			require.Equal(t, i, figure(v, "sequence_number"))
			switch names[i] {
			case "response.output_text.delta":
				said.text += text(v, "delta")
			case "response.refusal.delta":
				said.refusal += text(v, "delta")
			case "response.reasoning_summary_text.delta":
				said.reasoning += text(v, "delta")
			case "response.function_call_arguments.delta":
				said.calls[len(said.calls)-1].Args += text(v, "delta")
			case "response.output_item.added":
				if text(v, "item", "type") == "function_call" {
					said.calls = append(said.calls, invocation{ID: text(v, "item", "call_id"), Name: text(v, "item", "name")})
				}
			}
		}
		require.Equal(t, []string{"response.created", "response.in_progress"}, names[:2])
		h := heardResponse(t, parsed(t, []byte(raw(at(parsed(t, []byte(data[len(data)-1])), "response")))))
		require.Equal(t, "response."+map[bool]string{true: "completed", false: "incomplete"}[h.finish == "completed"], names[len(names)-1])
		require.Equal(t, h.text, said.text)
		require.Equal(t, h.refusal, said.refusal)
		require.Equal(t, h.reasoning, said.reasoning)
		require.Equal(t, h.calls, said.calls)
		return h
	},
}

func heardResponse(t testing.TB, v map[string]any) heard {
	require.Equal(t, "response", v["object"])
	h := heard{finish: text(v, "status")}
	if reason := text(v, "incomplete_details", "reason"); reason != "" {
		require.Equal(t, "incomplete", h.finish)
		h.finish = reason
	}
	for _, item := range list(v, "output") {
		switch text(item, "type") {
		case "reasoning":
			h.reasoning += text(item, "summary", 0, "text")
		case "function_call":
			h.calls = append(h.calls, invocation{ID: text(item, "call_id"), Name: text(item, "name"), Args: text(item, "arguments")})
		case "message":
			for _, p := range list(item, "content") {
				h.text += text(p, "text")
				h.refusal += text(p, "refusal")
			}
		}
	}
	u := at(v, "usage")
	h.read, h.write = figure(u, "input_tokens_details", "cached_tokens"), figure(u, "input_tokens_details", "cache_write_tokens")
	h.in = figure(u, "input_tokens") - h.read - h.write
	h.out, h.thought = figure(u, "output_tokens"), figure(u, "output_tokens_details", "reasoning_tokens")
	return h
}

var anthropicTongue = wireClient{
	name: "anthropic", path: "/v1/messages", header: []string{"Anthropic-Version", "2023-06-01"},
	finishes: map[string]string{"stop": "end_turn", "length": "max_tokens", "stop_sequence": "stop_sequence", "tools": "tool_use", "refusal": "refusal"},
	body: func(a asked) obj {
		var messages []obj
		for _, m := range a.turns {
			var blocks []obj
			for _, r := range m.results {
				blocks = append(blocks, obj{"type": "tool_result", "tool_use_id": r.id, "content": r.text, "is_error": r.failed})
			}
			for _, p := range m.images {
				source := obj{"type": "base64", "media_type": p.media, "data": p.data}
				if p.url != "" {
					source = obj{"type": "url", "url": p.url}
				}
				blocks = append(blocks, obj{"type": "image", "source": source})
			}
			if m.text != "" {
				blocks = append(blocks, obj{"type": "text", "text": m.text})
			}
			for _, c := range m.calls {
				blocks = append(blocks, obj{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
			}
			messages = append(messages, obj{"role": map[bool]string{true: "assistant", false: "user"}[m.own], "content": blocks})
		}
		o := obj{"model": a.model, "messages": messages, "max_tokens": 4000}
		set(o, "max_tokens", a.limit, a.limit > 0)
		set(o, "system", a.system, a.system != "")
		var tools []obj
		for _, n := range a.tools {
			tools = append(tools, obj{"name": n, "input_schema": obj{"type": "object"}})
		}
		if len(tools) > 0 {
			o["tools"] = tools
			c := obj{"type": map[choice]string{"": "auto", choiceNone: "none", choiceAny: "any", choiceNamed: "tool"}[a.choice]}
			set(c, "name", a.tools[0], a.choice == choiceNamed)
			set(c, "disable_parallel_tool_use", true, a.serial)
			o["tool_choice"] = c
		}
		set(o, "stop_sequences", a.stop, len(a.stop) > 0)
		set(o, "output_config", obj{"format": obj{"type": "json_schema", "schema": testSchemaRaw}}, a.schema)
		set(o, "stream", true, a.stream)
		return o
	},
	whole: func(t testing.TB, body []byte) heard {
		v := parsed(t, body)
		h := heard{finish: text(v, "stop_reason"), refusal: text(v, "stop_details", "explanation")}
		for _, b := range list(v, "content") {
			switch text(b, "type") {
			case "text":
				h.text += text(b, "text")
			case "thinking":
				h.reasoning += text(b, "thinking")
				require.Equal(t, signature(h.reasoning), text(b, "signature"))
			case "tool_use":
				h.calls = append(h.calls, invocation{ID: text(b, "id"), Name: text(b, "name"), Args: raw(at(b, "input"))})
			}
		}
		h.anthropicUsage(at(v, "usage"))
		return h
	},
	frames: func(t testing.TB, body []byte) heard {
		var h heard
		names, data := sse(t, body)
		require.Equal(t, "message_start", names[0])
		require.Equal(t, "message_stop", names[len(names)-1])
		open := -1
		for i, d := range data {
			v := parsed(t, []byte(d))
			require.Equal(t, names[i], text(v, "type"))
			delta := at(v, "delta")
			switch names[i] {
			case "content_block_start":
				open++
				require.Equal(t, open, figure(v, "index"))
				if text(v, "content_block", "type") == "tool_use" {
					h.calls = append(h.calls, invocation{ID: text(v, "content_block", "id"), Name: text(v, "content_block", "name")})
				}
			case "content_block_delta":
				require.Equal(t, open, figure(v, "index"))
				h.text += text(delta, "text")
				h.reasoning += text(delta, "thinking")
				if text(delta, "type") == "input_json_delta" {
					h.calls[len(h.calls)-1].Args += text(delta, "partial_json")
				}
			case "message_delta":
				h.finish, h.refusal = text(delta, "stop_reason"), text(delta, "stop_details", "explanation")
				h.anthropicUsage(at(v, "usage"))
			}
		}
		return h
	},
}

func (h *heard) anthropicUsage(u any) {
	h.in, h.read, h.write = figure(u, "input_tokens"), figure(u, "cache_read_input_tokens"), figure(u, "cache_creation_input_tokens")
	h.out, h.thought = figure(u, "output_tokens"), figure(u, "output_tokens_details", "thinking_tokens")
}
