package sim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked is a request in no particular API format.
type asked struct {
	model, system string
	turns         []utterance
	tools         []string
	choice        choice // choiceNamed names the first tool
	serial        bool
	limit         int
	stop          []string
	schema        bool // JSON is required
	stream        bool
}

// heard is a reply as a client reads it.
type heard struct {
	text, reasoning, refusal string
	calls                    []invocation
	finish                   string
	// These are the classes of tokens: in has fresh tokens only, out includes thought.
	in, read, write, out, thought int
}

// wireClient is a minimal client of one API.
type wireClient struct {
	name, path, streamPath string
	header                 []string
	body                   func(asked) obj
	whole                  func(t testing.TB, body []byte) heard
	frames                 func(t testing.TB, body []byte) heard
	// These features are missing in the API.
	noTools, noChoice, noSystem, noStop, noReasoning, noCacheWrite, noCache, noImageURL, noSerial, noFailed bool
	finishes                                                                                                map[string]string // the API's words for stop, length, stop_sequence, tools, refusal
	// sameRefusal reports that the API sends a refusal as ordinary text.
	sameRefusal bool
}

const testSchema = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`

var testSchemaRaw = json.RawMessage(testSchema)

// do sends a request and reads the reply.
func (g wireClient) do(t testing.TB, h http.Handler, a asked) heard {
	t.Helper()
	w := g.send(t, h, a)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.NotEmpty(t, w.Header().Get("Content-Type"))
	if a.stream {
		return g.frames(t, w.Body.Bytes())
	}
	require.True(t, json.Valid(w.Body.Bytes()))
	return g.whole(t, w.Body.Bytes())
}

func (g wireClient) send(t testing.TB, h http.Handler, a asked) *httptest.ResponseRecorder {
	t.Helper()
	if a.model == "" {
		a.model = Probe
	}
	path := g.path
	if a.stream && g.streamPath != "" {
		path = g.streamPath
	}
	return post(t, h, strings.ReplaceAll(path, "MODEL", a.model), string(encodeJSON(g.body(a))), g.header...)
}

func user(text string, images ...picture) utterance { return utterance{text: text, images: images} }

// parsed reads JSON that must be valid.
func parsed(t testing.TB, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(raw, &v), "%s", raw)
	return v
}

// at follows names and indexes through JSON. It returns nil if one of them is missing.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func text(v any, path ...any) string {
	s, _ := at(v, path...).(string)
	return s
}

func figure(v any, path ...any) int {
	n, _ := at(v, path...).(float64)
	return int(n)
}

func list(v any, path ...any) []any {
	l, _ := at(v, path...).([]any)
	return l
}

// raw returns a value as JSON text.
func raw(v any) string {
	if v == nil {
		return ""
	}
	return string(encodeJSON(v))
}

// sse splits a stream of events into names and data.
func sse(t testing.TB, body []byte) (names, data []string) {
	t.Helper()
	for event := range strings.SplitSeq(strings.ReplaceAll(strings.TrimRight(string(body), "\r\n"), "\r\n", "\n"), "\n\n") {
		name := ""
		for line := range strings.SplitSeq(event, "\n") {
			if rest, ok := strings.CutPrefix(line, "event: "); ok {
				name = rest
			} else if rest, ok := strings.CutPrefix(line, "data:"); ok {
				names, data = append(names, name), append(data, strings.TrimSpace(rest))
			} else {
				require.Fail(t, "not a line of an event", line)
			}
		}
	}
	return names, data
}

func dataURL(p picture) string {
	if p.url != "" {
		return p.url
	}
	return "data:" + p.media + ";base64," + base64.StdEncoding.EncodeToString(p.data)
}

func set(o obj, name string, v any, is bool) {
	if is {
		o[name] = v
	}
}

// choiceWord returns a choice in OpenAI's format.
func choiceWord(c choice, named any) any {
	switch c {
	case choiceNone:
		return "none"
	case choiceAny:
		return "required"
	case choiceNamed:
		return named
	}
	return "auto"
}

func openAITools(names []string) []obj {
	var out []obj
	for _, n := range names {
		out = append(out, obj{"type": "function", "function": obj{"name": n, "description": "d", "parameters": obj{"type": "object"}}})
	}
	return out
}

func openAICalls(calls []invocation) []obj {
	var out []obj
	for _, c := range calls {
		out = append(out, obj{"id": c.ID, "type": "function", "function": obj{"name": c.Name, "arguments": c.Args}})
	}
	return out
}

func openAIContent(m utterance) any {
	if len(m.images) == 0 {
		return m.text
	}
	var parts []obj
	for _, p := range m.images {
		parts = append(parts, obj{"type": "image_url", "image_url": obj{"url": dataURL(p)}})
	}
	return append(parts, obj{"type": "text", "text": m.text})
}

// chatMessages returns messages in the format of OpenAI and Cohere.
func chatMessages(a asked) []obj {
	var out []obj
	if a.system != "" {
		out = append(out, obj{"role": "system", "content": a.system})
	}
	for _, m := range a.turns {
		switch {
		case len(m.results) > 0:
			for _, r := range m.results {
				out = append(out, obj{"role": "tool", "tool_call_id": r.id, "content": r.text})
			}
		case m.own:
			o := obj{"role": "assistant", "content": nil}
			set(o, "content", m.text, m.text != "")
			set(o, "tool_calls", openAICalls(m.calls), len(m.calls) > 0)
			out = append(out, o)
		default:
			out = append(out, obj{"role": "user", "content": openAIContent(m)})
		}
	}
	return out
}

var openAITongue = wireClient{
	name: "openai", path: "/v1/chat/completions", noReasoning: true, noFailed: true,
	finishes: map[string]string{"stop": "stop", "length": "length", "stop_sequence": "stop", "tools": "tool_calls", "refusal": "stop"},
	body: func(a asked) obj {
		o := obj{"model": a.model, "messages": chatMessages(a)}
		set(o, "tools", openAITools(a.tools), len(a.tools) > 0)
		if len(a.tools) > 0 {
			o["tool_choice"] = choiceWord(a.choice, obj{"type": "function", "function": obj{"name": a.tools[0]}})
			o["parallel_tool_calls"] = !a.serial
		}
		set(o, "max_completion_tokens", a.limit, a.limit > 0)
		set(o, "stop", a.stop, len(a.stop) > 0)
		set(o, "response_format", obj{"type": "json_schema", "json_schema": obj{"name": "n", "schema": testSchemaRaw, "strict": true}}, a.schema)
		set(o, "stream", true, a.stream)
		set(o, "stream_options", obj{"include_usage": true}, a.stream)
		return o
	},
	whole: func(t testing.TB, body []byte) heard {
		v := parsed(t, body)
		m := at(v, "choices", 0, "message")
		h := heard{text: text(m, "content"), refusal: text(m, "refusal"), finish: text(v, "choices", 0, "finish_reason")}
		for _, c := range list(m, "tool_calls") {
			h.calls = append(h.calls, invocation{ID: text(c, "id"), Name: text(c, "function", "name"), Args: text(c, "function", "arguments")})
		}
		h.openAIUsage(at(v, "usage"))
		return h
	},
	frames: func(t testing.TB, body []byte) heard {
		var h heard
		_, data := sse(t, body)
		require.Equal(t, "[DONE]", data[len(data)-1])
		for i, d := range data[:len(data)-1] {
			v := parsed(t, []byte(d))
			require.Equal(t, "chat.completion.chunk", text(v, "object"))
			if len(list(v, "choices")) == 0 {
				require.Equal(t, len(data)-2, i, "usage comes last")
				h.openAIUsage(at(v, "usage"))
				continue
			}
			require.Empty(t, h.finish, "nothing follows the end")
			require.Equal(t, i == 0, text(v, "choices", 0, "delta", "role") == "assistant")
			delta := at(v, "choices", 0, "delta")
			h.text += text(delta, "content")
			h.refusal += text(delta, "refusal")
			h.finish = text(v, "choices", 0, "finish_reason")
			for _, c := range list(delta, "tool_calls") {
				if id := text(c, "id"); id != "" {
					require.Equal(t, len(h.calls), figure(c, "index"))
					h.calls = append(h.calls, invocation{ID: id, Name: text(c, "function", "name")})
				}
				h.calls[figure(c, "index")].Args += text(c, "function", "arguments")
			}
		}
		return h
	},
}

func (h *heard) openAIUsage(u any) {
	h.read, h.write = figure(u, "prompt_tokens_details", "cached_tokens"), figure(u, "prompt_tokens_details", "cache_write_tokens")
	h.in = figure(u, "prompt_tokens") - h.read - h.write
	h.out, h.thought = figure(u, "completion_tokens"), figure(u, "completion_tokens_details", "reasoning_tokens")
}

// wireClients returns a client for every API.
func wireClients() []wireClient {
	vertex := geminiTongue
	vertex.name = "gemini on vertex"
	vertex.path = "/v1/projects/p/locations/l/publishers/google/models/MODEL:generateContent"
	vertex.streamPath = "/v1/projects/p/locations/l/publishers/google/models/MODEL:streamGenerateContent?alt=sse"
	return []wireClient{openAITongue, responsesTongue, anthropicTongue, geminiTongue, vertex, bedrockTongue, ollamaTongue, tgiTongue, cohereTongue}
}

// each runs a test for every API, with complete and streamed replies.
func each(t *testing.T, f func(t *testing.T, g wireClient, stream bool)) {
	for _, g := range wireClients() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", g.name, stream), func(t *testing.T) { f(t, g, stream) })
		}
	}
}
