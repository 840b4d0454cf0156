package sim

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var geminiTongue = wireClient{
	name: "gemini", path: "/v1beta/models/MODEL:generateContent", streamPath: "/v1beta/models/MODEL:streamGenerateContent?alt=sse", noCacheWrite: true, noSerial: true,
	finishes: map[string]string{"stop": "STOP", "length": "MAX_TOKENS", "stop_sequence": "STOP", "tools": "STOP", "refusal": "SAFETY"},
	body: func(a asked) obj {
		var contents []obj
		for _, m := range a.turns {
			var parts []obj
			for _, r := range m.results {
				parts = append(parts, obj{"functionResponse": obj{"name": r.name, "response": obj{map[bool]string{true: "error", false: "output"}[r.failed]: r.text}}})
			}
			for _, p := range m.images {
				if p.url != "" {
					parts = append(parts, obj{"fileData": obj{"fileUri": p.url}})
					continue
				}
				parts = append(parts, obj{"inlineData": obj{"mimeType": p.media, "data": p.data}})
			}
			if m.text != "" {
				parts = append(parts, obj{"text": m.text})
			}
			for _, c := range m.calls {
				parts = append(parts, obj{"functionCall": obj{"name": c.Name, "args": json.RawMessage(c.Args)}})
			}
			contents = append(contents, obj{"role": map[bool]string{true: "model", false: "user"}[m.own], "parts": parts})
		}
		config, o := obj{}, obj{"contents": contents}
		set(o, "systemInstruction", obj{"parts": []obj{{"text": a.system}}}, a.system != "")
		var tools []obj
		for _, n := range a.tools {
			tools = append(tools, obj{"name": n, "parameters": obj{"type": "OBJECT"}})
		}
		if len(tools) > 0 {
			o["tools"] = []obj{{"functionDeclarations": tools}}
			c := obj{"mode": map[choice]string{"": "AUTO", choiceNone: "NONE", choiceAny: "ANY", choiceNamed: "ANY"}[a.choice]}
			set(c, "allowedFunctionNames", a.tools[:1], a.choice == choiceNamed)
			o["toolConfig"] = obj{"functionCallingConfig": c}
		}
		set(config, "maxOutputTokens", a.limit, a.limit > 0)
		set(config, "stopSequences", a.stop, len(a.stop) > 0)
		set(config, "responseMimeType", "application/json", a.schema)
		set(config, "responseSchema", obj{"type": "OBJECT"}, a.schema)
		o["generationConfig"] = config
		return o
	},
	whole: func(t testing.TB, body []byte) heard {
		var h heard
		h.gemini(t, parsed(t, body))
		return h
	},
	frames: func(t testing.TB, body []byte) heard {
		var h heard
		_, data := sse(t, body)
		for _, d := range data {
			require.Empty(t, h.finish)
			h.gemini(t, parsed(t, []byte(d)))
		}
		return h
	},
}

func (h *heard) gemini(t testing.TB, v map[string]any) {
	require.NotEmpty(t, text(v, "responseId"))
	c := at(v, "candidates", 0)
	for _, p := range list(c, "content", "parts") {
		switch {
		case at(p, "functionCall") != nil:
			h.calls = append(h.calls, invocation{ID: text(p, "functionCall", "id"), Name: text(p, "functionCall", "name"), Args: raw(at(p, "functionCall", "args"))})
		case at(p, "thought") == true:
			h.reasoning += text(p, "text")
		default:
			h.text += text(p, "text")
		}
	}
	h.finish, h.refusal = text(c, "finishReason"), text(c, "finishMessage")
	u := at(v, "usageMetadata")
	h.read, h.thought = figure(u, "cachedContentTokenCount"), figure(u, "thoughtsTokenCount")
	h.in, h.out = figure(u, "promptTokenCount")-h.read, figure(u, "candidatesTokenCount")+h.thought
}

var bedrockTongue = wireClient{
	name: "bedrock", path: "/model/MODEL/converse", streamPath: "/model/MODEL/converse-stream", noImageURL: true, noSerial: true, sameRefusal: true,
	finishes: map[string]string{"stop": "end_turn", "length": "max_tokens", "stop_sequence": "stop_sequence", "tools": "tool_use", "refusal": "guardrail_intervened"},
	body: func(a asked) obj {
		var messages []obj
		for _, m := range a.turns {
			var blocks []obj
			for _, r := range m.results {
				blocks = append(blocks, obj{"toolResult": obj{"toolUseId": r.id, "content": []obj{{"text": r.text}}, "status": map[bool]string{true: "error", false: "success"}[r.failed]}})
			}
			for _, p := range m.images {
				blocks = append(blocks, obj{"image": obj{"format": strings.TrimPrefix(p.media, "image/"), "source": obj{"bytes": p.data}}})
			}
			if m.text != "" {
				blocks = append(blocks, obj{"text": m.text})
			}
			for _, c := range m.calls {
				blocks = append(blocks, obj{"toolUse": obj{"toolUseId": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)}})
			}
			messages = append(messages, obj{"role": map[bool]string{true: "assistant", false: "user"}[m.own], "content": blocks})
		}
		config, o := obj{}, obj{"messages": messages}
		set(o, "system", []obj{{"text": a.system}}, a.system != "")
		var tools []obj
		for _, n := range a.tools {
			tools = append(tools, obj{"toolSpec": obj{"name": n, "inputSchema": obj{"json": obj{"type": "object"}}}})
		}
		if len(tools) > 0 {
			o["toolConfig"] = obj{"tools": tools, "toolChoice": map[choice]obj{"": {"auto": obj{}}, choiceAny: {"any": obj{}}, choiceNamed: {"tool": obj{"name": a.tools[0]}}}[a.choice]}
		}
		set(config, "maxTokens", a.limit, a.limit > 0)
		set(config, "stopSequences", a.stop, len(a.stop) > 0)
		o["inferenceConfig"] = config
		set(o, "outputConfig", obj{"textFormat": obj{"type": "json_schema", "structure": obj{"jsonSchema": obj{"name": "n", "schema": testSchema}}}}, a.schema)
		return o
	},
	whole: func(t testing.TB, body []byte) heard {
		v := parsed(t, body)
		h := heard{finish: text(v, "stopReason")}
		for _, b := range list(v, "output", "message", "content") {
			h.text += text(b, "text")
			h.reasoning += text(b, "reasoningContent", "reasoningText", "text")
			if use := at(b, "toolUse"); use != nil {
				h.calls = append(h.calls, invocation{ID: text(use, "toolUseId"), Name: text(use, "name"), Args: raw(at(use, "input"))})
			}
		}
		h.bedrockUsage(at(v, "usage"))
		return h
	},
	frames: func(t testing.TB, body []byte) heard {
		var h heard
		kinds, payloads := unframe(t, body)
		require.Equal(t, "messageStart", kinds[0])
		require.Equal(t, "metadata", kinds[len(kinds)-1])
		for i, kind := range kinds {
			v := parsed(t, payloads[i])
			switch kind {
			case "contentBlockStart":
				use := at(v, "start", "toolUse")
				h.calls = append(h.calls, invocation{ID: text(use, "toolUseId"), Name: text(use, "name")})
			case "contentBlockDelta":
				h.text += text(v, "delta", "text")
				h.reasoning += text(v, "delta", "reasoningContent", "text")
				if input := text(v, "delta", "toolUse", "input"); input != "" {
					h.calls[len(h.calls)-1].Args += input
				}
			case "messageStop":
				h.finish = text(v, "stopReason")
			case "metadata":
				h.bedrockUsage(at(v, "usage"))
			}
		}
		return h
	},
}

func (h *heard) bedrockUsage(u any) {
	h.in, h.read, h.write, h.out = figure(u, "inputTokens"), figure(u, "cacheReadInputTokens"), figure(u, "cacheWriteInputTokens"), figure(u, "outputTokens")
}

// unframe splits an event stream and checks every length and checksum.
func unframe(t testing.TB, body []byte) (kinds []string, payloads [][]byte) {
	t.Helper()
	for len(body) > 0 {
		require.GreaterOrEqual(t, len(body), 16)
		total, head := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
		require.Equal(t, crc32.ChecksumIEEE(body[:8]), binary.BigEndian.Uint32(body[8:]))
		require.LessOrEqual(t, int(total), len(body))
		frame := body[:total]
		body = body[total:]
		require.Equal(t, crc32.ChecksumIEEE(frame[:total-4]), binary.BigEndian.Uint32(frame[total-4:]))
		headers := map[string]string{}
		for rest := frame[12 : 12+head]; len(rest) > 0; {
			n := int(rest[0])
			name := string(rest[1 : 1+n])
			require.Equal(t, byte(7), rest[1+n])
			size := int(binary.BigEndian.Uint16(rest[2+n:]))
			headers[name] = string(rest[4+n : 4+n+size])
			rest = rest[4+n+size:]
		}
		require.Equal(t, "event", headers[":message-type"])
		require.Equal(t, "application/json", headers[":content-type"])
		kinds, payloads = append(kinds, headers[":event-type"]), append(payloads, frame[12+head:total-4])
	}
	return kinds, payloads
}

var ollamaTongue = wireClient{
	name: "ollama", path: "/api/chat", noChoice: true, noCache: true, noImageURL: true, noSerial: true, noFailed: true, sameRefusal: true,
	finishes: map[string]string{"stop": "stop", "length": "length", "stop_sequence": "stop", "tools": "stop", "refusal": "stop"},
	body: func(a asked) obj {
		var messages []obj
		if a.system != "" {
			messages = append(messages, obj{"role": "system", "content": a.system})
		}
		for _, m := range a.turns {
			for _, r := range m.results {
				messages = append(messages, obj{"role": "tool", "tool_name": r.name, "content": r.text})
			}
			if len(m.results) > 0 {
				continue
			}
			o := obj{"role": map[bool]string{true: "assistant", false: "user"}[m.own], "content": m.text}
			var images [][]byte
			for _, p := range m.images {
				images = append(images, p.data)
			}
			set(o, "images", images, len(images) > 0)
			var calls []obj
			for _, c := range m.calls {
				calls = append(calls, obj{"function": obj{"name": c.Name, "arguments": json.RawMessage(c.Args)}})
			}
			set(o, "tool_calls", calls, len(calls) > 0)
			messages = append(messages, o)
		}
		options, o := obj{}, obj{"model": a.model, "messages": messages}
		set(o, "tools", openAITools(a.tools), len(a.tools) > 0)
		set(options, "num_predict", a.limit, a.limit > 0)
		set(options, "stop", a.stop, len(a.stop) > 0)
		o["options"] = options
		set(o, "format", testSchemaRaw, a.schema)
		set(o, "stream", false, !a.stream)
		return o
	},
	whole: func(t testing.TB, body []byte) heard {
		var h heard
		h.ollama(parsed(t, body))
		return h
	},
	frames: func(t testing.TB, body []byte) heard {
		var h heard
		for line := range bytes.Lines(body) {
			require.Empty(t, h.finish)
			h.ollama(parsed(t, line))
		}
		return h
	},
}

func (h *heard) ollama(v map[string]any) {
	m := v["message"]
	h.text += text(m, "content")
	h.reasoning += text(m, "thinking")
	for _, c := range list(m, "tool_calls") {
		h.calls = append(h.calls, invocation{ID: text(c, "id"), Name: text(c, "function", "name"), Args: raw(at(c, "function", "arguments"))})
	}
	if v["done"] == true {
		h.finish, h.in, h.out = text(v, "done_reason"), figure(v, "prompt_eval_count"), figure(v, "eval_count")
	}
}

var tgiTongue = wireClient{
	name: "tgi", path: "/models/MODEL/generate", streamPath: "/models/MODEL/generate_stream",
	noTools: true, noSystem: true, noReasoning: true, noCache: true, noSerial: true, sameRefusal: true,
	finishes: map[string]string{"stop": "eos_token", "length": "length", "stop_sequence": "stop_sequence", "refusal": "eos_token"},
	body: func(a asked) obj {
		last := a.turns[len(a.turns)-1]
		inputs := ""
		for _, p := range last.images {
			inputs += "![](" + dataURL(p) + ")"
		}
		parameters := obj{"details": true}
		set(parameters, "decoder_input_details", true, !a.stream)
		set(parameters, "max_new_tokens", a.limit, a.limit > 0)
		set(parameters, "stop", a.stop, len(a.stop) > 0)
		set(parameters, "grammar", obj{"type": "json", "value": testSchemaRaw}, a.schema)
		return obj{"inputs": inputs + last.text, "parameters": parameters}
	},
	whole: func(t testing.TB, body []byte) heard {
		v := parsed(t, body)
		return heard{
			text: text(v, "generated_text"), finish: text(v, "details", "finish_reason"), in: len(list(v, "details", "prefill")), out: figure(v, "details", "generated_tokens"),
		}
	},
	frames: func(t testing.TB, body []byte) heard {
		var h heard
		_, data := sse(t, body)
		for i, d := range data {
			v := parsed(t, []byte(d))
			if at(v, "token", "special") != true {
				h.text += text(v, "token", "text")
			}
			require.Equal(t, i == len(data)-1, at(v, "details") != nil)
			h.finish, h.in, h.out = text(v, "details", "finish_reason"), figure(v, "details", "input_length"), figure(v, "details", "generated_tokens")
			if i == len(data)-1 {
				require.Equal(t, text(v, "generated_text"), h.text)
			}
		}
		return h
	},
}

var cohereTongue = wireClient{
	name: "cohere", path: "/v2/chat", noCacheWrite: true, noSerial: true, noFailed: true, sameRefusal: true,
	finishes: map[string]string{"stop": "COMPLETE", "length": "MAX_TOKENS", "stop_sequence": "STOP_SEQUENCE", "tools": "TOOL_CALL", "refusal": "COMPLETE"},
	body: func(a asked) obj {
		o := obj{"model": a.model, "messages": chatMessages(a)}
		set(o, "tools", openAITools(a.tools), len(a.tools) > 0)
		set(o, "tool_choice", "NONE", a.choice == choiceNone)
		set(o, "tool_choice", "REQUIRED", a.choice == choiceAny || a.choice == choiceNamed)
		set(o, "max_tokens", a.limit, a.limit > 0)
		set(o, "stop_sequences", a.stop, len(a.stop) > 0)
		set(o, "response_format", obj{"type": "json_object", "json_schema": testSchemaRaw}, a.schema)
		set(o, "stream", true, a.stream)
		return o
	},
	whole: func(t testing.TB, body []byte) heard {
		v := parsed(t, body)
		h := heard{finish: text(v, "finish_reason")}
		for _, p := range list(v, "message", "content") {
			h.text += text(p, "text")
			h.reasoning += text(p, "thinking")
		}
		for _, c := range list(v, "message", "tool_calls") {
			h.calls = append(h.calls, invocation{ID: text(c, "id"), Name: text(c, "function", "name"), Args: text(c, "function", "arguments")})
		}
		h.cohereUsage(at(v, "usage"))
		return h
	},
	frames: func(t testing.TB, body []byte) heard {
		var h heard
		names, data := sse(t, body)
		require.Equal(t, "message-start", names[0])
		require.Equal(t, "[DONE]", data[len(data)-1])
		require.Equal(t, "message-end", names[len(names)-2])
		for i, d := range data[:len(data)-1] {
			v := parsed(t, []byte(d))
			require.Equal(t, names[i], text(v, "type"))
			m := at(v, "delta", "message")
			switch names[i] {
			case "content-delta":
				h.text += text(m, "content", "text")
				h.reasoning += text(m, "content", "thinking")
			case "tool-call-start":
				h.calls = append(h.calls, invocation{ID: text(m, "tool_calls", "id"), Name: text(m, "tool_calls", "function", "name")})
			case "tool-call-delta":
				h.calls[figure(v, "index")].Args += text(m, "tool_calls", "function", "arguments")
			case "message-end":
				h.finish = text(v, "delta", "finish_reason")
				h.cohereUsage(at(v, "delta", "usage"))
			}
		}
		return h
	},
}

func (h *heard) cohereUsage(u any) {
	h.read = figure(u, "cached_tokens")
	h.in, h.out = figure(u, "tokens", "input_tokens")-h.read, figure(u, "tokens", "output_tokens")
}
